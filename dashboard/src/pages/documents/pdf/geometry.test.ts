/** Tests of `geometry.ts`. */
import type { TextItem } from "pdfjs-dist/types/src/display/api";
import { expect, test } from "vitest";
import { itemAt, itemBox } from "./geometry";

/** A page of 100 by 200 points: the viewport counts from the top. */
const viewport = { convertToViewportPoint: (x: number, y: number) => [x, 200 - y] };
const item = (transform: number[], str = "abcd", width = 40) =>
  ({ str, width, height: 10, transform, dir: "ltr", fontName: "f", hasEOL: false }) as TextItem;

test("a part of an item has its share of the width", () => {
  const box = itemBox(item([10, 0, 0, 10, 20, 100]), { item: 0, from: 1, to: 3 }, viewport);
  expect(box.left).toBeCloseTo(30);
  expect(box.width).toBeCloseTo(20);
  expect(box.top).toBeCloseTo(100 - 8.8);
  expect(box.height).toBeCloseTo(11);
});

test("text that runs upwards has an upright box", () => {
  const box = itemBox(item([0, 10, -10, 0, 50, 100]), { item: 0, from: 0, to: 4 }, viewport);
  expect(box.height).toBeCloseTo(40);
  expect(box.width).toBeCloseTo(11);
});

test("a point is on the item that it hits", () => {
  const items = [item([10, 0, 0, 10, 20, 100]), item([10, 0, 0, 10, 20, 50])];
  expect(itemAt(items, 25, 148, viewport)).toBe(1);
  expect(itemAt(items, 90, 20, viewport)).toBeNull();
});
