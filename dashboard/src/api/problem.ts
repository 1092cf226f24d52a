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
  /** Seconds after which the service asks to repeat the request. */
  readonly retryAfter: number | null;

  constructor(fields: ProblemFields, retryAfter: string | null = null) {
    super(fields.detail ?? fields.title);
    this.name = "ApiProblem";
    this.fields = fields;
    const seconds = Number(retryAfter);
    this.retryAfter = retryAfter !== null && seconds > 0 ? seconds : null;
  }
}

export async function problemOf(response: Response): Promise<ApiProblem> {
  const status = response.status;
  const retryAfter = response.headers.get("Retry-After");
  try {
    const body = (await response.json()) as Partial<ProblemFields>;
    const title = response.statusText || "Error";
    return new ApiProblem({ title, code: "unknown", ...body, status }, retryAfter);
  } catch {
    return new ApiProblem(
      { status, code: "unknown", title: `The service returned status ${status}` },
      retryAfter,
    );
  }
}

/** A page waits no longer than these seconds without a word: a problem with a longer wait is shown. */
const LONGEST_WAIT = 10;

/** Returns whether the same request may succeed soon. */
export function isRetryable(error: unknown): boolean {
  if (!(error instanceof ApiProblem)) return true;
  const { status } = error.fields;
  const isPassing = status === 0 || status === 429 || status >= 500;
  return isPassing && (error.retryAfter ?? 0) <= LONGEST_WAIT;
}

/** Milliseconds before a request is repeated: what the service asks for, or longer from attempt to attempt. */
export function retryDelay(attempt: number, error: unknown): number {
  const asked = error instanceof ApiProblem ? error.retryAfter : null;
  return asked === null ? 1000 * 2 ** attempt : asked * 1000;
}
