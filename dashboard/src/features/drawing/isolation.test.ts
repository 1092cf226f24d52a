/** Tests of `isolation.ts`. */
import { describe, expect, it } from "vitest";
import { entryText, openReason, verdictOf } from "./isolation";

describe("verdictOf", () => {
  it.each(["yes", "no", "unknown"] as const)("is that of the result: %s", (isolated) => {
    expect(verdictOf({ isolated })).toBe(isolated);
  });
  it("is unknown if the result states none, even if it is complete and certain", () => {
    expect(verdictOf({ complete: true, certain: true, unresolved: [], uncertain: [] })).toBe("unknown");
  });
});

it("names the reason and the other sheet of an open branch", () => {
  const partner = { drawing_name: "900-PID-0003" };
  expect(openReason({ kind: "off_page_connector", at: null, path: [], partner })).toBe(
    "continues on another sheet: 900-PID-0003",
  );
});

it("writes the entries of a result as text", () => {
  expect(entryText({ reason: "unknown_class", node: { id: "a", tag: "STR-1" } })).toBe(
    "reason: unknown class; node: STR-1",
  );
});
