/** The drawing of the page: alone, or joined with further sheets. */
import { useQueries, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Connection } from "../../features/drawing/markLayer";
import { type DrawingGraph, drawingGraph, NO_GRAPH } from "../../features/drawing/model";
import type { Picture } from "../../features/drawing/picture";
import {
  type DrawingScope,
  documentQuery,
  graphQuery,
  joinedQuery,
  pictureQuery,
} from "../../features/drawing/queries";
import { type JoinedPair, joinedSheets } from "../../features/drawing/sheets";

export interface ShownDrawing {
  scope: DrawingScope;
  graph: DrawingGraph;
  picture: Picture;
  connections: Connection[];
  pairs: JoinedPair[];
}

interface ShownQuery {
  data: ShownDrawing | null;
  error: Error | null;
  retry: () => void;
}

const NO_CONNECTIONS: Connection[] = [];
const NO_PAIRS: JoinedPair[] = [];

export function useSheets(scope: DrawingScope): ShownQuery {
  const ids = [scope.id, ...scope.sheets];
  const isJoined = scope.sheets.length > 0;
  const graph = useQuery(graphQuery(scope.id));
  const pictures = useQueries({ queries: ids.map((id) => pictureQuery(id)) });
  const documents = useQueries({ queries: (isJoined ? ids : []).map((id) => documentQuery(id)) });
  const joined = useQuery({ ...joinedQuery(scope), enabled: isJoined });
  const queries = [graph, ...pictures, ...documents, ...(isJoined ? [joined] : [])];

  const allPictures = allData(pictures);
  const allDocuments = allData(documents);
  const picturesKey = pictures.map((query) => query.dataUpdatedAt).join();
  const documentsKey = documents.map((query) => query.dataUpdatedAt).join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the arrays are new in each render, the keys tell their content
  const sheets = useMemo(
    () =>
      isJoined && joined.data && allPictures && allDocuments
        ? joinedSheets(joined.data, allDocuments.map(drawingGraph), allPictures)
        : null,
    [isJoined, joined.data, picturesKey, documentsKey],
  );
  const first = pictures[0]?.data;
  let data: ShownDrawing | null = null;
  if (sheets) data = { scope, ...sheets };
  else if (!isJoined && first) {
    // The picture is shown while the graph is on its way.
    const own = graph.data ?? NO_GRAPH;
    data = { scope, graph: own, picture: first, connections: NO_CONNECTIONS, pairs: NO_PAIRS };
  }
  return {
    data,
    error: queries.find((query) => query.error)?.error ?? null,
    retry: () => queries.forEach((query) => void query.refetch()),
  };
}

/** The data of all queries, or null while one is missing. */
function allData<T>(queries: { data: T | undefined }[]): T[] | null {
  const list = queries.flatMap(({ data }) => (data === undefined ? [] : [data]));
  return list.length === queries.length ? list : null;
}
