/** Actions on a selected item, one row per action, with the query that each one runs. */
import { type DrawingGraph, lineOf } from "./model";

export interface ActionRow {
  id: string;
  label: string;
  hint: string;
  /** The query, or null if the action does not apply to the item. */
  query: (graph: DrawingGraph, id: string, to: string | null) => string | null;
}

const text = (value: string) => JSON.stringify(value);

export const ACTIONS: ActionRow[] = [
  {
    id: "upstream",
    label: "Upstream",
    hint: "What feeds the item, up to the next equipment",
    query: (_, id) => `upstream(${text(id)})`,
  },
  {
    id: "downstream",
    label: "Downstream",
    hint: "What the item feeds, up to the next equipment",
    query: (_, id) => `downstream(${text(id)})`,
  },
  {
    id: "isolate",
    label: "Isolate",
    hint: "What to close, what is inside, what stays open",
    query: (_, id) => `isolate(${text(id)})`,
  },
  {
    id: "loop",
    label: "Loop",
    hint: "The control loop of the item",
    query: (_, id) => `loop(${text(id)})`,
  },
  {
    id: "line",
    label: "Line",
    hint: "All items of the line",
    query: (graph, id) => {
      const line = lineOf(graph, id);
      return line === null ? null : `group(${text(line)})`;
    },
  },
  {
    id: "path",
    label: "Path to …",
    hint: "The shortest path along the flow to another item",
    query: (_, id, to) => (to === null ? null : `shortestPath(${text(id)}, ${text(to)})`),
  },
];

export function actionOf(id: string | null): ActionRow | undefined {
  return ACTIONS.find((action) => action.id === id);
}
