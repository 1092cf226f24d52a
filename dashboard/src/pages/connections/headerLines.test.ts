/** Tests of `headerLines.ts`. */
import { expect, test } from "vitest";
import { headersOf } from "./headerLines";

test("each line is a header; its value may contain colons", () => {
  expect(headersOf("X-Org: a:b \n\nx-team:c")).toEqual({ "X-Org": "a:b", "x-team": "c" });
});

test("a line without a name is an error", () => {
  expect(headersOf("no header")).toBeNull();
  expect(headersOf(": value")).toBeNull();
  expect(headersOf("a b: value")).toBeNull();
});
