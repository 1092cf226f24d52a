/** Tests of `codePoints.ts`. */
import { expect, test } from "vitest";
import { codePointOffset, sliceCodePoints, utf16Indexes } from "./codePoints";

test("characters outside of the basic plane are one code point", () => {
  const text = "a😀b😀c";
  expect([...utf16Indexes(text, [4, 0, 2, 9])]).toEqual([
    [0, 0],
    [2, 3],
    [4, 6],
    [9, 7],
  ]);
  expect(sliceCodePoints(text, 1, 3)).toBe("😀b");
  expect(codePointOffset(text, 3)).toBe(2);
});

test("offsets of other texts are indexes", () => {
  expect([...utf16Indexes("m³/h", [2, 99])]).toEqual([
    [2, 2],
    [99, 4],
  ]);
});
