/** Result of `loop`: the items of a control loop by what they do. */
import type { GraphNode } from "./model";

export interface Loop {
  loop?: string | null;
  kind?: string;
  members?: GraphNode[];
  sensing_points?: GraphNode[];
  sensors?: GraphNode[];
  functions?: GraphNode[];
  final_elements?: GraphNode[];
  fail_action?: string | null;
  gap?: string | null;
}

export interface LoopGroup {
  title: string;
  rows: { node: GraphNode; note: string }[];
}

/** The loop in the direction of its signals, and at last the members that are none of these. */
export function loopGroups(loop: Loop): LoopGroup[] {
  const { sensing_points = [], sensors = [], functions = [], final_elements = [], members = [] } = loop;
  const known = new Set(
    [...sensing_points, ...sensors, ...functions, ...final_elements].map((node) => node.id),
  );
  const group = (title: string, nodes: GraphNode[]) => ({
    title,
    rows: nodes.map((node) => ({ node, note: failText(node.fail_action) })),
  });
  return [
    group("Measured at", sensing_points),
    group("Sensors", sensors),
    group("Controllers and functions", functions),
    group("Final elements", final_elements),
    group(
      "Further members",
      members.filter((node) => !known.has(node.id)),
    ),
  ].filter(({ rows }) => rows.length > 0);
}

export function failText(action: unknown): string {
  return typeof action === "string" && action !== "" ? `fails ${action.replaceAll("_", " ")}` : "";
}

const GAPS: Record<string, string> = {
  no_final_element: "no final element",
  no_sensor: "no sensor",
};

/** Names what the drawing lacks of a loop. */
export function gapText(gap: string | null | undefined): string {
  return gap ? (GAPS[gap] ?? gap.replaceAll("_", " ")) : "";
}
