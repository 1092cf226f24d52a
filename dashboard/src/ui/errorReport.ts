/** A report of an error that people can send to support: without what they typed, names of drawings, or secrets. */

interface ReportContext {
  path: string;
  version: string;
  browser: string;
  at: Date;
}

/** Secrets by their form, and what stands for them. */
const SECRETS: [RegExp, string][] = [
  [/\bpidq_[A-Za-z0-9_-]+/g, "[API key]"],
  [/\bPIDQ1\.[\w.-]+/g, "[license]"],
  [/\beyJ[\w-]+\.[\w-]+(?:\.[\w-]*)?/g, "[token]"],
  [/\b(Bearer|Basic)\s+[\w.~+/=-]+/gi, "$1 [token]"],
  [
    /\b(\w*(?:password|secret|token|api_?key))(["']?\s*[:=]\s*)("[^"]*"|'[^']*'|[^\s,;&}]+)/gi,
    "$1$2[secret]",
  ],
  // Searches of addresses: queries, tags, questions.
  [/(\/[^\s"'?#()]*)\?[^\s"')]*/g, "$1?[…]"],
  [/\/\/[^\s/@:]+:[^\s/@]+@/g, "//[credentials]@"],
];

/** The longest report; stacks of recursion repeat themselves. */
const LIMIT = 6_000;

export function errorReport(error: unknown, { path, version, browser, at }: ReportContext): string {
  const lines = [
    `pidq ${version}`,
    `Page: ${pageOf(path)}`,
    `Time: ${at.toISOString()}`,
    `Browser: ${browser}`,
    "",
    textOf(error),
  ];
  return redacted(lines.join("\n")).slice(0, LIMIT);
}

export function redacted(text: string): string {
  return SECRETS.reduce((text, [pattern, replacement]) => text.replace(pattern, replacement), text);
}

/** The page of a path, without the ids of what it shows. */
function pageOf(path: string): string {
  const [, page = "", ...rest] = path.split("/");
  return `/${page}${rest.map(() => "/…").join("")}`;
}

function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const head = `${error.name}: ${error.message}`;
  const stack = error.stack ?? "";
  return stack.startsWith(head) ? stack : `${head}\n${stack}`.trimEnd();
}
