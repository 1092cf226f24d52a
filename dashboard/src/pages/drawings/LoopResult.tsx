/** A control loop: its items by what they do, and what the drawing lacks of it. */
import { gapText, type Loop, loopGroups } from "../../features/drawing/loop";
import { classOf, type DrawingGraph } from "../../features/drawing/model";
import { Badge } from "../../ui/Badge";
import { ItemLink } from "./ItemLink";

interface LoopResultProps {
  graph: DrawingGraph;
  /** Null if the item belongs to no loop. */
  result: Loop | null | undefined;
  onSelect: (id: string) => void;
}

export function LoopResult({ graph, result, onSelect }: LoopResultProps) {
  if (!result) return <p>The item belongs to no loop of this drawing.</p>;
  const gap = gapText(result.gap);
  return (
    <>
      <p className="row">
        <strong>Loop {result.loop ?? "without a tag"}</strong>
        <span className="muted">{result.kind?.replaceAll("_", " ")}</span>
        {gap !== "" && <Badge tone="warning">{gap}</Badge>}
      </p>
      {loopGroups(result).map(({ title, rows }) => (
        <section key={title} className="isolation-group" aria-label={title}>
          <h3>{title}</h3>
          <ul>
            {rows.map(({ node, note }) => (
              <li key={node.id}>
                <ItemLink graph={graph} id={node.id} onSelect={onSelect} />{" "}
                <span className="muted">{[classOf(node), note].filter(Boolean).join(", ")}</span>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </>
  );
}
