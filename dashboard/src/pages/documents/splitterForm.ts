/** Text splitters as forms: one field per parameter, by the kind that the API states. */
import type { Schemas } from "../../api/client";
import type { TextSplitter } from "../../features/documents/queries";

type Parameter = Schemas["SplitterParameter"];

/** Contents of the fields, by parameter; an absent or empty field means the default. */
export type SplitterValues = Record<string, string>;

export type FieldKind =
  | { type: "integer" | "number" | "text" | "json" }
  | { type: "choice"; choices: string[] };

/** The field for a kind such as `an integer`, `one of chars, words` or `true or false`. */
export function fieldKind(kind: string): FieldKind {
  if (kind === "an integer") return { type: "integer" };
  if (kind === "a number") return { type: "number" };
  if (kind === "a string") return { type: "text" };
  const choices = kind.startsWith("one of ") ? kind.slice("one of ".length) : kind;
  const words = choices.split(/, | or /).map((word) => word.replaceAll('"', ""));
  const isChoice = kind.startsWith("one of ") || words[0] === "true";
  return isChoice ? { type: "choice", choices: words } : { type: "json" };
}

/** A value as its field shows it. */
export function fieldText(value: unknown, kind: FieldKind): string {
  if (value === null || value === undefined) return "";
  if (kind.type === "json") return JSON.stringify(value);
  return kind.type === "text" ? JSON.stringify(value).slice(1, -1) : String(value);
}

export type Splitter = { name: string; [parameter: string]: unknown };

/** The splitter that a form describes, without parameters that have their default value. */
export function splitterOf(splitter: TextSplitter, values: SplitterValues): Splitter {
  const chosen: Splitter = { name: splitter.name };
  for (const [name, parameter] of Object.entries(splitter.parameters)) {
    const text = values[name];
    if (text === undefined || text === fieldText(parameter.default, fieldKind(parameter.kind))) continue;
    chosen[name] = parameterValue(text, parameter);
  }
  return chosen;
}

/** The fields whose text is no value of their parameter, with the reason. */
export function splitterErrors(splitter: TextSplitter, values: SplitterValues): Record<string, string> {
  const errors: Record<string, string> = {};
  for (const [name, parameter] of Object.entries(splitter.parameters)) {
    const text = values[name];
    if (text === undefined) continue;
    try {
      parameterValue(text, parameter);
    } catch {
      errors[name] = `Expected ${parameter.kind}.`;
    }
  }
  return errors;
}

/** The values of the form for stored parameters. */
export function splitterValues(splitter: TextSplitter, stored: Record<string, unknown>): SplitterValues {
  return Object.fromEntries(
    Object.entries(splitter.parameters)
      .filter(([name]) => name in stored)
      .map(([name, parameter]) => [name, fieldText(stored[name], fieldKind(parameter.kind))]),
  );
}

function parameterValue(text: string, parameter: Parameter): unknown {
  const kind = fieldKind(parameter.kind);
  if (kind.type === "text") return JSON.parse(`"${text.replace(/(?<!\\)"/g, '\\"')}"`);
  if (text.trim() === "") return parameter.default;
  if (kind.type === "json") return JSON.parse(text);
  if (kind.type === "choice") return text === "true" || text === "false" ? text === "true" : text;
  const value = Number(text);
  if (Number.isNaN(value) || (kind.type === "integer" && !Number.isInteger(value))) throw new Error("number");
  return value;
}
