/** Tests of `selection.ts`. */
import { expect, test } from "vitest";
import type { Chunk } from "../../features/documents/queries";
import { selectionOf } from "./selection";

const chunk = (index: number, start: number | null, text: string): Chunk => ({
  id: String(index),
  index,
  start,
  end: start === null ? null : start + text.length,
  text,
  page: 1,
  headings: [],
  tags: [],
  token_estimate: 1,
});
const chunks = [chunk(0, 0, "0123456789"), chunk(1, 8, "89abcdef"), chunk(2, null, "composed")];
const selected = (search: string) => selectionOf(new URLSearchParams(search), chunks);

test("a chunk is named by its index, also one that was composed", () => {
  expect(selected("chunk=2").chunk?.index).toBe(2);
  expect(selected("chunk=9").chunk).toBeNull();
});

test("a chunk is named by its bounds", () => {
  expect(selected("start=8&end=16")).toMatchObject({ chunk: { index: 1 }, exact: null });
});

test("a part of a chunk is marked in the chunk that contains it whole", () => {
  expect(selected("start=9&end=12")).toMatchObject({ chunk: { index: 1 }, exactText: "9ab" });
});

test("addresses that are no numbers select nothing", () => {
  expect(selected("chunk=x&start=-1&page=two")).toEqual({
    chunk: null,
    page: null,
    exact: null,
    exactText: null,
  });
});
