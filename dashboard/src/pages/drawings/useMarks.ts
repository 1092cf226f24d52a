/** The marks of the result of an action, or of the query of the address. */
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { actionOf } from "../../features/drawing/actions";
import type { Isolation } from "../../features/drawing/isolation";
import { type Marks, marksOf, NO_MARKS } from "../../features/drawing/marks";
import { type DrawingGraph, itemIds, namedItems } from "../../features/drawing/model";
import { type DrawingScope, resultQuery } from "../../features/drawing/queries";
import type { DrawingState } from "./state";

export function useMarks(scope: DrawingScope, graph: DrawingGraph, state: DrawingState): Marks {
  const action = state.node ? (actionOf(state.view)?.query(graph, state.node, state.to) ?? null) : null;
  const query = action ?? (state.view ? null : state.highlight);
  const result = useQuery({ ...resultQuery(scope, query ?? ""), enabled: query !== null });
  return useMemo(() => {
    if (query === null || !result.data) return NO_MARKS;
    if (action !== null && state.view === "isolate") {
      return isolationMarks(graph, result.data[0] as Isolation);
    }
    const ids = action === null ? namedItems(graph, result.data) : itemIds(result.data);
    return marksOf(graph, [["hit", ids]]);
  }, [graph, query, action, result.data, state.view]);
}

function isolationMarks(graph: DrawingGraph, result: Isolation): Marks {
  const ids = (value: unknown) => itemIds(value);
  return marksOf(graph, [
    ["inside", ids(result.inside)],
    ["close", ids(result.barriers.map((barrier) => barrier.node))],
    ["open", ids([result.unresolved.map((branch) => [branch.at, branch.path.at(-1)]), result.uncertain])],
  ]);
}
