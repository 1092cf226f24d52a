/** Highlighting of the query language: tokens as docs/language.md defines them, colors of the theme. */
import { HighlightStyle, LanguageSupport, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

interface State {
  isInComment: boolean;
}

/** The first row that matches at a place gives the kind of the token. */
const TOKENS: [RegExp, string][] = [
  [/^\/\/.*/, "comment"],
  [/^"(?:[^"\\]|\\.)*"?/, "string"],
  [/^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/, "number"],
  [/^\.(?:[\p{L}_][\p{L}\p{N}_]*|"(?:[^"\\]|\\.)*"?|\d+)/u, "propertyName"],
  [/^\$[\p{L}_][\p{L}\p{N}_]*/u, "variableName"],
  [/^(?:true|false|null)\b/, "atom"],
  [/^(?:and|or|in|not in)\b/, "keyword"],
  [/^[\p{L}_][\p{L}\p{N}_]*(?=\s*\()/u, "function"],
  [/^[\p{L}_][\p{L}\p{N}_]*/u, "definition"],
  [/^\|/, "controlOperator"],
  [/^(?:==|!=|<=|>=|[<>+\-*/%^])/, "operator"],
];

const language = StreamLanguage.define<State>({
  name: "pidq",
  startState: () => ({ isInComment: false }),
  token(stream, state) {
    if (state.isInComment || stream.match("/*")) {
      state.isInComment = !stream.match(/^.*?\*\//);
      if (state.isInComment) stream.skipToEnd();
      return "comment";
    }
    if (stream.eatSpace()) return null;
    const row = TOKENS.find(([pattern]) => stream.match(pattern));
    if (!row) stream.next();
    return row?.[1] ?? null;
  },
  tokenTable: {
    function: tags.function(tags.variableName),
    definition: tags.labelName,
    controlOperator: tags.controlOperator,
  },
  languageData: { commentTokens: { line: "//" }, closeBrackets: { brackets: ["(", "[", "{", '"'] } },
});

const colors = HighlightStyle.define([
  { tag: tags.comment, color: "var(--text-muted)", fontStyle: "italic" },
  { tag: [tags.string, tags.number, tags.atom], color: "var(--success)" },
  { tag: [tags.propertyName, tags.labelName], color: "var(--close)" },
  { tag: tags.function(tags.variableName), color: "var(--accent-strong)" },
  { tag: tags.variableName, color: "var(--warning)" },
  { tag: [tags.keyword, tags.operator], color: "var(--danger)" },
  { tag: tags.controlOperator, color: "var(--text-muted)", fontWeight: "700" },
]);

const appearance = EditorView.theme({
  "&": { color: "var(--text)", background: "var(--surface)", fontSize: "0.875rem", height: "100%" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--font-mono)", lineHeight: "1.6" },
  ".cm-content": { padding: "10px 0", caretColor: "var(--accent)" },
  ".cm-line": { padding: "0 12px" },
  ".cm-cursor": { borderLeftColor: "var(--accent)" },
  ".cm-placeholder": { color: "var(--text-muted)" },
  ".cm-selectionBackground, &.cm-focused .cm-selectionBackground": {
    background: "color-mix(in srgb, var(--accent) 24%, transparent) !important",
  },
  ".cm-matchingBracket, &.cm-focused .cm-matchingBracket": { background: "var(--accent-soft)" },
  ".cm-tooltip": {
    background: "var(--surface-raised)",
    border: "1px solid var(--line)",
    borderRadius: "var(--radius)",
    boxShadow: "var(--shadow-raised)",
    overflow: "hidden",
  },
  ".cm-tooltip-autocomplete > ul": { fontFamily: "var(--font-mono)", fontSize: "0.8125rem" },
  ".cm-tooltip-autocomplete > ul > li": { padding: "4px 10px !important" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": {
    background: "var(--accent-soft) !important",
    color: "var(--accent-strong) !important",
  },
  ".cm-completionDetail": { color: "var(--text-muted)", fontStyle: "normal" },
  ".cm-completionInfo, .cm-help": { maxWidth: "440px", padding: "8px 12px", fontFamily: "var(--font)" },
  ".cm-help code": { display: "block", fontFamily: "var(--font-mono)", whiteSpace: "pre-wrap" },
  ".cm-help p": { margin: "4px 0", color: "var(--text)" },
  ".cm-help code + p + code": { color: "var(--text-muted)" },
  ".cm-lintRange-error": {
    backgroundImage: "none",
    textDecoration: "underline wavy var(--danger)",
    textUnderlineOffset: "3px",
  },
  ".cm-lintRange-warning": {
    backgroundImage: "none",
    textDecoration: "underline wavy var(--warning)",
    textUnderlineOffset: "3px",
  },
  ".cm-diagnostic": { fontFamily: "var(--font)", padding: "6px 10px", borderLeftWidth: "3px" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--danger)" },
  ".cm-diagnostic-warning": { borderLeftColor: "var(--warning)" },
  ".cm-diagnosticAction": { background: "var(--accent)", color: "var(--on-accent)", padding: "2px 8px" },
});

export function queryLanguage() {
  return [new LanguageSupport(language), syntaxHighlighting(colors), appearance];
}
