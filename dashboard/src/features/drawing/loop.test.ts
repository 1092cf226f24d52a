/** Tests of `loop.ts`. */
import { expect, it } from "vitest";
import { gapText, loopGroups } from "./loop";

it("groups the items of a loop by what they do, and forgets no member", () => {
  const valve = { id: "LV-1", fail_action: "closed" };
  const groups = loopGroups({
    members: [valve, { id: "LT-1" }, { id: "LY-1" }],
    sensors: [{ id: "LT-1" }],
    functions: [],
    final_elements: [valve],
  });
  expect(
    groups.map(({ title, rows }) => [title, ...rows.map(({ node, note }) => `${node.id} ${note}`.trim())]),
  ).toEqual([
    ["Sensors", "LT-1"],
    ["Final elements", "LV-1 fails closed"],
    ["Further members", "LY-1"],
  ]);
});

it("says what a loop lacks", () => {
  expect(gapText("no_final_element")).toBe("no final element");
  expect(gapText(null)).toBe("");
});
