/** Tests of `passages.ts`. */
import { expect, test } from "vitest";
import { pageText, passageOfItem, passageRanges } from "./passages";

const items = ["K-301 compresses ﬂash gas", " ", "from V-101. Set at 12 bar.", "Page 1 of 2"];
const page = pageText(items);

test("a passage is found across items, with resolved ligatures and other white space", () => {
  expect(passageRanges(page, "compresses\nflash gas from V-101.")).toEqual([
    { item: 0, from: 6, to: 25 },
    { item: 2, from: 0, to: 11 },
  ]);
});

test("a passage that goes on on the next page is marked up to the end of its text", () => {
  const ranges = passageRanges(page, "from V-101. Set at 12 bar. Second page: start of K-301.");
  expect(ranges).toEqual([{ item: 2, from: 0, to: 26 }]);
});

test("text that is not on the page is not marked", () => {
  expect(passageRanges(page, "Open the suction valve of P-101A and vent it.")).toEqual([]);
  expect(passageRanges(page, "")).toEqual([]);
});

test("an item belongs to the passage that contains it with its surroundings", () => {
  const passages = ["Set at 12 bar. Page 1 of 2", "K-301 compresses flash gas from V-101. Set at 12 bar."];
  expect(passageOfItem(items, 0, passages)).toBe(1);
  expect(passageOfItem(["unknown"], 0, passages)).toBeNull();
});
