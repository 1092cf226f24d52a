/** Legend of the colors on the drawing, with the number of items that have each of them. */
import { MARK_LABELS, type Marks, type MarkTone } from "./marks";
import type { DrawingGraph } from "./model";

interface MarkLegendProps {
  graph: DrawingGraph;
  marks: Marks;
  /** Number of items of an older version that are drawn as ghosts. */
  ghosts: number;
}

/** Tones that pipes have on their own account. */
const CHANGES: ReadonlySet<MarkTone> = new Set(["added", "removed", "changed"]);

export function MarkLegend({ graph, marks, ghosts }: MarkLegendProps) {
  const counts = new Map<MarkTone, number>();
  for (const [id, tone] of marks) {
    // The pipes between marked items have their color, and do not count.
    if (graph.nodeById.has(id) || CHANGES.has(tone)) counts.set(tone, (counts.get(tone) ?? 0) + 1);
  }
  if (ghosts > 0) counts.set("removed", ghosts);
  const rows = [...counts];
  return (
    <p className="mark-legend" role="status" aria-label="Marked items" hidden={rows.length === 0}>
      {rows.map(([tone, count]) => (
        <span key={tone} data-tone={tone}>
          {/* The nozzles at which a branch stays open are marked too, and are no branches. */}
          <i aria-hidden /> {tone === "open" ? "" : `${count} `}
          {MARK_LABELS[tone]}
        </span>
      ))}
    </p>
  );
}
