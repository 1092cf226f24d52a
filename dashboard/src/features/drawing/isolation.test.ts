/** Tests of `isolation.ts`. */
import { describe, expect, it } from "vitest";
import { type Isolation, isolationGroups, isolationList, openReason, verdictOf } from "./isolation";

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

const RESULT: Isolation = {
  isolated: "no",
  barriers: [{ node: { id: "HV-1", line: "L-1" }, method: "double_block", action: "check_closed" }],
  unresolved: [{ kind: "equipment", at: { id: "E-1" }, path: [{ id: "N1" }, { id: "E-1" }] }],
  inside: [{ id: "V-1", node_classification: "equipment.separator" }],
  conditional: [],
  relief: [{ node: { id: "PSV-1" }, relief_path: "unknown", cut_off_by: [{ id: "HV-9" }] }],
  kept_open: [],
  data_gaps: [],
  uncertain: [{ reason: "unknown_class", node: { tag: "STR-1" } }],
  complete: true,
  certain: true,
};

it("says of each item what to do, why it is open, and what cuts off a relief device", () => {
  const rows = isolationGroups(RESULT).flatMap((group) => group.rows);
  expect(rows.map(({ text, path, warning }) => [text, path, warning])).toEqual([
    ["check closed, double block", undefined, undefined],
    ["no valve before this equipment", "N1 → E-1", undefined],
    ["", undefined, undefined],
    ["relief path: not all of it is on this drawing", undefined, "cut off by HV-9"],
    ["reason: unknown_class; node: (tag: STR-1)", undefined, undefined],
  ]);
});

it("lists all of it for the field", () => {
  const [head, ...rows] = isolationList(RESULT);
  expect(head).toHaveLength(7);
  expect(rows).toHaveLength(5);
  expect(rows[1]).toEqual([
    "Stays open",
    "E-1",
    "item",
    "",
    "no valve before this equipment",
    "N1 → E-1",
    "",
  ]);
});
