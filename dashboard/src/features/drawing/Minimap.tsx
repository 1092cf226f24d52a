/** Overview of a drawing with the part that is in view; a click or a drag moves the view. */
import { type PointerEvent, useEffect, useRef } from "react";
import { fitBox } from "./geometry";
import type { DrawingView } from "./view";

const WIDTH = 170;
const LEAST_HEIGHT = 48;
const MOST_HEIGHT = 130;

export function Minimap({ view }: { view: DrawingView }) {
  const canvasRef = useRef<HTMLCanvasElement>(null);
  const windowRef = useRef<HTMLDivElement>(null);
  const { extent } = view;
  const height = Math.min(Math.max((WIDTH * extent.height) / extent.width, LEAST_HEIGHT), MOST_HEIGHT);
  useEffect(() => {
    let isDrawn = false;
    const update = () => {
      // The tiles of the whole drawing are ready when the view rests.
      const isAtRest = view.isPainted;
      if (canvasRef.current && isAtRest && !isDrawn) view.drawOverview(canvasRef.current);
      isDrawn = isAtRest;
      if (windowRef.current) placeWindow(windowRef.current, view, height);
    };
    update();
    return view.onFrame(update);
  }, [view, height]);
  const onPointer = (event: PointerEvent<HTMLDivElement>) => {
    if (event.buttons === 0) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    const frame = event.currentTarget.getBoundingClientRect();
    const { x, y, k } = fitBox(extent, WIDTH, height, 0);
    view.centerAt((event.clientX - frame.left - x) / k, (event.clientY - frame.top - y) / k);
  };
  return (
    <div
      className="minimap"
      aria-hidden="true"
      style={{ width: WIDTH, height }}
      onPointerDown={onPointer}
      onPointerMove={onPointer}
    >
      <canvas ref={canvasRef} width={WIDTH * devicePixelRatio} height={height * devicePixelRatio} />
      <div ref={windowRef} className="minimap-window" />
    </div>
  );
}

function placeWindow(element: HTMLElement, view: DrawingView, height: number): void {
  const { x, y, k } = fitBox(view.extent, WIDTH, height, 0);
  const { visible } = view;
  const left = Math.max(visible.x * k + x, 0);
  const top = Math.max(visible.y * k + y, 0);
  const right = Math.min((visible.x + visible.width) * k + x, WIDTH);
  const bottom = Math.min((visible.y + visible.height) * k + y, height);
  const isWholeInView = left <= x + 1 && top <= y + 1 && right >= WIDTH - x - 1 && bottom >= height - y - 1;
  // It would only cover the drawing.
  if (element.parentElement) element.parentElement.style.visibility = isWholeInView ? "hidden" : "";
  element.style.transform = `translate(${left}px, ${top}px)`;
  element.style.width = `${Math.max(right - left, 0)}px`;
  element.style.height = `${Math.max(bottom - top, 0)}px`;
}
