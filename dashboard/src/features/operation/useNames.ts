/** Names of pipelines and documents by id; what was deleted is shown by the end of its id. */
import { queryOptions, useQueries, useQuery } from "@tanstack/react-query";
import { api, data } from "../../api/client";
import { documentsKey, pipelinesQuery } from "../documents/queries";

export interface Names {
  pipeline: (id: string) => string;
  document: (id: string) => string;
}

/** The number of newest documents of a pipeline whose names are read. */
const NEWEST = 200;

const namesQuery = (pipeline_id: string) =>
  queryOptions({
    queryKey: [...documentsKey(pipeline_id), "names"],
    queryFn: async () => {
      const params = { path: { pipeline_id }, query: { limit: NEWEST, sort: "-created_at" as const } };
      const page = await data(api.GET("/api/pipelines/{pipeline_id}/documents", { params }));
      return page.data.map(({ id, filename }) => [id, filename] as const);
    },
    staleTime: 60_000,
  });

export function useNames(): Names {
  const pipelines = useQuery(pipelinesQuery).data ?? [];
  const documents = useQueries({
    queries: pipelines.map(({ id }) => namesQuery(id)),
    combine: (results) => new Map(results.flatMap((result) => result.data ?? [])),
  });
  return {
    pipeline: (id) => pipelines.find((pipeline) => pipeline.id === id)?.name ?? `pipeline ${id.slice(-6)}`,
    document: (id) => documents.get(id) ?? `Document ${id.slice(-6)}`,
  };
}
