/** Bounds of the outline of a shape. */
import type { Box } from "./geometry";

/** Grows by points and is read as a box. */
export class Bounds {
  private left = Number.POSITIVE_INFINITY;
  private top = Number.POSITIVE_INFINITY;
  private right = Number.NEGATIVE_INFINITY;
  private bottom = Number.NEGATIVE_INFINITY;

  add(x: number, y: number): void {
    if (x < this.left) this.left = x;
    if (x > this.right) this.right = x;
    if (y < this.top) this.top = y;
    if (y > this.bottom) this.bottom = y;
  }

  addBox({ x, y, width, height }: Box): void {
    this.add(x, y);
    this.add(x + width, y + height);
  }

  box(): Box | null {
    if (this.left > this.right) return null;
    return { x: this.left, y: this.top, width: this.right - this.left, height: this.bottom - this.top };
  }
}

/** The number of numbers that follow a command of path data. */
const COUNTS: Record<string, number> = { M: 2, L: 2, H: 1, V: 1, C: 6, S: 4, Q: 4, T: 2, A: 7, Z: 0 };
const TOKEN = /([MLHVCSQTAZ])|([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)/gi;

/** A box around path data. Curves count with their control points, so the box may be a little too large. */
export function pathBox(data: string): Box | null {
  const bounds = new Bounds();
  const at = { x: 0, y: 0, startX: 0, startY: 0 };
  let command = "";
  let values: number[] = [];
  for (const [, letter, number] of data.matchAll(TOKEN)) {
    if (letter !== undefined) {
      command = letter;
      values = [];
      if (command.toUpperCase() === "Z") Object.assign(at, { x: at.startX, y: at.startY });
      continue;
    }
    values.push(Number(number));
    if (values.length < (COUNTS[command.toUpperCase()] ?? 1)) continue;
    addStep(bounds, at, command, values);
    values = [];
    // Further pairs after a move are lines.
    if (command === "M") command = "L";
    else if (command === "m") command = "l";
  }
  return bounds.box();
}

interface Place {
  x: number;
  y: number;
  startX: number;
  startY: number;
}

function addStep(bounds: Bounds, at: Place, command: string, values: number[]): void {
  const kind = command.toUpperCase();
  const isRelative = command !== kind;
  const [originX, originY] = isRelative ? [at.x, at.y] : [0, 0];
  if (kind === "H") at.x = originX + (values[0] ?? 0);
  else if (kind === "V") at.y = originY + (values[0] ?? 0);
  else if (kind === "A") {
    addArc(bounds, at, values, originX, originY);
  } else {
    for (let index = 0; index + 1 < values.length; index += 2) {
      bounds.add(originX + (values[index] ?? 0), originY + (values[index + 1] ?? 0));
    }
    at.x = originX + (values.at(-2) ?? 0);
    at.y = originY + (values.at(-1) ?? 0);
  }
  if (kind === "M") Object.assign(at, { startX: at.x, startY: at.y });
  bounds.add(at.x, at.y);
}

/** An arc stays within one diameter of both of its ends. */
function addArc(bounds: Bounds, at: Place, values: number[], originX: number, originY: number): void {
  const [radiusX = 0, radiusY = 0, , isLarge = 0, , endX = 0, endY = 0] = values;
  const end = { x: originX + endX, y: originY + endY };
  const reach = isLarge ? 2 : 1;
  const middle = { x: (at.x + end.x) / 2, y: (at.y + end.y) / 2 };
  bounds.add(middle.x - reach * radiusX, middle.y - reach * radiusY);
  bounds.add(middle.x + reach * radiusX, middle.y + reach * radiusY);
  Object.assign(at, end);
}
