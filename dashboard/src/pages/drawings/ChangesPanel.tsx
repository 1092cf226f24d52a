/** The differences of the latest version from an older one, the most significant first. */
import { useQuery } from "@tanstack/react-query";
import {
  DIFF_QUERY,
  differencesQuery,
  type RankedDifference,
  versionsQuery,
} from "../../features/drawing/queries";
import { Badge, type Tone } from "../../ui/Badge";
import { Select } from "../../ui/fields";
import { Loading } from "../../ui/Loading";
import { ProblemMessage } from "../../ui/ProblemMessage";
import type { ChangeState, DrawingState } from "./state";

interface ChangesPanelProps {
  graphId: string;
  state: DrawingState;
  change: ChangeState;
  onSelect: (id: string) => void;
}

export function ChangesPanel({ graphId, state, change, onSelect }: ChangesPanelProps) {
  const versions = useQuery(versionsQuery(graphId));
  if (versions.isPending) return <Loading label="Versions" />;
  if (versions.isError) return <ProblemMessage error={versions.error} onRetry={() => versions.refetch()} />;
  const [latest, ...older] = versions.data;
  if (!latest || older.length === 0) {
    return <p className="muted">There is one version only. Upload the drawing again to compare revisions.</p>;
  }
  const choices = older.map((version) => ({
    id: version.change_version,
    label: `Version ${version.change_version}, ${new Date(version.created_on).toLocaleString()}`,
  }));
  return (
    <div className="stack">
      <Select
        label={`Compare version ${latest.change_version} with`}
        choices={choices}
        value={state.old}
        onChange={(old) => change({ old })}
      />
      {state.old !== null && <Differences graphId={graphId} old={state.old} onSelect={onSelect} />}
    </div>
  );
}

const TONES: Record<string, Tone> = { critical: "danger", high: "warning", medium: "accent" };

interface DifferencesProps {
  graphId: string;
  old: string;
  onSelect: (id: string) => void;
}

function Differences({ graphId, old, onSelect }: DifferencesProps) {
  const differences = useQuery(differencesQuery(graphId, old));
  if (differences.isPending) return <Loading label="Differences" />;
  if (differences.isError) return <ProblemMessage error={differences.error} />;
  return (
    <>
      <p className="muted">
        {differences.data.length} differences by <code>{DIFF_QUERY}</code>. Green: added; amber: changed. What
        was removed is only in the list.
      </p>
      <ul className="stack">
        {differences.data.map((row, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the rows of a result never change their order
          <li key={index}>
            <Difference row={row} onSelect={onSelect} />
          </li>
        ))}
      </ul>
    </>
  );
}

function Difference({ row, onSelect }: { row: RankedDifference; onSelect: (id: string) => void }) {
  const id = row.id;
  return (
    <>
      <Badge tone={TONES[row.significance] ?? "neutral"}>{row.significance}</Badge>{" "}
      {id && (
        <button type="button" className="item-link tag" onClick={() => onSelect(id)}>
          {row.tag ?? id}
        </button>
      )}{" "}
      {row.reason}
      {row.field && (
        <small className="muted">
          {row.field}: {JSON.stringify(row.before)} → {JSON.stringify(row.after)}
        </small>
      )}
    </>
  );
}
