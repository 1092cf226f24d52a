/** The editor of queries. It is in a shadow root, so that its style sheets are adopted and the policy of styles holds. */
import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching } from "@codemirror/language";
import { type Diagnostic, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { EditorState, Prec } from "@codemirror/state";
import { drawSelection, EditorView, keymap, placeholder } from "@codemirror/view";
import { useEffect, useRef } from "react";
import { completeQuery, functionHelp, type Words } from "./completion";
import { queryLanguage } from "./language";
import type { QueryFinding } from "./span";

interface QueryEditorProps {
  value: string;
  onChange: (value: string) => void;
  onRun: () => void;
  words: Words;
  findings: QueryFinding[];
}

export default function QueryEditor(props: QueryEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const latest = useRef(props);
  latest.current = props;

  useEffect(() => {
    const element = host.current;
    if (!element) return;
    const root = element.shadowRoot ?? element.attachShadow({ mode: "open" });
    const editor = createEditor(root, latest);
    view.current = editor;
    return () => editor.destroy();
  }, []);

  useEffect(() => {
    const editor = view.current;
    if (!editor || editor.state.doc.toString() === props.value) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: props.value } });
  }, [props.value]);

  useEffect(() => {
    const editor = view.current;
    if (!editor) return;
    const diagnostics = props.findings.map((finding) => diagnosticOf(finding, editor.state.doc.length));
    editor.dispatch(setDiagnostics(editor.state, diagnostics));
  }, [props.findings]);

  return <div ref={host} className="query-editor" data-testid="query-editor" />;
}

function createEditor(root: ShadowRoot, latest: { current: QueryEditorProps }): EditorView {
  const words = () => latest.current.words;
  const run = () => {
    latest.current.onRun();
    return true;
  };
  const state = EditorState.create({
    doc: latest.current.value,
    extensions: [
      Prec.highest(keymap.of([{ key: "Mod-Enter", run }])),
      history(),
      drawSelection(),
      bracketMatching(),
      closeBrackets(),
      queryLanguage(),
      autocompletion({ override: [completeQuery(words)], icons: false }),
      functionHelp(words),
      keymap.of([
        ...closeBracketsKeymap,
        ...completionKeymap,
        ...defaultKeymap,
        ...historyKeymap,
        ...lintKeymap,
      ]),
      placeholder("A query, such as valveList() or isolate(…)"),
      EditorView.lineWrapping,
      replaceSelection,
      EditorView.contentAttributes.of({ "aria-label": "Query", "aria-multiline": "true" }),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) latest.current.onChange(update.state.doc.toString());
      }),
    ],
  });
  return new EditorView({ state, parent: root, root });
}

/**
 * Replaces a selection by typed text in the state. If the browser does it, it keeps the colors of the selected text in
 * a style attribute, which the policy of styles blocks.
 */
const replaceSelection = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { main, ranges } = view.state.selection;
    const text = event.data;
    if (event.inputType !== "insertText" || text === null || main.empty || ranges.length > 1) return false;
    const insert = () => view.state.update(view.state.replaceSelection(text), { userEvent: "input.type" });
    const handlers = view.state.facet(EditorView.inputHandler);
    if (!handlers.some((handler) => handler(view, main.from, main.to, text, insert))) view.dispatch(insert());
    event.preventDefault();
    return true;
  },
});

function diagnosticOf(finding: QueryFinding, length: number): Diagnostic {
  const from = Math.min(finding.span.start, length);
  return {
    from,
    to: Math.min(Math.max(finding.span.end, from), length),
    severity: finding.severity,
    message: finding.help ? `${finding.message}\n${finding.help}` : finding.message,
    actions: finding.fixes.slice(0, 3).map((fix) => ({
      name: `Use ${fix.text}`,
      apply: (view) =>
        view.dispatch({ changes: { from: fix.span.start, to: fix.span.end, insert: fix.text } }),
    })),
  };
}
