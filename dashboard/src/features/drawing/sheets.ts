/** Drawings side by side, joined at their off-page connectors. */
import type { Box } from "./geometry";
import type { Connection, Point } from "./markLayer";
import type { Matrix } from "./matrix";
import { type DrawingGraph, drawingGraph } from "./model";
import { combinedPicture, type Picture, placedPicture } from "./picture";

/** One pair of connectors, with the ids of the joined graph. */
export interface JoinedPair {
  from: string;
  to: string;
}

export interface JoinedDocument {
  nodes: { id: string }[];
  edges: { id: string }[];
  metadata: { joined: { pairs: JoinedPair[] } };
}

export interface JoinedSheets {
  graph: DrawingGraph;
  picture: Picture;
  connections: Connection[];
  pairs: JoinedPair[];
}

/** Room between two sheets, in the unit of the drawing. */
const GAP = 160;

/** The prefix of the ids of each sheet in the joined graph, which has the nodes sheet by sheet. */
export function prefixesOf(joined: JoinedDocument, graphs: DrawingGraph[]): string[] {
  let start = 0;
  return graphs.map((graph) => {
    const id = joined.nodes[start]?.id ?? "";
    const own = graph.nodes[0]?.id ?? "";
    start += graph.nodes.length;
    return id.endsWith(own) ? id.slice(0, id.length - own.length) : "";
  });
}

/** Puts the sheets beside each other so that joined connectors are on the same height. */
export function joinedSheets(
  joined: JoinedDocument,
  graphs: DrawingGraph[],
  pictures: Picture[],
): JoinedSheets {
  const prefixes = prefixesOf(joined, graphs);
  const { pairs } = joined.metadata.joined;
  const placed: Picture[] = [];
  pictures.forEach((picture, index) => {
    const named = placedPicture(picture, [1, 0, 0, 1, 0, 0], (id) => `${prefixes[index] ?? ""}${id}`);
    placed.push(placedPicture(named, placeBeside(placed, named, pairs)));
  });
  const picture = combinedPicture(placed);
  return { graph: drawingGraph(joined), picture, connections: connectionsOf(picture, pairs), pairs };
}

/** Right of what is there, or left of it if the connector that leads there is in its left half. */
function placeBeside(placed: Picture[], next: Picture, pairs: JoinedPair[]): Matrix {
  if (placed.length === 0) return [1, 0, 0, 1, 0, 0];
  const there = combinedPicture(placed);
  const [own, other] = firstPair(there, next, pairs);
  const isLeft = other !== undefined && middleOf(other).x < there.extent.x + there.extent.width / 2;
  const x = isLeft
    ? there.extent.x - GAP - next.extent.width - next.extent.x
    : there.extent.x + there.extent.width + GAP - next.extent.x;
  const y = own && other ? middleOf(other).y - middleOf(own).y : there.extent.y - next.extent.y;
  return [1, 0, 0, 1, x, y];
}

function firstPair(there: Picture, next: Picture, pairs: JoinedPair[]): [own?: Box, other?: Box] {
  for (const { from, to } of pairs) {
    for (const [one, two] of [
      [from, to],
      [to, from],
    ] as const) {
      const own = next.items.get(one);
      const other = there.items.get(two);
      if (own && other) return [own.box, other.box];
    }
  }
  return [];
}

function connectionsOf(picture: Picture, pairs: JoinedPair[]): Connection[] {
  return pairs.flatMap(({ from, to }) => {
    const [one, two] = [picture.items.get(from), picture.items.get(to)];
    return one && two ? [connection(one.box, two.box)] : [];
  });
}

/** From edge to edge, so that the connectors are not crossed. */
function connection(from: Box, to: Box): Connection {
  const isToTheRight = middleOf(from).x <= middleOf(to).x;
  const start = { x: isToTheRight ? from.x + from.width : from.x, y: middleOf(from).y };
  const end = { x: isToTheRight ? to.x : to.x + to.width, y: middleOf(to).y };
  return { from: start, to: end };
}

function middleOf({ x, y, width, height }: Box): Point {
  return { x: x + width / 2, y: y + height / 2 };
}

/** The connector that continues another, on the same picture or on the other sheet. */
export function partnerOf(pairs: JoinedPair[], id: string): string | null {
  for (const { from, to } of pairs) {
    if (from === id) return to;
    if (to === id) return from;
  }
  return null;
}
