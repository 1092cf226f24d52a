/** Overview of a drawing; a click moves the view. */
import { type MouseEvent, memo, useMemo } from "react";
import type { Box } from "./geometry";

interface MinimapProps {
  extent: Box;
  visible: Box;
  points: { x: number; y: number }[];
  onMove: (x: number, y: number) => void;
}

export function Minimap({ extent, visible, points, onMove }: MinimapProps) {
  const dots = useMemo(() => points.map(({ x, y }) => `M${x} ${y}h0`).join(""), [points]);
  const onClick = (event: MouseEvent<SVGSVGElement>) => {
    const matrix = event.currentTarget.getScreenCTM();
    if (matrix === null) return;
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
    onMove(x, y);
  };
  const viewBox = `${extent.x} ${extent.y} ${extent.width} ${extent.height}`;
  return (
    <div className="minimap">
      <Items viewBox={viewBox} dots={dots} />
      <svg aria-hidden="true" viewBox={viewBox} onClick={onClick}>
        <rect className="minimap-window" {...visible} />
      </svg>
    </div>
  );
}

/** A picture of its own, which is not drawn again when the window moves. */
const Items = memo(function Items({ viewBox, dots }: { viewBox: string; dots: string }) {
  return (
    <svg aria-hidden="true" viewBox={viewBox}>
      <path className="minimap-items" d={dots} />
    </svg>
  );
});
