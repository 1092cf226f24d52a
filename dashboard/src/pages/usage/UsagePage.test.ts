/** Tests of sizes. */
import { expect, test } from "vitest";
import { sizeText } from "./UsagePage";

test.each([
  [0, "0 byte"],
  [999, "999 byte"],
  [1533, "1.5 kB"],
  [40_526_316, "40.5 MB"],
  [7_000_000_000_000, "7,000 GB"],
])("%i bytes are %s", (bytes, text) => expect(sizeText(bytes)).toBe(text));
