/** Tests of `changes.ts`. */
import { expect, it } from "vitest";
import {
  bySignificance,
  type Change,
  changeList,
  changeMarks,
  fieldName,
  nextChanged,
  reasonOf,
  removedItems,
} from "./changes";
import { NO_GRAPH } from "./model";
import { parsePicture } from "./picture";

const row = (id: string | null, change: string, significance = "high"): Change => ({
  significance,
  reason: "",
  id,
  change,
});
const CHANGES = [
  row("PSV-1", "changed", "critical"),
  row("HV-1", "removed"),
  row("HV-2", "added"),
  row("HV-2", "rewired"),
  row(null, "changed", "low"),
];

it("groups by significance and keeps the order", () => {
  expect(bySignificance(CHANGES).map((group) => [group.significance, group.changes.length])).toEqual([
    ["critical", 1],
    ["high", 3],
    ["low", 1],
  ]);
});

it("goes around the changed items", () => {
  expect(nextChanged(CHANGES, null, 1)).toBe("PSV-1");
  expect(nextChanged(CHANGES, null, -1)).toBe("HV-2");
  expect(nextChanged(CHANGES, "HV-1", 1)).toBe("HV-2");
  expect(nextChanged(CHANGES, "HV-2", 1)).toBe("PSV-1");
  expect(nextChanged(CHANGES, "PSV-1", -1)).toBe("HV-2");
  expect(nextChanged([row(null, "changed")], null, 1)).toBeNull();
});

it("marks what a version has: removed items on the old one, added items on the new one", () => {
  expect([...changeMarks(NO_GRAPH, CHANGES, "old")]).toEqual([
    ["PSV-1", "changed"],
    ["HV-2", "changed"],
    ["HV-1", "removed"],
  ]);
  expect(changeMarks(NO_GRAPH, CHANGES, "both").get("HV-2")).toBe("added");
  expect(changeMarks(NO_GRAPH, CHANGES, "both").has("HV-1")).toBe(false);
});

it("takes removed items from the older picture", () => {
  const old = parsePicture(`<svg viewBox="0 0 9 9"><path data-id="HV-1" d="M0 0L1 1"/></svg>`);
  expect(old && [...removedItems(CHANGES, old).keys()]).toEqual(["HV-1"]);
});

it("says which of the alternatives of a reason applies", () => {
  const texts = [
    { ...row("e1", "removed"), reason: "pipe added or removed" },
    { ...row("HV-1", "rewired"), reason: "valve added or moved" },
    { ...row("HV-2", "removed"), reason: "valve or blind removed" },
  ].map(reasonOf);
  expect(texts).toEqual(["pipe removed", "valve moved", "valve or blind removed"]);
  expect(fieldName("attributes.rated_flow")).toBe("rated flow");
});

it("lists the changes with the values before and after", () => {
  const change = {
    ...row("PSV-1", "changed", "critical"),
    reason: "set pressure changed",
    field: "set_pressure",
  };
  expect(changeList([{ ...change, before: 16, after: null }])[1]).toEqual([
    "critical",
    "PSV-1",
    "set pressure changed",
    "set pressure",
    "16",
    "not stated",
  ]);
});
