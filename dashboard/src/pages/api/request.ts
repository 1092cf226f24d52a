/** Requests that the page sends, and the same requests as curl commands. */
import type { Endpoint } from "./openapi";

export interface RequestValues {
  /** Values of the parameters, by name; empty values are not sent. */
  parameters: Record<string, string>;
  body: string;
  file: File | null;
}

export function pathOf(endpoint: Endpoint, values: RequestValues): string {
  const path = endpoint.path.replace(/\{([^}]+)\}/g, (_, name: string) =>
    values.parameters[name] ? encodeURIComponent(values.parameters[name]) : `{${name}}`,
  );
  const search = new URLSearchParams(
    endpoint.parameters
      .filter((parameter) => parameter.in === "query")
      .flatMap(({ name }) => (values.parameters[name] ? [[name, values.parameters[name]]] : [])),
  );
  return search.size > 0 ? `${path}?${search}` : path;
}

export function headersOf(endpoint: Endpoint, values: RequestValues): Record<string, string> {
  const rows = endpoint.parameters
    .filter((parameter) => parameter.in === "header")
    .flatMap(({ name }) => (values.parameters[name] ? [[name, values.parameters[name]]] : []));
  const type = endpoint.body?.type;
  const isWritten = type !== undefined && !type.startsWith("multipart/") && type !== "*/*";
  return Object.fromEntries(isWritten ? [...rows, ["Content-Type", type]] : rows);
}

/** Set if the body has the bytes of a file. */
export function takesFile(endpoint: Endpoint): boolean {
  return endpoint.body?.type === "*/*" || endpoint.body?.type === "multipart/form-data";
}

export function bodyOf(endpoint: Endpoint, values: RequestValues): BodyInit | null {
  if (!endpoint.body) return null;
  if (endpoint.body.type === "*/*") return values.file;
  if (endpoint.body.type !== "multipart/form-data") return values.body;
  const form = new FormData();
  for (const [name, value] of formFields(values.body)) form.set(name, value);
  if (values.file) form.set("file", values.file);
  return form;
}

function formFields(body: string): [string, string][] {
  const fields = JSON.parse(body || "{}") as Record<string, unknown>;
  return Object.entries(fields).map(([name, value]) => [
    name,
    typeof value === "string" ? value : JSON.stringify(value),
  ]);
}

/** Paths that the server of the dashboard forwards to the API. */
const FORWARDED =
  /^\/(api|graph|accounts|clients|problems|functions|openapi\.json|docs|version|readyz)(\/|$)/;

export function isForwarded(endpoint: Endpoint): boolean {
  return FORWARDED.test(endpoint.path);
}

/** The command expects the address of the API in `$PIDQ_URL`, and a token in `$TOKEN`. */
export function curlOf(endpoint: Endpoint, values: RequestValues): string {
  const parts = [`curl "$PIDQ_URL"${quoted(pathOf(endpoint, values))}`];
  if (endpoint.method !== "GET") parts.push(`-X ${endpoint.method}`);
  if (endpoint.scopes.length > 0) parts.push(`-H "Authorization: Bearer $TOKEN"`);
  for (const [name, value] of Object.entries(headersOf(endpoint, values)))
    parts.push(`-H ${quoted(`${name}: ${value}`)}`);
  return [...parts, ...curlBody(endpoint, values)].join(" \\\n  ");
}

function curlBody(endpoint: Endpoint, values: RequestValues): string[] {
  const file = values.file?.name ?? "FILE";
  if (endpoint.body?.type === "*/*") return [`--data-binary ${quoted(`@${file}`)}`];
  if (endpoint.body?.type !== "multipart/form-data")
    return endpoint.body ? [`-d ${quoted(values.body)}`] : [];
  try {
    const fields = formFields(values.body).map(([name, value]) => `-F ${quoted(`${name}=${value}`)}`);
    return [...fields, `-F ${quoted(`file=@${file}`)}`];
  } catch {
    return [`-F ${quoted(`file=@${file}`)}`];
  }
}

/** A word of a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
