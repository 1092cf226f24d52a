/** Tests of `answerParts.ts`. */
import { expect, test } from "vitest";
import { answerParts } from "./answerParts";

test("citations are told apart from other numbers in brackets", () => {
  const parts = answerParts("Set at 15 barg [1, 2], see [9].", (marker) => marker <= 2);
  expect(parts.map((part) => part.marker ?? part.text)).toEqual(["Set at 15 barg ", 1, 2, ", see [9]."]);
});

test("a citation that is not complete yet is text", () => {
  expect(answerParts("Set [1", () => true)).toEqual([{ start: 0, text: "Set [1", marker: null }]);
});
