/** Tests of `isolation.ts`. */
import { describe, expect, it } from "vitest";
import { entryText, type Isolation, openReason, verdictOf } from "./isolation";

const barrier = { node: { id: "HV-1" } };
const closed: Partial<Isolation> = {
  barriers: [barrier],
  unresolved: [],
  kept_open: [],
  uncertain: [],
  data_gaps: [],
  complete: true,
  certain: true,
};

describe("verdictOf", () => {
  it("is yes only if every branch ends at a barrier without doubt", () => {
    expect(verdictOf(closed)).toBe("yes");
  });
  it("does not depend on valves that stay open for relief", () => {
    expect(verdictOf({ ...closed, kept_open: [{ node: "HV-2" }] })).toBe("yes");
  });
  it("is no if a branch stays open, whatever the result states", () => {
    const branch = { kind: "open_end", at: null, path: [] };
    expect(verdictOf({ ...closed, isolated: "yes", unresolved: [branch] })).toBe("no");
    expect(verdictOf({ ...closed, isolated: "no" })).toBe("no");
  });
  it.each<[string, Partial<Isolation>]>([
    ["uncertainty", { uncertain: [{ reason: "unknown_class" }] }],
    ["a gap", { data_gaps: ["missing"] }],
    ["no barrier", { barriers: [] }],
    ["an incomplete result", { complete: false }],
    ["an uncertain result", { certain: false }],
    ["a statement", { isolated: "unknown" }],
  ])("is unknown with %s", (_, change) => {
    expect(verdictOf({ ...closed, ...change })).toBe("unknown");
  });
  it("is unknown if the fields are missing", () => {
    expect(verdictOf({})).toBe("unknown");
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
