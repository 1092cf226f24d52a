/** Selects an item of the drawing. */
import { type DrawingGraph, nameOf } from "../../features/drawing/model";

interface ItemLinkProps {
  graph: DrawingGraph;
  id: string;
  onSelect: (id: string) => void;
}

export function ItemLink({ graph, id, onSelect }: ItemLinkProps) {
  return (
    <button type="button" className="item-link tag" onClick={() => onSelect(id)}>
      {nameOf(graph.nodeById.get(id), id)}
    </button>
  );
}
