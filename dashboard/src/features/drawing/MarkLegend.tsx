/** What the colors on the drawing mean, with the number of items that have each of them. */
import { MARK_LABELS, type Marks, type MarkTone } from "./marks";
import type { DrawingGraph } from "./model";

interface MarkLegendProps {
  graph: DrawingGraph;
  marks: Marks;
  /** Number of items of an older version that are drawn as ghosts. */
  ghosts: number;
}

export function MarkLegend({ graph, marks, ghosts }: MarkLegendProps) {
  const counts = new Map<MarkTone, number>();
  for (const [id, tone] of marks) {
    // The pipes between marked items have their color, and do not count.
    const isItem = graph.nodeById.has(id) || tone === "added" || tone === "changed";
    if (isItem) counts.set(tone, (counts.get(tone) ?? 0) + 1);
  }
  if (ghosts > 0) counts.set("removed", ghosts);
  const rows = [...counts];
  return (
    <p className="mark-legend" role="status" aria-label="Marked items" hidden={rows.length === 0}>
      {rows.map(([tone, count]) => (
        <span key={tone} data-tone={tone}>
          <i aria-hidden /> {count} {MARK_LABELS[tone]}
        </span>
      ))}
    </p>
  );
}
