/** One drawing, alone or joined with further sheets: the picture, the selected item, actions and lists. */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { Link, useNavigate, useParams } from "react-router";
import { actionOf } from "../../features/drawing/actions";
import { nextChanged } from "../../features/drawing/changes";
import { DrawingCanvas } from "../../features/drawing/DrawingCanvas";
import { graphsQuery } from "../../features/drawing/queries";
import { partnerOf } from "../../features/drawing/sheets";
import type { ShortcutAction } from "../../features/drawing/shortcuts";
import { Loading } from "../../ui/Loading";
import { ProblemMessage } from "../../ui/ProblemMessage";
import { ExportMenu } from "./ExportMenu";
import { Panels } from "./Panels";
import { partnerPath } from "./PartnerLinks";
import { PrintNote } from "./PrintNote";
import { itemInView, useDrawingState } from "./state";
import { TagSearch } from "./TagSearch";
import { Toolbar } from "./Toolbar";
import { useComparison } from "./useComparison";
import { useMarks } from "./useMarks";
import { useOtherSheets, usePartners } from "./usePartners";
import { type ShownDrawing, useSheets } from "./useSheets";

export function DrawingPage() {
  const { graphId = "" } = useParams();
  const { state } = useDrawingState();
  const sheets = state.with?.split(",").filter((id) => id !== "") ?? [];
  const shown = useSheets({ id: graphId, sheets });
  if (shown.error) return <ProblemMessage error={shown.error} onRetry={shown.retry} />;
  if (!shown.data) return <Loading label="Drawing" />;
  return <Drawing key={graphId} drawing={shown.data} />;
}

function Drawing({ drawing }: { drawing: ShownDrawing }) {
  const { scope, graph, picture } = drawing;
  const { state, change } = useDrawingState();
  const navigate = useNavigate();
  const searchRef = useRef<HTMLInputElement>(null);
  const hostRef = useRef<HTMLDivElement>(null);
  const { name, version } = useName(scope.id, scope.sheets);
  const comparison = useComparison(scope.id, graph, picture, state);
  const marks = useMarks(scope, graph, state);
  const sheets = useOtherSheets(scope.id, graph);
  const partner = usePartners(scope.id, graph, state.node);

  const isPicking = state.view === "path" && state.node !== null && state.to === null;
  const select = (id: string | null) =>
    isPicking && id !== null && id !== state.node
      ? change({ to: id })
      : change({ node: id, at: null, to: null });
  /** Goes on at the connector on the other sheet; returns whether there is one. */
  const follow = (id: string): boolean => {
    const beside = partnerOf(drawing.pairs, id);
    if (beside !== null) select(beside);
    const node = graph.nodeById.get(id);
    const other = beside === null && node ? partner(node) : null;
    if (other) navigate(partnerPath(other));
    return beside !== null || other !== null;
  };
  const run = (action: ShortcutAction) => {
    const step = action === "nextChange" ? 1 : -1;
    if (action === "search") searchRef.current?.focus();
    else if (action === "clear") select(null);
    else if (action === "partner") state.node !== null && follow(state.node);
    else if (action === "nextChange" || action === "previousChange") {
      const id = nextChanged(comparison?.changes ?? [], state.node, step);
      if (id !== null) select(id);
    } else if (actionOf(action))
      change({ view: state.view === action ? null : action, at: null, to: null, panel: null });
  };
  return (
    <div className="drawing-page">
      <header className="drawing-head">
        <nav aria-label="Path" className="grow">
          <Link to="/drawings">Drawings</Link> <span aria-hidden>/</span> <h1>{name}</h1>{" "}
          {version && <span className="muted">version {version}</span>}
        </nav>
        <TagSearch
          graph={graph}
          inputRef={searchRef}
          onSelect={select}
          onChosen={() => hostRef.current?.focus()}
        />
        <ExportMenu graphId={scope.id} />
      </header>
      <PrintNote graphId={scope.id} />
      <Toolbar graph={graph} state={state} change={change} sheets={sheets} />
      <div className="drawing-body">
        <DrawingCanvas
          label={name}
          picture={comparison?.picture ?? picture}
          graph={comparison?.graph ?? graph}
          marks={comparison?.marks ?? marks}
          ghosts={comparison?.ghosts}
          connections={drawing.connections}
          selected={itemInView(state)}
          isResult={comparison === null}
          onSelect={select}
          onFollow={isPicking || state.view !== null ? undefined : follow}
          onShortcut={run}
          hostRef={hostRef}
        />
        <Panels
          scope={scope}
          graph={graph}
          comparison={comparison}
          partner={partner}
          state={state}
          change={change}
          onSelect={select}
        />
      </div>
    </div>
  );
}

/** The names of the sheets, also as the title of the window, and the version of a single one. */
function useName(graphId: string, sheets: string[]): { name: string; version: string | undefined } {
  const rows = useQuery(graphsQuery).data;
  const rowOf = (id: string) => rows?.find((row) => row.job_id === id);
  const name = [graphId, ...sheets].map((id) => rowOf(id)?.drawing_name ?? id).join(" + ");
  useEffect(() => {
    document.title = `${name} · pidq`;
  }, [name]);
  return { name, version: sheets.length === 0 ? rowOf(graphId)?.change_version : undefined };
}
