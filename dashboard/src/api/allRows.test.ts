/** Tests of lists in pages. */
import { expect, test } from "vitest";
import { allRows, PAGE_SIZE } from "./allRows";

test("a list is read to its last page", async () => {
  const pages: Record<string, { data: number[]; next_cursor: string | null }> = {
    first: { data: [1, 2], next_cursor: "b" },
    b: { data: [], next_cursor: "c" },
    c: { data: [3], next_cursor: null },
  };
  const asked: unknown[] = [];
  const rows = await allRows(async (query) => {
    asked.push(query);
    return pages[query.cursor ?? "first"] ?? { data: [], next_cursor: null };
  });
  expect(rows).toEqual([1, 2, 3]);
  expect(asked).toEqual([
    { limit: PAGE_SIZE },
    { limit: PAGE_SIZE, cursor: "b" },
    { limit: PAGE_SIZE, cursor: "c" },
  ]);
});
