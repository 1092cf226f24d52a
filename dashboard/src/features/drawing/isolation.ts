/** Result of `isolate`: verdict, and texts of its rows. */
import { fieldText } from "./fields";
import { classOf, type GraphNode, nameOf } from "./model";

/** The answer to whether all is isolated. */
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

const METHODS: Record<string, string> = {
  single: "single valve",
  double_block: "double block",
  double_block_bleed: "double block and bleed",
};

const words = (text: string | null | undefined) => (text ?? "").replaceAll("_", " ");

export interface IsolationRow {
  /** The item that the row is about; null at the end of a branch without one. */
  node: GraphNode | null;
  text: string;
  /** The items on the way of the branch. */
  path?: string;
  /** A reason for caution. */
  warning?: string;
}

export interface IsolationGroup {
  title: string;
  tone?: "close" | "open" | "inside";
  rows: IsolationRow[];
}

/** The result in the order that a person reads it; groups may be empty. */
export function isolationGroups(result: Isolation): IsolationGroup[] {
  const entries = (list: unknown[]) => list.map((entry) => ({ node: null, text: fieldText(entry) }));
  return [
    { title: "To close", tone: "close", rows: result.barriers.map(barrierRow) },
    { title: "Stays open", tone: "open", rows: result.unresolved.map(openRow) },
    { title: "Kept open for relief devices", rows: entries(result.kept_open) },
    { title: "Inside", tone: "inside", rows: result.inside.map((node) => ({ node, text: "" })) },
    {
      title: "Passed, not counted as barriers",
      rows: result.conditional.map(({ node, action }) => ({
        node,
        text: `${words(action)}; no barrier, the branch continues behind it`,
      })),
    },
    { title: "Relief devices", rows: result.relief.map(reliefRow) },
    { title: "Uncertain", rows: entries(result.uncertain) },
    { title: "Gaps of the drawing", rows: entries(result.data_gaps) },
  ];
}

function barrierRow({ node, method = "", action, lock, certain }: Barrier): IsolationRow {
  const texts = [words(action), METHODS[method] ?? words(method), words(lock)];
  return {
    node,
    text: texts.filter((text) => text !== "").join(", "),
    ...(certain === false && { warning: "uncertain" }),
  };
}

function openRow(branch: Unresolved): IsolationRow {
  const path = branch.path.map((node) => nameOf(node, node.id)).join(" → ");
  return { node: branch.at, text: openReason(branch), path };
}

function reliefRow({ node, relief_path, cut_off_by = [] }: Isolation["relief"][number]): IsolationRow {
  const isUnknown = relief_path === "unknown";
  const state = isUnknown ? "not all of it is on this drawing" : words(relief_path) || "not stated";
  const cutOff = cut_off_by.map((valve) => nameOf(valve, valve.id)).join(", ");
  return { node, text: `relief path: ${state}`, ...(cutOff !== "" && { warning: `cut off by ${cutOff}` }) };
}

/** The rows of a list to take into the field, under a row of headings. */
export function isolationList(result: Isolation): string[][] {
  const rows = isolationGroups(result).flatMap(({ title, rows }) =>
    rows.map(({ node, text, path = "", warning = "" }) => [
      title,
      node ? nameOf(node, node.id) : "",
      node ? classOf(node) : "",
      node?.line ?? "",
      text,
      path,
      warning,
    ]),
  );
  return [["Group", "Tag", "Class", "Line", "What", "Path", "Warning"], ...rows];
}
