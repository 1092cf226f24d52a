/** Geometry of the view on a drawing. */

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Screen = drawing · k + (x, y). */
export interface Transform {
  x: number;
  y: number;
  k: number;
}

export function parseViewBox(text: string | null): Box {
  const [x = 0, y = 0, width = 0, height = 0] = (text ?? "").split(/[\s,]+/).map(Number);
  const isValid = [x, y, width, height].every(Number.isFinite) && width > 0 && height > 0;
  return isValid ? { x, y, width, height } : { x: 0, y: 0, width: 1000, height: 700 };
}

/** The transform that shows a box in the middle of a window. */
export function fitBox(box: Box, width: number, height: number, margin = 24, maxScale = 4): Transform {
  const room = (size: number) => Math.max(size - 2 * margin, 1);
  const k = Math.min(room(width) / box.width, room(height) / box.height, maxScale);
  return {
    k,
    x: width / 2 - k * (box.x + box.width / 2),
    y: height / 2 - k * (box.y + box.height / 2),
  };
}

/** The part of the drawing that a window shows. */
export function visibleBox(view: Transform, width: number, height: number): Box {
  return { x: -view.x / view.k, y: -view.y / view.k, width: width / view.k, height: height / view.k };
}

/** Returns whether two boxes touch. */
export function touches(a: Box, b: Box): boolean {
  return a.x <= b.x + b.width && b.x <= a.x + a.width && a.y <= b.y + b.height && b.y <= a.y + a.height;
}

export function contains(outer: Box, inner: Box): boolean {
  return (
    outer.x <= inner.x &&
    outer.y <= inner.y &&
    inner.x + inner.width <= outer.x + outer.width &&
    inner.y + inner.height <= outer.y + outer.height
  );
}

/** The smallest box around others; null without any. */
export function unionOf(boxes: Box[]): Box | null {
  return boxes.reduce<Box | null>((all, box) => {
    if (all === null) return box;
    const x = Math.min(all.x, box.x);
    const y = Math.min(all.y, box.y);
    const right = Math.max(all.x + all.width, box.x + box.width);
    const bottom = Math.max(all.y + all.height, box.y + box.height);
    return { x, y, width: right - x, height: bottom - y };
  }, null);
}

/** Distance of a point from a box; 0 inside. */
export function distanceTo({ x, y, width, height }: Box, pointX: number, pointY: number): number {
  const dx = Math.max(x - pointX, 0, pointX - x - width);
  const dy = Math.max(y - pointY, 0, pointY - y - height);
  return Math.hypot(dx, dy);
}
