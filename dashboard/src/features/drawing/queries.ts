/** Graphs of the service: list, drawing, versions, queries, upload. */
import { queryOptions } from "@tanstack/react-query";
import { api, checked, data, type Schemas } from "../../api/client";
import { ApiProblem, problemOf } from "../../api/problem";
import { drawingGraph } from "./model";
import { type Picture, parsePicture } from "./picture";

export type GraphRow = Schemas["GraphEntry"];

export interface GraphVersion {
  change_version: string;
  created_on: string;
}

/** Largest page of the list of graphs. */
const PAGE_SIZE = 1000;

export function graphUrl(id: string, parameters: Record<string, string | null> = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== null) search.set(name, value);
  const text = search.toString();
  return `/graph/${encodeURIComponent(id)}${text ? `?${text}` : ""}`;
}

async function getJson<T>(url: string): Promise<T> {
  return (await checked(await fetch(url, { headers: { Accept: "application/json" } }))).json();
}

export const graphsQuery = queryOptions({
  queryKey: ["graphs"],
  queryFn: async (): Promise<GraphRow[]> => {
    const rows: GraphRow[] = [];
    let cursor: string | null = null;
    do {
      const query: { limit: number; cursor?: string } = {
        limit: PAGE_SIZE,
        ...(cursor === null ? {} : { cursor }),
      };
      const page: Schemas["GraphPage"] = await data(api.GET("/graph", { params: { query } }));
      rows.push(...page.graphs);
      cursor = page.next;
    } while (cursor !== null);
    return rows;
  },
});

export function graphQuery(id: string) {
  return queryOptions({
    queryKey: ["graph", id],
    queryFn: async () => drawingGraph(await getJson(graphUrl(id))),
  });
}

export function versionsQuery(id: string) {
  return queryOptions({
    queryKey: ["graph", id, "versions"],
    queryFn: async () =>
      (await getJson<{ versions: GraphVersion[] }>(`/graph/${encodeURIComponent(id)}/versions`)).versions,
  });
}

/** The picture of a drawing, of the latest version or an older one. */
export function pictureQuery(id: string, version: string | null = null) {
  return queryOptions({
    queryKey: ["graph", id, "picture", version],
    queryFn: () => loadPicture(graphUrl(id, { format: "svg", change_version: version })),
    staleTime: Number.POSITIVE_INFINITY,
    structuralSharing: false,
  });
}

async function loadPicture(url: string): Promise<Picture> {
  const response = await fetch(url);
  if (!response.ok) throw await problemOf(response);
  const picture = parsePicture(await response.text());
  if (picture === null) {
    throw new ApiProblem({ status: response.status, code: "drawing", title: "The drawing cannot be shown" });
  }
  return picture;
}

/** Runs a query on the latest version of a graph. */
export function runQuery(id: string, query: string, params?: Record<string, unknown>) {
  return queryOptions({
    queryKey: ["graph", id, "query", query],
    queryFn: async (): Promise<unknown[]> => {
      const response = await fetch(graphUrl(id), {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ query, ...(params && { params }) }),
      });
      return (await (await checked(response)).json()).result;
    },
  });
}

export interface RankedDifference {
  significance: string;
  reason: string;
  id?: string;
  tag?: string | null;
  change?: string;
  field?: string | null;
  before?: unknown;
  after?: unknown;
}

export const DIFF_QUERY = "rankDiff($old, .)";

/** The differences of the latest version from an older one, the most significant first. */
export function differencesQuery(id: string, old: string) {
  return queryOptions({
    queryKey: ["graph", id, "differences", old],
    queryFn: async ({ client }) => {
      const document = await getJson(graphUrl(id, { change_version: old }));
      const options = runQuery(id, DIFF_QUERY, { old: document });
      return (await client.fetchQuery({
        ...options,
        queryKey: [...options.queryKey, old],
      })) as RankedDifference[];
    },
  });
}

/** Stores a graph as JSON, the only format that the endpoint accepts. */
export async function uploadGraph(id: string, file: File): Promise<void> {
  await checked(
    await fetch(graphUrl(id), {
      method: "PUT",
      headers: { "Content-Type": "application/json" },
      body: await file.text(),
    }),
  );
}

/** The id of a graph that is uploaded from a file. */
export function idOfFile(name: string): string {
  const stem = name.replace(/\.[^.]*$/, "");
  return stem.replaceAll(/[^A-Za-z0-9._-]+/g, "-").replaceAll(/^[-.]+|[-.]+$/g, "") || "drawing";
}
