/** Tests of `textSegments.ts`. */
import { expect, test } from "vitest";
import type { Chunk } from "../../features/documents/queries";
import { textSegments, WINDOW, windowAround } from "./textSegments";

const chunk = (index: number, start: number | null, end: number | null) => ({ index, start, end }) as Chunk;

test("segments cover the text, and those where chunks overlap belong to both", () => {
  const text = "a😀bcdef";
  const chunks = [chunk(0, 0, 4), chunk(1, 3, 7), chunk(2, null, null)];
  const segments = textSegments(text, chunks, { start: 1, end: 2 }, windowAround(text.length, 0));
  expect(segments.map(({ text }) => text)).toEqual(["a", "😀", "b", "c", "def"]);
  expect(segments.map(({ chunks }) => chunks)).toEqual([[0], [0], [0], [0, 1], [1]]);
  expect(segments.map(({ isExact }) => isExact)).toEqual([false, true, false, false, false]);
});

test("of a long text, the part around the selection is shown", () => {
  const window = windowAround(10 * WINDOW, 5 * WINDOW);
  expect(window.end - window.start).toBe(WINDOW);
  expect(window.start).toBeLessThan(5 * WINDOW);
  expect(windowAround(10 * WINDOW, 10 * WINDOW).end).toBe(10 * WINDOW);
  const text = "x".repeat(WINDOW + 10);
  const segments = textSegments(text, [chunk(0, 0, 5), chunk(1, 5, WINDOW + 10)], null, {
    start: 10,
    end: WINDOW,
  });
  expect(segments).toHaveLength(1);
  expect(segments[0]?.chunks).toEqual([1]);
});
