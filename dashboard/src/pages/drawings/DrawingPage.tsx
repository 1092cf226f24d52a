/** One drawing: the picture, the selected item, actions and lists. */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useRef } from "react";
import { Link, useParams } from "react-router";
import { actionOf } from "../../features/drawing/actions";
import { DrawingCanvas } from "../../features/drawing/DrawingCanvas";
import type { Isolation } from "../../features/drawing/isolation";
import { type Marks, marksOf, NO_MARKS } from "../../features/drawing/marks";
import { type DrawingGraph, itemIds, NO_GRAPH, namedItems } from "../../features/drawing/model";
import type { Picture } from "../../features/drawing/picture";
import {
  differencesQuery,
  graphQuery,
  graphsQuery,
  pictureQuery,
  type RankedDifference,
  runQuery,
} from "../../features/drawing/queries";
import { Loading } from "../../ui/Loading";
import { ProblemMessage } from "../../ui/ProblemMessage";
import { ExportMenu } from "./ExportMenu";
import { Panels } from "./Panels";
import { type DrawingState, useDrawingState } from "./state";
import { TagSearch } from "./TagSearch";

export function DrawingPage() {
  const { graphId = "" } = useParams();
  const graph = useQuery(graphQuery(graphId));
  const picture = useQuery(pictureQuery(graphId));
  const error = graph.error ?? picture.error;
  const retry = () => {
    graph.refetch();
    picture.refetch();
  };
  if (error) return <ProblemMessage error={error} onRetry={retry} />;
  // The picture is shown while the graph is on its way.
  if (!picture.data) return <Loading label="Drawing" />;
  return <Drawing key={graphId} graphId={graphId} graph={graph.data ?? NO_GRAPH} picture={picture.data} />;
}

interface DrawingProps {
  graphId: string;
  graph: DrawingGraph;
  picture: Picture;
}

function Drawing({ graphId, graph, picture }: DrawingProps) {
  const { state, change } = useDrawingState();
  const searchRef = useRef<HTMLInputElement>(null);
  const row = useQuery(graphsQuery).data?.find((row) => row.job_id === graphId);
  const name = row?.drawing_name ?? graphId;
  const marks = useMarks(graphId, graph, state);
  useEffect(() => {
    document.title = `${name} · pidq`;
  }, [name]);
  const isPicking = state.view === "path" && state.node !== null && state.to === null;
  const select = (id: string | null) =>
    isPicking && id !== null && id !== state.node ? change({ to: id }) : change({ node: id, to: null });
  return (
    <div className="drawing-page">
      <header className="drawing-head">
        <nav aria-label="Path" className="grow">
          <Link to="/drawings">Drawings</Link> <span aria-hidden>/</span> <h1>{name}</h1>
        </nav>
        <TagSearch graph={graph} inputRef={searchRef} onSelect={select} />
        <ExportMenu graphId={graphId} />
      </header>
      <div className="drawing-body">
        <DrawingCanvas
          label={name}
          picture={picture}
          graph={graph}
          marks={marks}
          selected={state.node}
          onSelect={select}
          onSearch={() => searchRef.current?.focus()}
        />
        <Panels graphId={graphId} graph={graph} state={state} change={change} onSelect={select} />
      </div>
    </div>
  );
}

/** The marks of the differences if they are shown, otherwise those of the action. */
function useMarks(graphId: string, graph: DrawingGraph, state: DrawingState): Marks {
  const action = state.node ? (actionOf(state.view)?.query(graph, state.node, state.to) ?? null) : null;
  const query = action ?? (state.view ? null : state.highlight);
  const result = useQuery({ ...runQuery(graphId, query ?? ""), enabled: query !== null });
  const isComparing = state.panel === "changes" && state.old !== null;
  const differences = useQuery({ ...differencesQuery(graphId, state.old ?? ""), enabled: isComparing });
  return useMemo(() => {
    if (isComparing) return differences.data ? differenceMarks(graph, differences.data) : NO_MARKS;
    if (query === null || !result.data) return NO_MARKS;
    if (state.view === "isolate") return isolationMarks(graph, result.data[0] as Isolation);
    const ids = action === null ? namedItems(graph, result.data) : itemIds(result.data);
    return marksOf(graph, [["hit", ids]]);
  }, [graph, query, action, result.data, state.view, isComparing, differences.data]);
}

function isolationMarks(graph: DrawingGraph, result: Isolation): Marks {
  const ids = (value: unknown) => itemIds(value);
  return marksOf(graph, [
    ["inside", ids(result.inside)],
    ["close", ids(result.barriers.map((barrier) => barrier.node))],
    ["open", ids([result.unresolved.map((branch) => [branch.at, branch.path.at(-1)]), result.uncertain])],
  ]);
}

function differenceMarks(graph: DrawingGraph, differences: RankedDifference[]): Marks {
  const idsOf = (kind: "added" | "changed") =>
    differences
      .filter((row) => (row.change?.endsWith("added") ? "added" : "changed") === kind)
      .map((row) => row.id ?? "");
  return marksOf(graph, [
    ["changed", idsOf("changed")],
    ["added", idsOf("added")],
  ]);
}
