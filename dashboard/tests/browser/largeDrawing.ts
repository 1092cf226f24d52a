/** A large drawing of our own: copies of a small one, side by side and in rows. */

interface Item {
  id: string;
  [field: string]: unknown;
}

export interface GraphDocument {
  pid_graph: { nodes: Item[]; edges: Item[]; metadata: Record<string, unknown> };
}

const EXTENT = [841, 594] as const;

/** Repeats a drawing; the items of each copy end with its number. */
export function repeated(source: GraphDocument, id: string, columns: number, rows: number): GraphDocument {
  const { nodes, edges, metadata } = source.pid_graph;
  const result: GraphDocument = {
    pid_graph: {
      nodes: [],
      edges: [],
      metadata: {
        ...metadata,
        drawing_name: "Large drawing",
        job_id: id,
        extent: [0, 0, EXTENT[0] * columns, EXTENT[1] * rows],
      },
    },
  };
  for (let copy = 0; copy < columns * rows; copy++) {
    const suffix = `-${copy}`;
    const left = EXTENT[0] * (copy % columns);
    const top = EXTENT[1] * Math.floor(copy / columns);
    result.pid_graph.nodes.push(...nodes.map((node) => copyNode(node, suffix, left, top)));
    result.pid_graph.edges.push(...edges.map((edge) => copyEdge(edge, suffix)));
  }
  return result;
}

function copyNode(node: Item, suffix: string, left: number, top: number): Item {
  const copy: Item = { ...node, id: node.id + suffix };
  for (const field of ["tag", "line"]) {
    if (typeof node[field] === "string") copy[field] = node[field] + suffix;
  }
  if (typeof node.orig_x === "number") copy.orig_x = node.orig_x + left;
  if (typeof node.orig_y === "number") copy.orig_y = node.orig_y + top;
  return copy;
}

function copyEdge(edge: Item, suffix: string): Item {
  return {
    ...edge,
    id: edge.id + suffix,
    source: `${edge.source}${suffix}`,
    target: `${edge.target}${suffix}`,
  };
}
