/** Tests of `geometry.ts`. */
import { expect, it } from "vitest";
import { contains, distanceTo, fitBox, parseViewBox, unionOf, visibleBox } from "./geometry";

it("shows the fitted box in the middle of the window", () => {
  const view = fitBox({ x: 100, y: 50, width: 200, height: 100 }, 448, 248);
  expect(view.k).toBe(2);
  expect(visibleBox(view, 448, 248)).toEqual({ x: 88, y: 38, width: 224, height: 124 });
});

it("measures the distance from a box", () => {
  const box = { x: 0, y: 0, width: 10, height: 10 };
  expect(distanceTo(box, 5, 5)).toBe(0);
  expect(distanceTo(box, 13, 14)).toBe(5);
});

it("replaces a view box without size", () => {
  expect(parseViewBox("-62.4 -54.0 1684.4 772.0")).toEqual({ x: -62.4, y: -54, width: 1684.4, height: 772 });
  expect(parseViewBox("0 0 0 x").width).toBe(1000);
});

it("finds the box around others", () => {
  const [one, other] = [
    { x: 0, y: 5, width: 10, height: 10 },
    { x: 20, y: 0, width: 5, height: 5 },
  ];
  const all = unionOf([one, other]);
  expect(all).toEqual({ x: 0, y: 0, width: 25, height: 15 });
  expect(all && contains(all, other) && !contains(one, other)).toBe(true);
  expect(unionOf([])).toBeNull();
});
