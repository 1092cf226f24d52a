/** Tests of `alignment.ts`. */
import { expect, it } from "vitest";
import { alignment } from "./alignment";
import { IDENTITY } from "./matrix";
import type { PictureItem } from "./picture";

const PLACES = [
  [0, 0],
  [100, 40],
  [200, 40],
  [300, 90],
  [400, 200],
];

const items = (place: (x: number, y: number) => [number, number]) =>
  new Map<string, PictureItem>(
    PLACES.map(([x = 0, y = 0], index) => {
      const [left, top] = place(x, y);
      const box = { x: left - 5, y: top - 5, width: 10, height: 10 };
      return [`n${index}`, { id: `n${index}`, box, isLine: false, shapes: [] }];
    }),
  );

it("finds where the layout was moved and enlarged", () => {
  const old = items((x, y) => [x, y]);
  const now = items((x, y) => [2 * x + 30, 2 * y - 10]);
  expect(alignment(old, now)).toEqual([2, 0, 0, 2, 30, -10]);
});

it("does not follow one item that was moved", () => {
  const old = items((x, y) => [x, y]);
  const now = items((x, y) => (x === 300 ? [320, 95] : [x, y]));
  expect(alignment(old, now)).toEqual([1, 0, 0, 1, 0, 0]);
});

it("moves nothing if nothing is common", () => {
  expect(
    alignment(
      new Map(),
      items((x, y) => [x, y]),
    ),
  ).toEqual(IDENTITY);
});
