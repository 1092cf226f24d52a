/** Queries to the graph service. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { api, checked, data, type Schemas } from "../../api/client";
import { ApiProblem } from "../../api/problem";
import { findingOfProblem, findingOfWarning, type QueryFinding } from "./span";
import { collectVocabulary } from "./vocabulary";

export interface QueryAnswer {
  /** The query that was run. */
  query: string;
  result: unknown[];
  kind: "array" | "value" | "none";
  fuel: number;
  milliseconds: number;
  explanation: Schemas["QueryExplanation"] | null;
}

async function post(
  graphId: string,
  body: Partial<Schemas["GraphQuery"]>,
  signal: AbortSignal,
  format = "json",
): Promise<Response> {
  const url = `/graph/${encodeURIComponent(graphId)}?format=${format}`;
  const headers = { "Content-Type": "application/json" };
  return checked(await fetch(url, { method: "POST", headers, body: JSON.stringify(body), signal }));
}

async function runQuery(graphId: string, query: string, signal: AbortSignal): Promise<QueryAnswer> {
  const start = performance.now();
  const response = await post(graphId, { query, explain: true }, signal);
  const body: Schemas["QueryResult"] = await response.json();
  const kind = response.headers.get("X-Result-Kind");
  return {
    query,
    result: body.result,
    kind: kind === "value" || kind === "none" ? kind : "array",
    fuel: Number(response.headers.get("X-Fuel-Used") ?? 0),
    milliseconds: performance.now() - start,
    explanation: body.explain ?? null,
  };
}

/** Checks a query without running it. */
async function checkQuery(graphId: string, query: string, signal: AbortSignal): Promise<QueryFinding[]> {
  try {
    const response = await post(graphId, { query, dry_run: true }, signal);
    const body: Schemas["QueryResult"] = await response.json();
    return (body.explain?.warnings ?? []).map((warning) => findingOfWarning(query, warning));
  } catch (error) {
    const finding = error instanceof ApiProblem ? findingOfProblem(query, error.fields) : null;
    if (finding) return [finding];
    throw error;
  }
}

export interface ResultFormat {
  id: string;
  label: string;
  extension: string;
}

export const RESULT_FORMATS: ResultFormat[] = [
  { id: "csv", label: "CSV", extension: "csv" },
  { id: "xlsx", label: "Excel workbook (XLSX)", extension: "xlsx" },
  { id: "ndjson", label: "One JSON object per line (NDJSON)", extension: "ndjson" },
  { id: "json", label: "JSON", extension: "json" },
];

/** The bytes of a result in a format. */
export async function resultFile(graphId: string, query: string, format: ResultFormat): Promise<Blob> {
  return (await post(graphId, { query }, AbortSignal.timeout(60_000), format.id)).blob();
}

export function useFunctions() {
  return useQuery({
    queryKey: ["functions"],
    queryFn: async () => (await data(api.GET("/functions"))).functions,
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** The fields, values and tags of a graph, from its first items. */
export function useVocabulary(graphId: string | null) {
  return useQuery({
    queryKey: ["vocabulary", graphId],
    enabled: graphId !== null,
    staleTime: 60_000,
    queryFn: async ({ signal }) => {
      const query = "[nodes() | limit(5000), edges() | limit(2000)]";
      const [nodes, edges] = (await runQuery(graphId ?? "", query, signal)).result;
      return collectVocabulary([
        ...(nodes as Record<string, unknown>[]),
        ...(edges as Record<string, unknown>[]),
      ]);
    },
  });
}

/** Findings of the service in a query while it is written. */
export function useFindings(graphId: string | null, query: string) {
  return useQuery({
    queryKey: ["findings", graphId, query],
    enabled: graphId !== null && query.trim() !== "",
    queryFn: ({ signal }) => checkQuery(graphId ?? "", query, signal),
    retry: false,
  });
}

/** The result of a query, if there is a query; it runs again only when asked to. */
export function useResult(graphId: string, query: string | null) {
  const queries = useQueryClient();
  const queryKey = ["result", graphId, query];
  const result = useQuery({
    queryKey,
    enabled: query !== null,
    queryFn: ({ signal }) => runQuery(graphId, query ?? "", signal),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  return { ...result, cancel: () => queries.cancelQueries({ queryKey }) };
}
