/** Problem details (RFC 9457) as errors. */

export interface ProblemFields {
  status: number;
  code: string;
  title: string;
  detail?: string;
  request_id?: string;
  errors?: { pointer?: string; detail: string }[];
  allowed?: string[];
  /** Fields of query errors. */
  position?: number;
  span?: [number, number];
  help?: string;
  suggestions?: { span: [number, number]; text: string }[];
  [extension: string]: unknown;
}

export class ApiProblem extends Error {
  readonly fields: ProblemFields;

  constructor(fields: ProblemFields) {
    super(fields.detail ?? fields.title);
    this.name = "ApiProblem";
    this.fields = fields;
  }
}

export async function problemOf(response: Response): Promise<ApiProblem> {
  const status = response.status;
  try {
    const body = (await response.json()) as Partial<ProblemFields>;
    return new ApiProblem({ title: response.statusText || "Error", code: "unknown", ...body, status });
  } catch {
    return new ApiProblem({ status, code: "unknown", title: `The service returned status ${status}` });
  }
}

/** Returns whether the same request may succeed later. */
export function isRetryable(error: unknown): boolean {
  const status = error instanceof ApiProblem ? error.fields.status : 0;
  return status === 0 || status === 429 || status >= 500;
}
