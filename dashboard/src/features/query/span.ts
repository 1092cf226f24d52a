/** Places in a query: the service counts bytes of UTF-8, the editor UTF-16 code units. */
import type { ProblemFields } from "../../api/problem";

export interface Span {
  start: number;
  end: number;
}

export interface QueryFix {
  text: string;
  span: Span;
}

/** A finding of the service in a query, with places of the editor. */
export interface QueryFinding {
  severity: "error" | "warning";
  code: string;
  message: string;
  help: string | null;
  span: Span;
  fixes: QueryFix[];
}

const encoder = new TextEncoder();

export function editorOffset(text: string, bytes: number): number {
  let seen = 0;
  let offset = 0;
  for (const character of text) {
    if (seen >= bytes) break;
    seen += encoder.encode(character).length;
    offset += character.length;
  }
  return offset;
}

function editorSpan(text: string, span: Span): Span {
  return { start: editorOffset(text, span.start), end: editorOffset(text, span.end) };
}

/** The finding of a problem, or null if the problem is not about the text of the query. */
export function findingOfProblem(text: string, problem: ProblemFields): QueryFinding | null {
  const span = asSpan(problem.span);
  if (!span) return null;
  return {
    severity: "error",
    code: String(problem.pq_code ?? problem.code),
    message: problem.detail ?? problem.title,
    help: problem.help ?? null,
    span: editorSpan(text, span),
    fixes: fixesOf(text, editorSpan(text, span), problem.suggestions),
  };
}

export function findingOfWarning(text: string, warning: Record<string, unknown>): QueryFinding {
  const span = asSpan(warning.span) ?? { start: 0, end: 0 };
  const help = typeof warning.help === "string" ? warning.help : null;
  const place = editorSpan(text, span);
  const field = /did you mean `\.([^`]+)`/.exec(help ?? "")?.[1];
  const fixes = field ? [{ text: field, span: place }] : [];
  return {
    severity: "warning",
    code: String(warning.code),
    message: String(warning.message),
    help,
    span: place,
    fixes,
  };
}

/** A suggestion without a place is for the only string in the span that failed, such as a tag. */
function fixesOf(text: string, span: Span, suggestions: unknown): QueryFix[] {
  if (!Array.isArray(suggestions)) return [];
  return suggestions.flatMap((suggestion: { text: string; span: unknown }) => {
    const place = asSpan(suggestion.span);
    if (place) return [{ text: suggestion.text, span: editorSpan(text, place) }];
    const strings = [...text.slice(span.start, span.end).matchAll(/"(?:[^"\\]|\\.)*"/g)];
    const only = strings.length === 1 ? strings[0] : undefined;
    if (!only) return [];
    const start = span.start + only.index;
    return [{ text: JSON.stringify(suggestion.text), span: { start, end: start + only[0].length } }];
  });
}

function asSpan(value: unknown): Span | null {
  const span = value as Partial<Span> | null | undefined;
  return typeof span?.start === "number" && typeof span.end === "number"
    ? { start: span.start, end: span.end }
    : null;
}

export function applyFix(text: string, fix: QueryFix): string {
  return text.slice(0, fix.span.start) + fix.text + text.slice(fix.span.end);
}
