/** Transforms of shapes, as the six numbers of SVG and canvas: x' = a·x + c·y + e, y' = b·x + d·y + f. */
import type { Box } from "./geometry";

export type Matrix = readonly [a: number, b: number, c: number, d: number, e: number, f: number];

export const IDENTITY: Matrix = [1, 0, 0, 1, 0, 0];

/** The transform that applies `inner` first, then `outer`. */
export function multiply(outer: Matrix, inner: Matrix): Matrix {
  const [a, b, c, d, e, f] = outer;
  const [g, h, i, j, k, l] = inner;
  return [a * g + c * h, b * g + d * h, a * i + c * j, b * i + d * j, a * k + c * l + e, b * k + d * l + f];
}

/** The factor by which a transform enlarges. */
export function scaleOf([a, b, c, d]: Matrix): number {
  return Math.sqrt(Math.abs(a * d - b * c));
}

type Step = (...values: number[]) => Matrix;

const STEPS: Record<string, Step> = {
  translate: (x = 0, y = 0) => [1, 0, 0, 1, x, y],
  scale: (x = 1, y = x) => [x, 0, 0, y, 0, 0],
  rotate: (degrees = 0, x = 0, y = 0) => {
    const cos = Math.cos((degrees * Math.PI) / 180);
    const sin = Math.sin((degrees * Math.PI) / 180);
    return [cos, sin, -sin, cos, x - cos * x + sin * y, y - sin * x - cos * y];
  },
  matrix: (a = 1, b = 0, c = 0, d = 1, e = 0, f = 0) => [a, b, c, d, e, f],
};

/** Reads the attribute `transform`; what is no transform counts as none. */
export function parseTransform(text: string): Matrix {
  let result = IDENTITY;
  for (const [, name = "", list = ""] of text.matchAll(/(\w+)\s*\(([^)]*)\)/g)) {
    const values = list
      .trim()
      .split(/[\s,]+/)
      .map(Number);
    const step = Object.hasOwn(STEPS, name) ? STEPS[name] : undefined;
    if (step && values.every(Number.isFinite)) result = multiply(result, step(...values));
  }
  return result;
}

/** The smallest upright box around a transformed box. */
export function transformBox([a, b, c, d, e, f]: Matrix, { x, y, width, height }: Box): Box {
  const middleX = x + width / 2;
  const middleY = y + height / 2;
  const halfWidth = (Math.abs(a) * width + Math.abs(c) * height) / 2;
  const halfHeight = (Math.abs(b) * width + Math.abs(d) * height) / 2;
  return {
    x: a * middleX + c * middleY + e - halfWidth,
    y: b * middleX + d * middleY + f - halfHeight,
    width: 2 * halfWidth,
    height: 2 * halfHeight,
  };
}
