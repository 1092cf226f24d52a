/** Changes between two versions of a drawing: groups, order, and how they are marked. */
import { fieldText } from "./fields";
import { type Marks, marksOf } from "./marks";
import type { DrawingGraph } from "./model";
import type { Picture, PictureItem } from "./picture";

export interface Change {
  significance: string;
  reason: string;
  id?: string | null;
  tag?: string | null;
  class?: string;
  ends?: string[] | null;
  /** `added`, `removed`, `changed`, `rewired`, or another kind. */
  change?: string;
  field?: string | null;
  before?: unknown;
  after?: unknown;
}

export type Shown = "new" | "both" | "old";

export const SHOWN: { id: Shown; label: string; hint: string }[] = [
  { id: "old", label: "Old", hint: "The older version, with what was removed" },
  { id: "both", label: "Both", hint: "The latest version, and over it what was removed" },
  { id: "new", label: "New", hint: "The latest version only" },
];

export function shownOf(text: string | null): Shown {
  return SHOWN.find((row) => row.id === text)?.id ?? "both";
}

/** Groups changes that are in order of significance. */
export function bySignificance(changes: Change[]): { significance: string; changes: Change[] }[] {
  const groups = new Map<string, Change[]>();
  for (const change of changes) {
    const group = groups.get(change.significance);
    if (group) group.push(change);
    else groups.set(change.significance, [change]);
  }
  return [...groups].map(([significance, changes]) => ({ significance, changes }));
}

/** The changed item that follows another in the list, or precedes it; the list is a ring. */
export function nextChanged(changes: Change[], current: string | null, step: 1 | -1): string | null {
  const ids = [...new Set(changes.flatMap((change) => change.id ?? []))];
  if (ids.length === 0) return null;
  const at = current === null ? -1 : ids.indexOf(current);
  if (at === -1) return ids.at(step === 1 ? 0 : -1) ?? null;
  return ids[(at + step + ids.length) % ids.length] ?? null;
}

/** An item that was neither added nor removed counts as changed, also if it is only in another place. */
export function kindOf(change: Change): "added" | "removed" | "changed" {
  if (change.change?.endsWith("added")) return "added";
  return change.change?.endsWith("removed") ? "removed" : "changed";
}

/** Words for the kinds of changes in reasons such as "pipe added or removed". */
const DONE: Record<string, string> = { rewired: "moved", changed: "changed" };

/** The reason; where it names alternatives, the one that applies. */
export function reasonOf(change: Change): string {
  const done = DONE[change.change ?? ""] ?? kindOf(change);
  return change.reason.replace(/\b(added) or (removed|moved|changed)\b/, (both, ...words) =>
    words.includes(done) ? done : both,
  );
}

/** `attributes.rated_flow` as "rated flow". */
export function fieldName(field: string): string {
  return field.replace(/^attributes\./, "").replaceAll("_", " ");
}

/** The name of what has changed: its tag, its ends, or its id. */
export function nameOfChange(change: Change): string {
  return change.tag ?? change.ends?.join(" → ") ?? change.id ?? "";
}

/** The changes as rows under a row of headings. */
export function changeList(changes: Change[]): string[][] {
  const rows = changes.map((change) => [
    change.significance,
    nameOfChange(change),
    reasonOf(change),
    ...(change.field
      ? [fieldName(change.field), fieldText(change.before), fieldText(change.after)]
      : ["", "", ""]),
  ]);
  return [["Significance", "Item", "Change", "Field", "Before", "After"], ...rows];
}

export function idsOf(changes: Change[], kind: ReturnType<typeof kindOf>): string[] {
  return changes.flatMap((change) => (kindOf(change) === kind && change.id ? [change.id] : []));
}

/** The marks on one of the two versions. */
export function changeMarks(graph: DrawingGraph, changes: Change[], shown: Shown): Marks {
  const other = shown === "old" ? "removed" : "added";
  const marks = new Map(marksOf(graph, [["changed", idsOf(changes, "changed")]]));
  // Not the pipes between two of them, unless they are themselves in the list.
  for (const id of marks.keys()) if (graph.edgeById.has(id)) marks.delete(id);
  for (const kind of ["changed", other] as const) {
    for (const id of idsOf(changes, kind)) marks.set(id, kind);
  }
  return marks;
}

/** The removed items at their place on the older picture. */
export function removedItems(changes: Change[], old: Picture): Map<string, PictureItem> {
  const removed = new Map<string, PictureItem>();
  for (const id of idsOf(changes, "removed")) {
    const item = old.items.get(id);
    if (item) removed.set(id, item);
  }
  return removed;
}
