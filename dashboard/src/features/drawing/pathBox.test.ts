/** Tests of `pathBox.ts`. */
import { expect, it } from "vitest";
import { pathBox } from "./pathBox";

it.each([
  ["lines", "M0 320L80 320L80 400", { x: 0, y: 320, width: 80, height: 80 }],
  ["numbers without blanks", "M-10-7V7L10-7V7Z", { x: -10, y: -7, width: 20, height: 14 }],
  ["further pairs after a move", "M0 0 10 0 10 5", { x: 0, y: 0, width: 10, height: 5 }],
  ["relative steps", "M10 10h5v-5m1 1l2 2", { x: 10, y: 5, width: 8, height: 5 }],
  ["steps after the end of a part", "M10 10L20 10Zl0 5", { x: 10, y: 10, width: 10, height: 5 }],
  ["curves with their control points", "M0 0C0 10 20 10 20 0", { x: 0, y: 0, width: 20, height: 10 }],
  ["exponents", "M0 0L1e2 1.5e-1", { x: 0, y: 0, width: 100, height: 0.15 }],
])("encloses %s", (_, data, box) => {
  expect(pathBox(data)).toEqual(box);
});

it("encloses arcs", () => {
  const box = pathBox("M-8 -12A8 8 0 0 1 8 -12Z");
  expect(box?.y).toBeLessThanOrEqual(-20);
  expect(box?.x).toBeLessThanOrEqual(-8);
});

it("has no box for nothing", () => {
  expect(pathBox("")).toBeNull();
  expect(pathBox("Z")).toBeNull();
});
