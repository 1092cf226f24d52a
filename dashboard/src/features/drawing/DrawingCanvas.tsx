/** The drawing with its buttons for the view and a small overview. */
import { Maximize, Minus, Plus } from "lucide-react";
import {
  type KeyboardEvent,
  type MouseEvent,
  type PointerEvent,
  type RefObject,
  useEffect,
  useRef,
  useState,
} from "react";
import { IconButton } from "../../ui/Button";
import { MarkLegend } from "./MarkLegend";
import { Minimap } from "./Minimap";
import type { Connection } from "./markLayer";
import type { Marks } from "./marks";
import { classOf, type DrawingGraph, lineOf, nameOf } from "./model";
import type { Picture, PictureItem, Shape } from "./picture";
import { DrawingView } from "./view";
import "./drawing.css";

interface DrawingCanvasProps {
  label: string;
  picture: Picture;
  graph: DrawingGraph;
  marks: Marks;
  /** Items of an older version, drawn as dashed outlines. */
  ghosts?: ReadonlyMap<string, PictureItem>;
  /** Connectors of different sheets that continue each other. */
  connections?: Connection[];
  selected: string | null;
  onSelect: (id: string | null) => void;
  onSearch: () => void;
}

const NO_GHOSTS: ReadonlyMap<string, PictureItem> = new Map();
const NO_CONNECTIONS: Connection[] = [];

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
  const { ghosts = NO_GHOSTS, connections = NO_CONNECTIONS } = props;
  const hostRef = useRef<HTMLDivElement>(null);
  const clickedRef = useRef<string | null>(null);
  const view = useView(hostRef, picture);
  const [hovered, setHovered] = useState<{ id: string; x: number; y: number } | null>(null);

  useEffect(() => view?.setMarks(marks, selected), [view, marks, selected]);
  useEffect(() => view?.setOverlays(shapesOf(ghosts), connections), [view, ghosts, connections]);
  useEffect(() => {
    // What was clicked is in view already.
    if (selected !== null && selected !== clickedRef.current) {
      const ghost = ghosts.get(selected);
      if (ghost) view?.reveal(ghost.box);
      else view?.revealItem(selected);
    }
    clickedRef.current = null;
  }, [view, selected, ghosts]);

  const onClick = (event: MouseEvent) => {
    const id = view?.itemAt(event.clientX, event.clientY) ?? null;
    clickedRef.current = id;
    onSelect(id);
  };
  const onMove = (event: PointerEvent<HTMLElement>) => {
    const isPointing = event.buttons === 0 && event.pointerType === "mouse";
    const id = isPointing ? view?.itemAt(event.clientX, event.clientY) : null;
    const frame = event.currentTarget.getBoundingClientRect();
    event.currentTarget.style.cursor = id ? "pointer" : "";
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
        onPointerMove={onMove}
        onPointerLeave={() => setHovered(null)}
        onKeyDown={onKeyDown}
      />
      {hovered && <HoverDetails graph={graph} {...hovered} />}
      <MarkLegend graph={graph} marks={marks} ghosts={ghosts.size} />
      {view && <Minimap view={view} />}
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

/** The view on a picture, made when the element is there. */
function useView(hostRef: RefObject<HTMLElement | null>, picture: Picture): DrawingView | null {
  const [view, setView] = useState<DrawingView | null>(null);
  const firstRef = useRef(picture);
  useEffect(() => {
    if (hostRef.current === null) return;
    const view = new DrawingView(hostRef.current, firstRef.current);
    setView(view);
    return () => view.destroy();
  }, [hostRef]);
  useEffect(() => view?.setPicture(picture), [view, picture]);
  return view;
}

function shapesOf(items: ReadonlyMap<string, PictureItem>): Shape[] {
  return [...items.values()].flatMap((item) => item.shapes);
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
