/** Equipment tags of texts, and the nodes of the drawings that have them. */
import { queryOptions } from "@tanstack/react-query";
import { checked } from "../../api/client";

export interface TagNode {
  graph: string;
  node: string;
}

/** Nodes by tag. */
export type TagNodes = ReadonlyMap<string, TagNode>;

interface BatchRow {
  job_id: string;
  result?: { id: string; tag: string }[];
}

/** The node of each tag, of the first stored drawing that has one. Tags without a node are left out. */
export const tagNodesQuery = (tags: string[]) => {
  const wanted = [...new Set(tags)].sort();
  return queryOptions({
    queryKey: ["tag-nodes", wanted],
    queryFn: async (): Promise<TagNodes> => {
      const response = await fetch("/graph", {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({
          graphs: { prefix: "" },
          query: ".pid_graph.nodes | filter(.tag in $tags) | map({id: .id, tag: .tag})",
          params: { tags: wanted },
        }),
      });
      return nodesOf(await (await checked(response)).text());
    },
    enabled: wanted.length > 0,
    staleTime: 300_000,
    retry: false,
  });
};

/** Reads the lines of a query on several graphs. */
export function nodesOf(lines: string): TagNodes {
  const nodes = new Map<string, TagNode>();
  for (const line of lines.split("\n")) {
    if (line.trim() === "") continue;
    const row = JSON.parse(line) as BatchRow;
    for (const { id, tag } of row.result ?? []) {
      if (!nodes.has(tag)) nodes.set(tag, { graph: row.job_id, node: id });
    }
  }
  return nodes;
}

export function drawingPath({ graph, node }: TagNode): string {
  return `/drawings/${encodeURIComponent(graph)}?node=${encodeURIComponent(node)}`;
}
