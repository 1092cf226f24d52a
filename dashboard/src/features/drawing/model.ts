/** Graph of a drawing: its items, and what is next to them. */

export interface GraphNode {
  id: string;
  node_type?: string;
  tag?: string | null;
  node_classification?: string;
  service?: string;
  line?: string;
  attributes?: { name: string; value: unknown; unit?: string }[];
  cross_page?: { drawing_name?: string; link_label?: string };
  [field: string]: unknown;
}

export interface GraphEdge {
  id: string;
  source: string;
  target: string;
  edge_type?: string;
  edge_classification?: string;
  [field: string]: unknown;
}

export interface DrawingGraph {
  nodes: GraphNode[];
  edges: GraphEdge[];
  nodeById: Map<string, GraphNode>;
  edgeById: Map<string, GraphEdge>;
  edgesOf: Map<string, GraphEdge[]>;
}

export function drawingGraph(document: unknown): DrawingGraph {
  const { nodes, edges } = content(document);
  const edgesOf = new Map<string, GraphEdge[]>();
  const add = (id: string, edge: GraphEdge) => {
    const list = edgesOf.get(id);
    if (list) list.push(edge);
    else edgesOf.set(id, [edge]);
  };
  for (const edge of edges) {
    add(edge.source, edge);
    if (edge.target !== edge.source) add(edge.target, edge);
  }
  return {
    nodes,
    edges,
    nodeById: new Map(nodes.map((node) => [node.id, node])),
    edgeById: new Map(edges.map((edge) => [edge.id, edge])),
    edgesOf,
  };
}

export const NO_GRAPH: DrawingGraph = drawingGraph(null);

function content(document: unknown): { nodes: GraphNode[]; edges: GraphEdge[] } {
  const outer = document as { pid_graph?: unknown } | null;
  const inner = (outer?.pid_graph ?? outer) as { nodes?: GraphNode[]; edges?: GraphEdge[] } | null;
  return { nodes: inner?.nodes ?? [], edges: inner?.edges ?? [] };
}

/** The name that an engineer reads: nozzles by their qualified tag. */
export function nameOf(node: GraphNode | undefined, id: string): string {
  const qualified = node?.qualified_tag;
  if (typeof qualified === "string" && qualified !== "") return qualified;
  return node?.tag || id;
}

/** `piping_component.gate_valve` as "gate valve". */
export function classOf(item: { node_classification?: string; node_type?: string }): string {
  const name = item.node_classification ?? item.node_type ?? "item";
  return name.slice(name.lastIndexOf(".") + 1).replaceAll("_", " ");
}

/** The id of the line that an item belongs to. */
export function lineOf(graph: DrawingGraph, id: string): string | null {
  const node = graph.nodeById.get(id);
  if (node?.node_type === "pipe_system") return id;
  for (const edge of graph.edgesOf.get(id) ?? []) {
    const isMember = edge.target === id && graph.nodeById.get(edge.source)?.node_type === "pipe_system";
    if (isMember) return edge.source;
  }
  return typeof node?.line === "string" ? node.line : null;
}

export interface Neighbor {
  edge: string;
  id: string;
  relation: string;
}

const RELATIONS: Record<string, [out: string, into: string]> = {
  physically_connected_to: ["to", "from"],
  physically_has_a: ["has", "part of"],
  has_a: ["has", "member of"],
  associated_with: ["refers to", "referred to by"],
};

export function neighborsOf(graph: DrawingGraph, id: string): Neighbor[] {
  return (graph.edgesOf.get(id) ?? []).map((edge) => {
    const isOut = edge.source === id;
    const relation = RELATIONS[edge.edge_type ?? ""]?.[isOut ? 0 : 1] ?? edge.edge_type ?? "connected";
    return { edge: edge.id, id: isOut ? edge.target : edge.source, relation };
  });
}

/** The ids of all nodes and edges in a query result, at any depth. */
export function itemIds(value: unknown, ids = new Set<string>()): Set<string> {
  if (Array.isArray(value)) {
    for (const item of value) itemIds(item, ids);
  } else if (typeof value === "object" && value !== null) {
    const fields = value as Record<string, unknown>;
    if (typeof fields.id === "string" && ("node_type" in fields || "edge_type" in fields)) ids.add(fields.id);
    else for (const item of Object.values(fields)) itemIds(item, ids);
  }
  return ids;
}

/** The items that a query result names by id or tag, at any depth: for results that are no nodes, such as lists. */
export function namedItems(graph: DrawingGraph, value: unknown): Set<string> {
  const known = new Map<string, string>();
  for (const node of graph.nodes) known.set(nameOf(node, node.id), node.id);
  for (const item of [...graph.nodes, ...graph.edges]) known.set(item.id, item.id);
  const ids = new Set<string>();
  const visit = (value: unknown): void => {
    if (typeof value === "string") {
      const id = known.get(value);
      if (id !== undefined) ids.add(id);
    } else if (Array.isArray(value)) {
      value.forEach(visit);
    } else if (typeof value === "object" && value !== null) {
      const fields = value as Record<string, unknown>;
      if (typeof fields.id === "string") visit(fields.id);
      else Object.values(fields).forEach(visit);
    }
  };
  visit(value);
  return ids;
}

/** Class and service of an item: `centrifugal pump, feed pump`. */
export function roleOf(node: GraphNode): string {
  return [classOf(node), node.service].filter((text) => typeof text === "string" && text !== "").join(", ");
}

/**
 * Items that a text names: first those whose tag starts with it, then those whose tag or id contains it, and at last those
 * whose class and service have all its words.
 */
export function searchItems(graph: DrawingGraph, text: string, limit = 12): GraphNode[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return [];
  const words = wanted.split(/\s+/);
  const groups: [starts: GraphNode[], contains: GraphNode[], describes: GraphNode[]] = [[], [], []];
  for (const node of graph.nodes) {
    const name = nameOf(node, node.id).toLowerCase();
    const described = `${name} ${roleOf(node).toLowerCase()}`;
    if (name.startsWith(wanted)) groups[0].push(node);
    else if (name.includes(wanted) || node.id.toLowerCase().includes(wanted)) groups[1].push(node);
    else if (words.every((word) => described.includes(word))) groups[2].push(node);
  }
  return groups.flat().slice(0, limit);
}
