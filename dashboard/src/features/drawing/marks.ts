/** Marks on a drawing: which items have which color, and why. */
import type { DrawingGraph } from "./model";

export type MarkTone = "hit" | "close" | "inside" | "open" | "added" | "removed" | "changed";
export type Marks = ReadonlyMap<string, MarkTone>;

export const MARK_LABELS: Record<MarkTone, string> = {
  hit: "found",
  close: "to close",
  inside: "inside",
  open: "stays open",
  added: "added",
  removed: "removed",
  changed: "changed",
};

export const NO_MARKS: Marks = new Map();

/** Marks items, and the pipes and signals between two of them. */
export function marksOf(graph: DrawingGraph, groups: [MarkTone, Iterable<string>][]): Marks {
  const marks = new Map<string, MarkTone>();
  for (const [tone, ids] of groups) for (const id of ids) marks.set(id, tone);
  for (const edge of graph.edges) {
    const source = marks.get(edge.source);
    const target = marks.get(edge.target);
    if (marks.has(edge.id) || source === undefined || target === undefined) continue;
    if (source === target) marks.set(edge.id, source);
    else if (source === "open" || target === "open") marks.set(edge.id, "open");
    else if (source === "inside" || target === "inside") marks.set(edge.id, "inside");
  }
  return marks;
}
