/** Tests of `geometry.ts`. */
import { expect, it } from "vitest";
import { fitBox, parseViewBox, relativeTransform, visibleBox } from "./geometry";

it("shows the fitted box in the middle of the window", () => {
  const view = fitBox({ x: 100, y: 50, width: 200, height: 100 }, 448, 248);
  expect(view.k).toBe(2);
  expect(visibleBox(view, 448, 248)).toEqual({ x: 88, y: 38, width: 224, height: 124 });
});

it("moves what was drawn to where it is now", () => {
  const drawn = { x: 10, y: 20, k: 2 };
  const now = { x: -5, y: 7, k: 3 };
  const { x, y, k } = relativeTransform(drawn, now);
  expect((drawn.k * 40 + drawn.x) * k + x).toBeCloseTo(now.k * 40 + now.x);
  expect((drawn.k * 40 + drawn.y) * k + y).toBeCloseTo(now.k * 40 + now.y);
});

it("replaces a view box without size", () => {
  expect(parseViewBox("-62.4 -54.0 1684.4 772.0")).toEqual({ x: -62.4, y: -54, width: 1684.4, height: 772 });
  expect(parseViewBox("0 0 0 x").width).toBe(1000);
});
