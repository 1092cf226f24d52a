/** Tests of `tiles.ts`. */
import { expect, it } from "vitest";
import { visibleBox } from "./geometry";
import { TILE, type Tile, TileStore, tileBox, tileKey, tilePlace, tilesOver } from "./tiles";

const EXTENT = { x: -62, y: -54, width: 1684, height: 772 };
const picture = () => ({
  isClosed: false,
  close() {
    this.isClosed = true;
  },
});
const tile = (column: number, scale = 1): Tile => ({ scale, column, row: 0 });

it("covers the window with tiles that meet without gap or overlap", () => {
  for (const k of [0.3, 0.77, 1, 1.31, 4]) {
    for (const ratio of [1, 1.5, 2]) {
      const view = { x: -123.4 * k, y: -77.7 * k, k };
      const visible = visibleBox(view, 800, 600);
      for (const one of tilesOver(visible, 0.77, EXTENT)) {
        const place = tilePlace(one, view, ratio);
        const right = tilePlace({ ...one, column: one.column + 1 }, view, ratio);
        const below = tilePlace({ ...one, row: one.row + 1 }, view, ratio);
        expect(place.x + place.width).toBe(right.x);
        expect(place.y + place.height).toBe(below.y);
      }
    }
  }
});

it("shows a tile of the scale of the view pixel by pixel", () => {
  const place = tilePlace({ scale: 0.77, column: 3, row: -1 }, { x: 0.3, y: -17.9, k: 0.77 }, 2);
  expect([place.width, place.height]).toEqual([2 * TILE, 2 * TILE]);
});

it("paints nothing outside of the drawing, and its middle first", () => {
  const far = { x: -1e6, y: -1e6, width: 2e6, height: 2e6 };
  const tiles = tilesOver(far, 1, EXTENT);
  expect(tiles).toHaveLength(8 * 4);
  const { x, y, width, height } = tileBox(tiles[0] as Tile);
  expect(Math.abs(x + width / 2 - 780)).toBeLessThanOrEqual(TILE / 2 + 1);
  expect(Math.abs(y + height / 2 - 332)).toBeLessThanOrEqual(TILE / 2 + 1);
  expect(tilesOver({ x: 9000, y: 0, width: 10, height: 10 }, 1, EXTENT)).toEqual([]);
});

it("drops the tiles that were not used for the longest time, and closes them", () => {
  const store = new TileStore<ReturnType<typeof picture>>(2);
  const [first, second, third] = [picture(), picture(), picture()];
  store.set(tile(1), first);
  store.set(tile(2), second);
  store.get(tile(1));
  store.set(tile(3), third);
  expect([1, 2, 3].map((column) => store.has(tile(column)))).toEqual([true, false, true]);
  expect([first.isClosed, second.isClosed]).toEqual([false, true]);
});

it("keeps the tiles of the whole drawing", () => {
  const store = new TileStore<ReturnType<typeof picture>>(2);
  store.keptScale = 0.5;
  for (const column of [1, 2]) store.set(tile(column, 0.5), picture());
  for (const column of [1, 2, 3]) store.set(tile(column), picture());
  expect([1, 2].every((column) => store.has(tile(column, 0.5)))).toBe(true);
  expect(store.size).toBe(2);
});

it("has one key per tile", () => {
  expect(tileKey({ scale: 1.5, column: -1, row: 2 })).toBe("1.5:-1:2");
});
