/** Graphs of the service: list, drawing, versions, queries, upload. */
import { queryOptions } from "@tanstack/react-query";
import { api, checked, data, type Schemas } from "../../api/client";
import { ApiProblem, problemOf } from "../../api/problem";
import type { Change } from "./changes";
import { drawingGraph } from "./model";
import { type GraphParams, type GraphRef, otherGraphs } from "./otherGraphs";
import { type Picture, parsePicture } from "./picture";
import type { JoinedDocument } from "./sheets";

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

/** A version of a graph as it is stored; by default the latest. */
export function documentQuery(id: string, version: string | null = null) {
  return queryOptions({
    queryKey: ["graph", id, "document", version],
    queryFn: () => getJson<unknown>(graphUrl(id, { change_version: version })),
    structuralSharing: false,
  });
}

export function graphQuery(id: string, version: string | null = null) {
  return queryOptions({ ...documentQuery(id, version), select: drawingGraph });
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

/** Runs a query on the latest version of a graph, which may read other graphs as parameters. */
export async function runQuery(id: string, query: string, graphParams: GraphParams = {}): Promise<unknown[]> {
  const response = await fetch(graphUrl(id), {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ query, graph_params: graphParams }),
  });
  return (await (await checked(response)).json()).result;
}

/** A drawing on a page, and further sheets that are joined to it. */
export interface DrawingScope {
  id: string;
  sheets: string[];
}

/** Runs a query on a drawing, joined with its sheets if there are any. */
export function resultQuery({ id, sheets }: DrawingScope, query: string) {
  return queryOptions({
    queryKey: ["graph", id, "query", query, ...sheets],
    queryFn: () => {
      if (sheets.length === 0) return runQuery(id, query);
      const { names, graphParams } = otherGraphs(sheets.map(sheetRef));
      return runQuery(id, `withGraph(${joinOf(names)}, ${query})`, graphParams);
    },
  });
}

const sheetRef = (id: string): GraphRef => ({ id });
const joinOf = (names: string[]) => `joinSheets([${["graph()", ...names].join(", ")}])`;

/** The drawing and its sheets as one graph. */
export function joinedQuery({ id, sheets }: DrawingScope) {
  return queryOptions({
    queryKey: ["graph", id, "joined", ...sheets],
    queryFn: async () => {
      const { names, graphParams } = otherGraphs(sheets.map(sheetRef));
      return (await runQuery(id, joinOf(names), graphParams))[0] as JoinedDocument;
    },
    structuralSharing: false,
  });
}

/** The joined connectors only, with the first node, whose id shows the prefix of the ids. */
const PAIRS =
  "{nodes: .nodes | limit(1) | map({id: .id}), edges: [], metadata: {joined: {pairs: .metadata.joined.pairs}}}";

/** The pairs of connectors by which a drawing and another sheet continue each other. */
export function pairsQuery(id: string, sheet: string) {
  return queryOptions({
    queryKey: ["graph", id, "pairs", sheet],
    queryFn: async () => {
      const { names, graphParams } = otherGraphs([{ id: sheet }]);
      return (await runQuery(id, `${joinOf(names)} | ${PAIRS}`, graphParams))[0] as JoinedDocument;
    },
  });
}

/** The changes of the latest version from an older one, the most significant first. */
export function changesQuery(id: string, old: string) {
  return queryOptions({
    queryKey: ["graph", id, "changes", old],
    queryFn: async () => {
      const { names, graphParams } = otherGraphs([{ id, version: old }]);
      return (await runQuery(id, `rankDiff(${names[0]}, .)`, graphParams)) as Change[];
    },
  });
}

/** The id of a graph that is uploaded from a file. */
export function idOfFile(name: string): string {
  const stem = name.replace(/\.[^.]*$/, "");
  return stem.replaceAll(/[^A-Za-z0-9._-]+/g, "-").replaceAll(/^[-.]+|[-.]+$/g, "") || "drawing";
}
