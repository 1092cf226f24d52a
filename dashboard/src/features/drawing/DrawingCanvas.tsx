/** The drawing with its buttons for the view and a small overview. */
import { Maximize, Minus, Plus } from "lucide-react";
import {
  type MouseEvent,
  type PointerEvent,
  type RefObject,
  useCallback,
  useEffect,
  useRef,
  useState,
} from "react";
import { IconButton } from "../../ui/Button";
import { hasSingleKeys, isTyping } from "../../ui/singleKeys";
import { MarkLegend } from "./MarkLegend";
import { Minimap } from "./Minimap";
import type { Connection } from "./markLayer";
import type { Marks } from "./marks";
import { classOf, type DrawingGraph, lineOf, nameOf } from "./model";
import type { Picture, PictureItem } from "./picture";
import { type KeyPress, type ShortcutAction, shortcutOf } from "./shortcuts";
import { DrawingView } from "./view";
import "./drawing.css";

interface DrawingCanvasProps {
  label: string;
  picture: Picture;
  graph: DrawingGraph;
  marks: Marks;
  /** Items of an older version, drawn as dashed outlines. */
  ghosts?: ReadonlyMap<string, PictureItem> | undefined;
  /** Connectors of different sheets that continue each other. */
  connections?: Connection[];
  selected: string | null;
  /** Set if the marks are those of a result, which is brought into view. */
  isResult?: boolean;
  onSelect: (id: string | null) => void;
  /** Goes on where an off-page connector leads; returns whether it leads anywhere. */
  onFollow?: ((id: string) => boolean) | undefined;
  /** Does what a key means that is not about the view. */
  onShortcut: (action: ShortcutAction) => void;
  /** The element that takes the keys. */
  hostRef: RefObject<HTMLDivElement | null>;
}

const NO_GHOSTS: ReadonlyMap<string, PictureItem> = new Map();
const NO_CONNECTIONS: Connection[] = [];

const STEP = 80;
const MOVES: Partial<Record<ShortcutAction, (view: DrawingView) => void>> = {
  zoomIn: (view) => view.zoomBy(1.4),
  zoomOut: (view) => view.zoomBy(1 / 1.4),
  fit: (view) => view.fit(),
  left: (view) => view.panBy(STEP, 0),
  right: (view) => view.panBy(-STEP, 0),
  up: (view) => view.panBy(0, STEP),
  down: (view) => view.panBy(0, -STEP),
};

export function DrawingCanvas(props: DrawingCanvasProps) {
  const { label, picture, graph, marks, selected, onSelect, onFollow, hostRef } = props;
  const { ghosts = NO_GHOSTS, connections = NO_CONNECTIONS, isResult = false } = props;
  const clickedRef = useRef<string | null>(null);
  const view = useView(hostRef, picture);
  const [hovered, setHovered] = useState<{ id: string; x: number; y: number } | null>(null);

  useEffect(() => view?.setMarks(marks, selected), [view, marks, selected]);
  useEffect(() => view?.setOverlays(ghosts, connections), [view, ghosts, connections]);
  useEffect(() => {
    // What was clicked is in view already.
    if (selected !== null && selected !== clickedRef.current) view?.revealItem(selected);
    clickedRef.current = null;
  }, [view, selected]);

  useEffect(() => {
    if (isResult && marks.size > 0) view?.revealMarks();
  }, [view, marks, isResult]);

  const onClick = (event: MouseEvent) => {
    const id = view?.itemAt(event.clientX, event.clientY) ?? null;
    const isConnector = id !== null && graph.nodeById.get(id)?.cross_page !== undefined;
    const selectsOnly = event.ctrlKey || event.metaKey || event.shiftKey;
    if (isConnector && !selectsOnly && onFollow?.(id)) return;
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
  const onKeyDown = useShortcuts(hostRef, (action) => {
    const move = MOVES[action];
    if (move && view) move(view);
    else props.onShortcut(action);
  });
  return (
    <div className="drawing">
      <div
        ref={hostRef}
        className="drawing-host"
        role="application"
        tabIndex={0}
        aria-label={`${label}. Keys: plus and minus zoom, 0 shows the whole drawing, arrows move, slash finds an item`}
        onClick={onClick}
        onKeyDown={onKeyDown}
        onPointerMove={onMove}
        onPointerLeave={() => setHovered(null)}
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

/** Listens to the keys of the page while no field has the focus; returns the listener for the drawing itself. */
function useShortcuts(
  hostRef: RefObject<HTMLElement | null>,
  run: (action: ShortcutAction) => void,
): (event: KeyPress) => void {
  const runRef = useRef(run);
  useEffect(() => {
    runRef.current = run;
  });
  const onKeyDown = useCallback(
    (event: KeyPress) => {
      const hasFocus = event.target === hostRef.current;
      const isElsewhere = isTyping(event) || (!hasFocus && !hasSingleKeys());
      const action = event.defaultPrevented ? null : shortcutOf(event, hasFocus, isElsewhere);
      if (action === null) return;
      event.preventDefault();
      runRef.current(action);
    },
    [hostRef],
  );
  useEffect(() => {
    window.addEventListener("keydown", onKeyDown);
    return () => window.removeEventListener("keydown", onKeyDown);
  }, [onKeyDown]);
  return onKeyDown;
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
      {node?.cross_page?.drawing_name && <span>Continues on {node.cross_page.drawing_name}</span>}
      {typeof node?.service === "string" && <span>{node.service}</span>}
    </div>
  );
}
