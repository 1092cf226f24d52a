/** Buttons of a drawing: the actions, the comparison and the joined sheets. */
import {
  ArrowDownToLine,
  ArrowUpToLine,
  GitCompareArrows,
  type LucideIcon,
  PanelsTopLeft,
  RefreshCw,
  Route,
  ShieldCheck,
  Spline,
} from "lucide-react";
import { ACTIONS, type ActionRow } from "../../features/drawing/actions";
import type { DrawingGraph } from "../../features/drawing/model";
import type { GraphRow } from "../../features/drawing/queries";
import { Button } from "../../ui/Button";
import type { ChangeState, DrawingState } from "./state";

const ICONS: Record<string, LucideIcon> = {
  upstream: ArrowUpToLine,
  downstream: ArrowDownToLine,
  isolate: ShieldCheck,
  loop: RefreshCw,
  line: Spline,
  path: Route,
};

interface ToolbarProps {
  graph: DrawingGraph;
  state: DrawingState;
  change: ChangeState;
  /** Sheets that the drawing continues on. */
  sheets: GraphRow[];
}

export function Toolbar({ graph, state, change, sheets }: ToolbarProps) {
  const isComparing = state.panel === "changes";
  const isJoined = state.with !== null;
  return (
    <div className="drawing-toolbar">
      <div role="group" aria-label="Actions">
        {ACTIONS.map((row) => (
          <ActionButton key={row.id} row={row} graph={graph} state={state} change={change} />
        ))}
      </div>
      <div role="group" aria-label="Views">
        <Button
          size="small"
          kind={isComparing ? "primary" : "plain"}
          onPress={() => change({ panel: isComparing ? null : "changes", with: null })}
        >
          <GitCompareArrows size={15} aria-hidden /> <span>Compare</span>
        </Button>
        <Button
          size="small"
          kind={isJoined ? "primary" : "plain"}
          isDisabled={sheets.length === 0 && !isJoined}
          onPress={() =>
            change({ with: isJoined ? null : sheets.map((sheet) => sheet.job_id).join(), node: null })
          }
        >
          <PanelsTopLeft size={15} aria-hidden /> <span>{isJoined ? "This sheet only" : "Join sheets"}</span>
        </Button>
      </div>
    </div>
  );
}

interface ActionButtonProps {
  row: ActionRow;
  graph: DrawingGraph;
  state: DrawingState;
  change: ChangeState;
}

/** An action that is chosen without an item waits for one. */
function ActionButton({ row, graph, state, change }: ActionButtonProps) {
  const Icon = ICONS[row.id] ?? Route;
  const isActive = state.view === row.id;
  const isImpossible =
    state.node !== null && row.id !== "path" && row.query(graph, state.node, null) === null;
  return (
    <button
      type="button"
      className="button"
      data-size="small"
      data-kind={isActive ? "primary" : "plain"}
      aria-pressed={isActive}
      title={row.hint}
      disabled={isImpossible}
      onClick={() => change({ view: isActive ? null : row.id, at: null, to: null, panel: null })}
    >
      <Icon size={15} aria-hidden /> <span>{row.label}</span>
    </button>
  );
}
