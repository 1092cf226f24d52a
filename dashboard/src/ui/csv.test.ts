/** Tests of `csv.ts`. */
import { expect, it } from "vitest";
import { csvOf } from "./csv";

it("quotes what would end a field, and makes formulas texts", () => {
  expect(
    csvOf([
      ["a", 'b "c", d'],
      ["=1+1", "two\nlines"],
    ]),
  ).toBe('a,"b ""c"", d"\r\n\'=1+1,"two\nlines"\r\n');
});
