/** Completion and help of the editor: functions, fields, tags and values. */
import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import { hoverTooltip } from "@codemirror/view";
import type { Schemas } from "../../api/client";
import type { Vocabulary } from "./vocabulary";

export type FunctionRow = Schemas["FunctionDescription"];

export interface Words {
  functions: FunctionRow[];
  vocabulary: Vocabulary;
}

export function completeQuery(words: () => Words) {
  return (context: CompletionContext): CompletionResult | null => {
    const text = context.matchBefore(/.*/)?.text ?? "";
    return (
      completeString(context, text, words()) ??
      completeField(context, words()) ??
      completeFunction(context, words())
    );
  };
}

/** In a string: the values of the field that it is compared with, otherwise the tags. */
function completeString(context: CompletionContext, text: string, words: Words): CompletionResult | null {
  const open = /"([^"\\]*)$/.exec(text);
  const isInString = (text.match(/"/g)?.length ?? 0) % 2 === 1;
  if (!open || !isInString) return null;
  const before = text.slice(0, open.index);
  const field = /\.([\p{L}_][\p{L}\p{N}_]*)\s*(?:==|!=|in\s*\[.*)\s*$/u.exec(before)?.[1];
  const values = words.vocabulary.fields.find((row) => row.name === field)?.values;
  const strings = values
    ? values.filter((value) => value.startsWith('"')).map((value) => String(JSON.parse(value)))
    : words.vocabulary.tags;
  const options = strings.map((label): Completion => ({ label, type: "text" }));
  return { from: context.pos - (open[1]?.length ?? 0), options, validFor: /^[^"]*$/ };
}

function completeField(context: CompletionContext, words: Words): CompletionResult | null {
  const open = context.matchBefore(/\.[\p{L}_]?[\p{L}\p{N}_]*/u);
  if (!open || /\d\.$/.test(context.state.sliceDoc(Math.max(0, open.from - 1), open.from + 1))) return null;
  const options = words.vocabulary.fields.map(
    (field): Completion => ({
      label: field.name,
      type: "property",
      detail: `${field.count}`,
      info: field.values.slice(0, 6).join(", "),
    }),
  );
  return { from: open.from + 1, options, validFor: /^[\p{L}\p{N}_]*$/u };
}

function completeFunction(context: CompletionContext, words: Words): CompletionResult | null {
  const open = context.matchBefore(/[\p{L}_][\p{L}\p{N}_]*/u);
  if (!open && !context.explicit) return null;
  const options = words.functions.map(
    (row): Completion => ({
      label: row.name,
      type: "function",
      detail: row.signature.slice(row.name.length),
      info: () => helpElement(row),
      apply: (view, _completion, from, to) => {
        const insert = `${row.name}()`;
        const anchor = from + insert.length - (row.params.length > 0 ? 1 : 0);
        view.dispatch({ changes: { from, to, insert }, selection: { anchor } });
      },
    }),
  );
  return { from: open?.from ?? context.pos, options, validFor: /^[\p{L}\p{N}_]*$/u };
}

/** Help for the function under the pointer. */
export function functionHelp(words: () => Words) {
  return hoverTooltip((view, position) => {
    const word = view.state.wordAt(position);
    if (!word || view.state.sliceDoc(word.from - 1, word.from) === ".") return null;
    const name = view.state.sliceDoc(word.from, word.to);
    const row = words().functions.find((row) => row.name === name);
    return row
      ? { pos: word.from, end: word.to, above: true, create: () => ({ dom: helpElement(row) }) }
      : null;
  });
}

function helpElement(row: FunctionRow): HTMLElement {
  const help = document.createElement("div");
  help.className = "cm-help";
  for (const [name, text] of [
    ["code", row.signature],
    ["p", row.summary],
    ["code", row.example],
  ] as const) {
    const line = document.createElement(name);
    line.textContent = text;
    help.append(line);
  }
  return help;
}
