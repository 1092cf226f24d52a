/** Tests of `format.ts`. */
import { expect, test } from "vitest";
import { formatBytes, formatCount, formatScore, formatSentence } from "./format";

test("counts have the right form of the noun", () => {
  expect(formatCount(1, "document")).toBe("1 document");
  expect(formatCount(0, "document")).toBe("0 documents");
});

test("sizes have the unit that keeps them short", () => {
  expect(formatBytes(0)).toBe("0 B");
  expect(formatBytes(930)).toBe("930 B");
  expect(formatBytes(1533)).toBe("1.5 KiB");
  expect(formatBytes(100 * 1024 * 1024)).toBe("100 MiB");
  expect(formatBytes(7_000_000_000_000)).toBe("6,519.3 GiB");
});

test("small scores keep the digits that tell them apart", () => {
  expect(formatScore(0.00038)).toBe("3.8e-4");
  expect(formatScore(0.6171)).toBe("0.617");
  expect(formatScore(0)).toBe("0");
});

test("descriptions are sentences", () => {
  expect(formatSentence("the separator")).toBe("The separator.");
});
