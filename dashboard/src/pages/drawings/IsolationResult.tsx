/** Isolation points of an item, the branches that stay open, and what is uncertain. */
import { Printer } from "lucide-react";
import {
  type Isolation,
  type IsolationGroup,
  type IsolationRow,
  isolationGroups,
  isolationList,
  VERDICTS,
  verdictOf,
} from "../../features/drawing/isolation";
import type { DrawingGraph } from "../../features/drawing/model";
import { Button } from "../../ui/Button";
import { SaveCsvButton } from "../../ui/SaveCsvButton";
import { ItemLink } from "./ItemLink";

interface IsolationResultProps {
  graph: DrawingGraph;
  /** The isolated item, for the name of a file. */
  name: string;
  result: Isolation;
  onSelect: (id: string) => void;
}

export function IsolationResult({ graph, name, result, onSelect }: IsolationResultProps) {
  const verdict = VERDICTS[verdictOf(result)];
  return (
    <>
      <p className="verdict" data-tone={verdict.tone} role="status">
        <strong>{verdict.answer}</strong> {verdict.text}
      </p>
      {isolationGroups(result).map((group) => (
        <Group key={group.title} group={group} graph={graph} onSelect={onSelect} />
      ))}
      <p className="muted">
        Candidate points from the drawing: no isolation certificate. Check them in the field.
      </p>
      <div className="row item-actions">
        <Button size="small" onPress={() => window.print()}>
          <Printer size={14} aria-hidden /> Print
        </Button>
        <SaveCsvButton name={`Isolation ${name}`} rows={() => isolationList(result)} />
      </div>
    </>
  );
}

interface GroupProps {
  group: IsolationGroup;
  graph: DrawingGraph;
  onSelect: (id: string) => void;
}

function Group({ group: { title, tone, rows }, graph, onSelect }: GroupProps) {
  if (rows.length === 0) return null;
  return (
    <section className="isolation-group" data-tone={tone} aria-label={title}>
      <h3>
        {title} <span className="muted">{rows.length}</span>
      </h3>
      <ul>
        {rows.map((row, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the rows of a result never change their order
          <li key={index}>
            <RowText row={row} graph={graph} onSelect={onSelect} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function RowText({ row, graph, onSelect }: { row: IsolationRow } & Omit<GroupProps, "group">) {
  return (
    <>
      {row.node && <ItemLink graph={graph} id={row.node.id} onSelect={onSelect} />} {row.text}
      {row.warning && <strong>, {row.warning}</strong>}
      {row.path && <small className="muted">by {row.path}</small>}
    </>
  );
}
