/** Tests of `marks.ts`. */
import { expect, test } from "vitest";
import { queryWords, quoteRanges, quotesOf, tagRanges, textParts, wordRanges } from "./marks";

const slices = (text: string, ranges: { start: number; end: number }[]) =>
  ranges.map(({ start, end }) => text.slice(start, end));

test("the words of a question are those that say something, with tags as one word", () => {
  expect(queryWords("What is PSV-2015A set at?")).toEqual(["psv-2015a", "set"]);
});

test("words are marked as whole words, with their usual endings", () => {
  const text = "The pumps are pumping; a pump house, not a Pumpkin.";
  expect(slices(text, wordRanges(text, ["pump"]))).toEqual(["pumps", "pumping", "pump"]);
});

test("words with characters of regular expressions are literal", () => {
  expect(slices("a.c abc [x", wordRanges("a.c abc [x", queryWords("[ (a.c")))).toEqual(["a.c"]);
});

test("quotes are found with other white space", () => {
  const text = "repair it where it is\n  thinner than 5 mm.";
  const quotes = quotesOf("“repair it where it is thinner than 5 mm.” [1]");
  expect(slices(text, quoteRanges(text, quotes))).toEqual([text]);
});

test("tags are whole tags, the longest first", () => {
  const text = "P-101 feeds P-101A, not XP-101 or P-1011.";
  expect(tagRanges(text, ["P-101", "P-101A"]).map(({ tag }) => tag)).toEqual(["P-101", "P-101A"]);
});

test("parts cover the text, and a tag inside of a mark is both", () => {
  const text = "open V-101 now";
  const parts = textParts(text, [{ start: 0, end: 10 }], tagRanges(text, ["V-101"]));
  expect(parts.map((part) => part.text).join("")).toBe(text);
  expect(parts).toContainEqual({ start: 5, text: "V-101", isMarked: true, tag: "V-101" });
});
