/** Tests of `wordBoxes.ts`. */
import { expect, test } from "vitest";
import type { PageWords } from "./queries";
import { wordBoxes } from "./wordBoxes";

const word = (start: number, box: number[]) => ({ start, end: start + 4, text: "word", box });
const page = (words: PageWords["words"]): PageWords => ({
  page: 1,
  start: 0,
  end: 100,
  unit: "point",
  width: 600,
  height: 800,
  rotation: 0,
  words,
});

test("words beside each other have one mark, in the size of the page on the screen", () => {
  const line = [word(0, [60, 100, 80, 110]), word(5, [83, 101, 120, 111]), word(10, [300, 100, 320, 110])];
  expect(wordBoxes(page(line), null, 1200)).toEqual([
    { left: 120, top: 200, width: 120, height: 22 },
    { left: 600, top: 200, width: 40, height: 20 },
  ]);
});

test("lines below each other have a mark each, also where a line goes back to the left", () => {
  const text = [word(0, [60, 100, 80, 110]), word(5, [60, 112, 120, 122]), word(10, [10, 112, 30, 122])];
  expect(wordBoxes(page(text), null, 600)).toHaveLength(3);
});

test("only the words that the range touches are marked", () => {
  const text = [word(0, [60, 100, 80, 110]), word(5, [83, 100, 100, 110]), word(10, [103, 100, 120, 110])];
  expect(wordBoxes(page(text), { start: 6, end: 10 }, 600)).toEqual([
    { left: 83, top: 100, width: 17, height: 10 },
  ]);
  expect(wordBoxes(page(text), { start: 4, end: 5 }, 600)).toEqual([]);
});
