/** The drawing with its buttons for the view and a small overview. */
import { Maximize, Minus, Plus } from "lucide-react";
import { type KeyboardEvent, type MouseEvent, useEffect, useMemo, useRef, useState } from "react";
import { IconButton } from "../../ui/Button";
import type { Box } from "./geometry";
import { Minimap } from "./Minimap";
import type { Marks } from "./marks";
import { classOf, type DrawingGraph, lineOf, nameOf } from "./model";
import { DrawingView } from "./view";
import "./drawing.css";

interface DrawingCanvasProps {
  label: string;
  picture: SVGSVGElement;
  graph: DrawingGraph;
  marks: Marks;
  selected: string | null;
  onSelect: (id: string | null) => void;
  onSearch: () => void;
}

const STEP = 80;
const KEYS: Record<string, (view: DrawingView) => void> = {
  "+": (view) => view.zoomBy(1.4),
  "=": (view) => view.zoomBy(1.4),
  "-": (view) => view.zoomBy(1 / 1.4),
  "0": (view) => view.fit(),
  ArrowLeft: (view) => view.panBy(STEP, 0),
  ArrowRight: (view) => view.panBy(-STEP, 0),
  ArrowUp: (view) => view.panBy(0, STEP),
  ArrowDown: (view) => view.panBy(0, -STEP),
};

export function DrawingCanvas(props: DrawingCanvasProps) {
  const { label, picture, graph, marks, selected, onSelect, onSearch } = props;
  const hostRef = useRef<HTMLDivElement>(null);
  const clickedRef = useRef<string | null>(null);
  const [view, setView] = useState<DrawingView | null>(null);
  const [visible, setVisible] = useState<Box | null>(null);
  const [hovered, setHovered] = useState<{ id: string; x: number; y: number } | null>(null);
  const points = useMemo(() => view?.positions() ?? [], [view]);

  useEffect(() => {
    if (hostRef.current === null) return;
    const view = new DrawingView(hostRef.current, picture.cloneNode(true) as SVGSVGElement, setVisible);
    setView(view);
    return () => view.destroy();
  }, [picture]);
  useEffect(() => view?.mark(marks, selected), [view, marks, selected]);
  useEffect(() => {
    // What was clicked is in view already.
    if (selected !== null && selected !== clickedRef.current) view?.reveal(selected);
    clickedRef.current = null;
  }, [view, selected]);

  const onClick = (event: MouseEvent) => {
    const id = view?.itemAt(event.clientX, event.clientY) ?? null;
    clickedRef.current = id;
    onSelect(id);
  };
  const onMove = (event: MouseEvent<HTMLElement>) => {
    const id = event.buttons === 0 ? view?.itemAt(event.clientX, event.clientY) : null;
    const frame = event.currentTarget.getBoundingClientRect();
    setHovered(id ? { id, x: event.clientX - frame.left, y: event.clientY - frame.top } : null);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || view === null) return;
    if (event.key === "/") onSearch();
    else if (event.key === "Escape") onSelect(null);
    else if (KEYS[event.key]) KEYS[event.key]?.(view);
    else return;
    event.preventDefault();
  };
  return (
    <div className="drawing">
      <div
        ref={hostRef}
        className="drawing-host"
        role="application"
        tabIndex={0}
        aria-label={`${label}. Keys: plus and minus zoom, 0 fits, arrows move, slash searches a tag`}
        onClick={onClick}
        onMouseMove={onMove}
        onMouseLeave={() => setHovered(null)}
        onKeyDown={onKeyDown}
      />
      {hovered && <HoverDetails graph={graph} {...hovered} />}
      {view && visible && (
        <Minimap
          extent={view.extent}
          visible={visible}
          points={points}
          onMove={(x, y) => view.centerAt(x, y)}
        />
      )}
      <div className="drawing-buttons" role="group" aria-label="View">
        <IconButton label="Zoom in (+)" onPress={() => view?.zoomBy(1.4)}>
          <Plus size={17} />
        </IconButton>
        <IconButton label="Zoom out (−)" onPress={() => view?.zoomBy(1 / 1.4)}>
          <Minus size={17} />
        </IconButton>
        <IconButton label="Fit (0)" onPress={() => view?.fit()}>
          <Maximize size={17} />
        </IconButton>
      </div>
    </div>
  );
}

function HoverDetails({ graph, id, x, y }: { graph: DrawingGraph; id: string; x: number; y: number }) {
  const node = graph.nodeById.get(id);
  const edge = graph.edgeById.get(id);
  const line = node ? lineOf(graph, id) : null;
  return (
    <div className="drawing-hover" style={{ left: x + 14, top: y + 14 }}>
      <strong>{node ? nameOf(node, id) : `${edge?.source ?? id} → ${edge?.target ?? ""}`}</strong>
      {node && <span>{classOf(node)}</span>}
      {line && <span>Line {line}</span>}
      {typeof node?.service === "string" && <span>{node.service}</span>}
    </div>
  );
}
