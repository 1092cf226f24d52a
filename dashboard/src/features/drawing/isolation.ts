/** Result of `isolate`: verdict, and texts of its entries. */
import type { GraphNode } from "./model";

/** Whether all is isolated. */
export type Verdict = "yes" | "no" | "unknown";

interface Barrier {
  node: GraphNode;
  method?: string;
  action?: string;
  certain?: boolean;
  lock?: string | null;
}

interface Unresolved {
  kind: string;
  at: GraphNode | null;
  path: GraphNode[];
  partner?: { drawing_name?: string } | null;
}

export interface Isolation {
  target?: GraphNode;
  isolated: Verdict;
  barriers: Barrier[];
  conditional: { node: GraphNode; action: string; fail_action?: string | null }[];
  relief: { node: GraphNode; relief_path?: string; cut_off_by?: GraphNode[] }[];
  unresolved: Unresolved[];
  inside: GraphNode[];
  /** Valves that the answer does not close, so that relief devices keep their paths; the branch goes on behind them. */
  kept_open: unknown[];
  data_gaps: unknown[];
  uncertain: unknown[];
  complete: boolean;
  certain: boolean;
}

/** Returns what the result states about all branches; a result without this statement is unknown. */
export function verdictOf(result: Partial<Isolation>): Verdict {
  return result.isolated ?? "unknown";
}

/** The answer to "is it isolated when these points are closed?", one row per verdict. */
export const VERDICTS: Record<
  Verdict,
  { tone: "danger" | "warning" | "success"; answer: string; text: string }
> = {
  no: { tone: "danger", answer: "Not isolated.", text: "At least one branch stays open." },
  unknown: {
    tone: "warning",
    answer: "Unknown.",
    text: "The drawing does not show that every branch can be closed.",
  },
  yes: {
    tone: "success",
    answer: "Isolated.",
    text: "Every branch on this drawing ends at a point that can be closed.",
  },
};

const OPEN_KINDS: Record<string, string> = {
  equipment: "no valve before this equipment",
  off_page: "continues on another sheet",
  off_page_connector: "continues on another sheet",
  open_end: "ends openly",
};

export function openReason(item: Unresolved): string {
  const reason = OPEN_KINDS[item.kind] ?? item.kind.replaceAll("_", " ");
  const sheet = item.partner?.drawing_name;
  return sheet ? `${reason}: ${sheet}` : reason;
}

/** Text of an entry of `uncertain`, `data_gaps` or `kept_open`, whose fields depend on its kind. */
export function entryText(entry: unknown): string {
  if (typeof entry !== "object" || entry === null) return String(entry).replaceAll("_", " ");
  const fields = Object.entries(entry as Record<string, unknown>);
  return fields.map(([key, value]) => `${key.replaceAll("_", " ")}: ${valueText(value)}`).join("; ");
}

function valueText(value: unknown): string {
  if (Array.isArray(value)) return value.map(valueText).join(", ");
  if (typeof value === "object" && value !== null) {
    const { tag, id } = value as { tag?: unknown; id?: unknown };
    return String(tag ?? id ?? JSON.stringify(value));
  }
  return String(value ?? "not stated").replaceAll("_", " ");
}
