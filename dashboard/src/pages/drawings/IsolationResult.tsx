/** Isolation points of an item, the branches that stay open, and what is uncertain. */
import type { ReactNode } from "react";
import { entryText, type Isolation, openReason, VERDICTS, verdictOf } from "../../features/drawing/isolation";
import { type DrawingGraph, nameOf } from "../../features/drawing/model";
import { ItemLink } from "./ItemLink";

interface IsolationResultProps {
  graph: DrawingGraph;
  result: Isolation;
  onSelect: (id: string) => void;
}

const words = (text: string | null | undefined) => (text ?? "").replaceAll("_", " ");

export function IsolationResult({ graph, result, onSelect }: IsolationResultProps) {
  const verdict = VERDICTS[verdictOf(result)];
  const link = (id: string) => <ItemLink graph={graph} id={id} onSelect={onSelect} />;
  const rows = {
    open: result.unresolved.map((branch) => (
      <>
        {branch.at ? link(branch.at.id) : "End of the branch"}: {openReason(branch)}
        <small className="muted">by {branch.path.map((node) => nameOf(node, node.id)).join(" → ")}</small>
      </>
    )),
    close: result.barriers.map((barrier) => (
      <>
        {link(barrier.node.id)} {words(barrier.action)}, {words(barrier.method)}
        {barrier.certain === false && " (uncertain)"}
      </>
    )),
    inside: result.inside.map((node) => link(node.id)),
    conditional: result.conditional.map((item) => (
      <>
        {link(item.node.id)} {words(item.action)}: no barrier, the branch continues behind it
      </>
    )),
    relief: result.relief.map((item) => (
      <>
        {link(item.node.id)} relief path: {words(item.relief_path) || "not stated"}
        {item.cut_off_by && item.cut_off_by.length > 0 && (
          <strong> cut off by {item.cut_off_by.map((node) => nameOf(node, node.id)).join(", ")}</strong>
        )}
      </>
    )),
  };
  return (
    <>
      <p className="verdict" data-tone={verdict.tone} role="status">
        <strong>{verdict.answer}</strong> {verdict.text}
      </p>
      <Group tone="close" title="To close" rows={rows.close} />
      <Group tone="open" title="Stays open" rows={rows.open} />
      <Group title="Kept open for relief devices" rows={result.kept_open.map(entryText)} />
      <Group tone="inside" title="Inside" rows={rows.inside} />
      <Group title="Passed, under a condition" rows={rows.conditional} />
      <Group title="Relief devices" rows={rows.relief} />
      <Group title="Uncertain" rows={result.uncertain.map(entryText)} />
      <Group title="Gaps of the drawing" rows={result.data_gaps.map(entryText)} />
      <p className="muted">
        Candidate points from the drawing: no isolation certificate. Check them in the field.
      </p>
    </>
  );
}

function Group({ title, tone, rows }: { title: string; tone?: string; rows: ReactNode[] }) {
  if (rows.length === 0) return null;
  return (
    <section className="isolation-group" data-tone={tone} aria-label={title}>
      <h3>
        {title} <span className="muted">{rows.length}</span>
      </h3>
      <ul>
        {rows.map((row, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the rows of a result never change their order
          <li key={index}>{row}</li>
        ))}
      </ul>
    </section>
  );
}
