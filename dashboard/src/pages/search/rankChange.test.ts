/** Tests of rank changes. */
import { expect, test } from "vitest";
import { rankChange } from "./rankChange";

const BEFORE = [{ chunk_id: "a" }, { chunk_id: "b" }, { chunk_id: "c" }];

test.each([
  ["a", 0, "="],
  ["c", 0, "+2"],
  ["a", 1, "-1"],
  ["d", 0, "new"],
])("%s at %i: %s", (chunk_id, rank, change) => expect(rankChange(BEFORE, { chunk_id }, rank)).toBe(change));
