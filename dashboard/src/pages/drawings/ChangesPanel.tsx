/** The differences of the latest version from an older one, the most significant first. */
import { useQuery } from "@tanstack/react-query";
import { ChevronDown, ChevronUp } from "lucide-react";
import { useEffect, useRef } from "react";
import {
  bySignificance,
  type Change,
  changeList,
  fieldName,
  kindOf,
  nameOfChange,
  nextChanged,
  reasonOf,
  SHOWN,
} from "../../features/drawing/changes";
import { fieldText } from "../../features/drawing/fields";
import { changesQuery, versionsQuery } from "../../features/drawing/queries";
import { UploadVersion } from "../../features/drawing-upload/UploadVersion";
import { Badge, type Tone } from "../../ui/Badge";
import { IconButton } from "../../ui/Button";
import { CopyButton } from "../../ui/CopyButton";
import { Select } from "../../ui/fields";
import { Loading } from "../../ui/Loading";
import { ProblemMessage } from "../../ui/ProblemMessage";
import { SaveCsvButton } from "../../ui/SaveCsvButton";
import type { ChangeState, DrawingState } from "./state";
import type { Comparison } from "./useComparison";

interface ChangesPanelProps {
  graphId: string;
  comparison: Comparison | null;
  state: DrawingState;
  change: ChangeState;
  onSelect: (id: string) => void;
}

export function ChangesPanel({ graphId, comparison, state, change, onSelect }: ChangesPanelProps) {
  const versions = useQuery(versionsQuery(graphId));
  if (versions.isPending) return <Loading label="Versions" />;
  if (versions.isError) return <ProblemMessage error={versions.error} onRetry={() => versions.refetch()} />;
  if (state.with !== null) return <p className="muted">Show this sheet only to compare its revisions.</p>;
  const [latest, ...older] = versions.data;
  if (!latest || older.length === 0) {
    return (
      <div className="stack">
        <p className="muted">There is one version only. Upload the next revision to see what changed.</p>
        <div>
          <UploadVersion graphId={graphId} />
        </div>
      </div>
    );
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
        value={comparison?.old ?? null}
        onChange={(old) => change({ old, node: null })}
      />
      {state.new !== null && state.new !== latest.change_version && (
        <p className="muted">
          The link to this comparison was made for version {state.new}. Changes since then are shown as well.
        </p>
      )}
      {comparison && (
        <Differences
          graphId={graphId}
          comparison={comparison}
          state={state}
          change={change}
          onSelect={onSelect}
        />
      )}
      <div className="row">
        {comparison && (
          <CopyButton
            label="Copy the link to this comparison"
            text={linkTo(comparison.old, latest.change_version)}
          >
            Copy the link
          </CopyButton>
        )}
        <UploadVersion graphId={graphId} />
      </div>
    </div>
  );
}

/** The address of the page with the versions that it compares, which are other ones after the next revision. */
function linkTo(old: string, latest: string): string {
  const url = new URL(window.location.href);
  url.searchParams.set("old", old);
  url.searchParams.set("new", latest);
  return url.href;
}

const TONES: Record<string, Tone> = { critical: "danger", high: "warning", medium: "accent" };

interface DifferencesProps {
  graphId: string;
  comparison: Comparison;
  state: DrawingState;
  change: ChangeState;
  onSelect: (id: string) => void;
}

function Differences({ graphId, comparison, state, change, onSelect }: DifferencesProps) {
  const changes = useQuery(changesQuery(graphId, comparison.old));
  if (changes.isPending) return <Loading label="Changes" />;
  if (changes.isError) return <ProblemMessage error={changes.error} />;
  if (changes.data.length === 0) return <p>The two versions do not differ.</p>;
  const step = (direction: 1 | -1) => {
    const id = nextChanged(changes.data, state.node, direction);
    if (id !== null) onSelect(id);
  };
  return (
    <>
      <div className="row">
        <div role="group" aria-label="Version on the drawing" className="segments">
          {SHOWN.map((row) => (
            <button
              key={row.id}
              type="button"
              title={row.hint}
              aria-pressed={row.id === comparison.shown}
              onClick={() => change({ show: row.id === "both" ? null : row.id })}
            >
              {row.label}
            </button>
          ))}
        </div>
        <span className="grow" />
        <IconButton label="Previous change (p)" onPress={() => step(-1)}>
          <ChevronUp size={16} />
        </IconButton>
        <IconButton label="Next change (n)" onPress={() => step(1)}>
          <ChevronDown size={16} />
        </IconButton>
      </div>
      {bySignificance(changes.data).map((group) => (
        <section key={group.significance} className="change-group" aria-label={group.significance}>
          <h3>
            <Badge tone={TONES[group.significance] ?? "neutral"}>{group.significance}</Badge>{" "}
            <span className="muted">{group.changes.length}</span>
          </h3>
          <ul>
            {group.changes.map((row, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the rows of a result never change their order
              <li key={index}>
                <ChangeRow row={row} isCurrent={row.id === state.node} onSelect={onSelect} />
              </li>
            ))}
          </ul>
        </section>
      ))}
      <div>
        <SaveCsvButton name={`Changes ${graphId}`} rows={() => changeList(changes.data)} />
      </div>
    </>
  );
}

interface ChangeRowProps {
  row: Change;
  isCurrent: boolean;
  onSelect: (id: string) => void;
}

/** One change; it is a button if it is about an item. */
function ChangeRow({ row, isCurrent, onSelect }: ChangeRowProps) {
  const ref = useRef<HTMLButtonElement>(null);
  const { id } = row;
  useEffect(() => {
    if (isCurrent) ref.current?.scrollIntoView({ block: "nearest" });
  }, [isCurrent]);
  const text = (
    <>
      <span className="tag">{nameOfChange(row)}</span> {reasonOf(row)}
      {row.field && (
        <small className="muted">
          {fieldName(row.field)}: {fieldText(row.before)} → {fieldText(row.after)}
        </small>
      )}
    </>
  );
  if (!id) return <div className="change-row">{text}</div>;
  return (
    <button
      ref={ref}
      type="button"
      className="change-row"
      data-kind={kindOf(row)}
      aria-current={isCurrent || undefined}
      onClick={() => onSelect(id)}
    >
      {text}
    </button>
  );
}
