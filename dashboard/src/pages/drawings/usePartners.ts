/** The sheets on which a drawing continues, and the connectors there. */
import { useQueries, useQuery } from "@tanstack/react-query";
import type { DrawingGraph, GraphNode } from "../../features/drawing/model";
import { type GraphRow, graphsQuery, pairsQuery } from "../../features/drawing/queries";
import { partnerOf, prefixesOf } from "../../features/drawing/sheets";

export interface Partner {
  sheet: GraphRow;
  /** The connector on the other sheet, if it has one that fits. */
  connector: string | null;
  /** Set once the service has answered which connector fits. */
  isKnown: boolean;
}

/** The stored drawing that a reference names: by its whole name or by its number, which is the first word. */
export function sheetNamed(rows: GraphRow[], name: string | undefined): GraphRow | undefined {
  if (!name) return undefined;
  return rows.find((row) => row.drawing_name === name || row.drawing_name?.startsWith(`${name} `));
}

/** The sheets that the connectors of a drawing name and that are stored. */
export function useOtherSheets(graphId: string, graph: DrawingGraph): GraphRow[] {
  const rows = useQuery(graphsQuery).data ?? [];
  const found = new Map<string, GraphRow>();
  for (const node of graph.nodes) {
    const sheet = sheetNamed(rows, node.cross_page?.drawing_name);
    if (sheet && sheet.job_id !== graphId) found.set(sheet.job_id, sheet);
  }
  return [...found.values()];
}

/** Larger drawings are joined only when one of their connectors is selected: that takes the service some time. */
const MOST_NODES = 2000;

/** Finds the connector that continues one of this drawing, by the rules of the service. */
export function usePartners(
  graphId: string,
  graph: DrawingGraph,
  selected: string | null,
): (node: GraphNode) => Partner | null {
  const rows = useQuery(graphsQuery).data ?? [];
  const sheets = useOtherSheets(graphId, graph);
  const isConnector = selected !== null && graph.nodeById.get(selected)?.cross_page !== undefined;
  const enabled = graph.nodes.length <= MOST_NODES || isConnector;
  const joined = useQueries({
    queries: sheets.map((sheet) => ({ ...pairsQuery(graphId, sheet.job_id), enabled })),
  });
  return (node) => {
    const sheet = sheetNamed(rows, node.cross_page?.drawing_name);
    if (!sheet) return null;
    const document = joined[sheets.indexOf(sheet)]?.data;
    if (!document) return { sheet, connector: null, isKnown: false };
    const { pairs } = document.metadata.joined;
    const [prefix = ""] = prefixesOf(document, [graph]);
    const connector = partnerOf(pairs, `${prefix}${node.id}`);
    return { sheet, connector: connector === null ? null : unprefixed(connector), isKnown: true };
  };
}

/** The id of a node on its own sheet. */
function unprefixed(id: string): string {
  return id.slice(id.indexOf("#") + 1);
}
