/** Tests of `grid.ts`, beside a search of all boxes. */
import { expect, it } from "vitest";
import { type Box, touches } from "./geometry";
import { Grid } from "./grid";

const EXTENT = { x: -50, y: -50, width: 400, height: 300 };

/** Boxes spread by a fixed sequence, some of them outside of the extent. */
function boxes(count: number): Box[] {
  let seed = 7;
  const next = (range: number) => {
    seed = (seed * 16807) % 2147483647;
    return (seed / 2147483647) * range;
  };
  return Array.from({ length: count }, () => ({
    x: next(600) - 150,
    y: next(500) - 150,
    width: next(60),
    height: next(30),
  }));
}

it("finds the boxes that a search of all finds", () => {
  const all = boxes(300);
  const grid = new Grid(all, EXTENT);
  for (const area of [...boxes(40), EXTENT, { x: -1000, y: -1000, width: 3000, height: 3000 }]) {
    const wanted = all.flatMap((box, index) => (touches(box, area) ? index : []));
    expect(grid.find(area)).toEqual(wanted);
  }
});

it("finds nothing among nothing", () => {
  expect(new Grid([], EXTENT).find(EXTENT)).toEqual([]);
});

it("copes with a drawing without size", () => {
  const point = { x: 0, y: 0, width: 0, height: 0 };
  expect(new Grid([point], point).find(point)).toEqual([0]);
});
