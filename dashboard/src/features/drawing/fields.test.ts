/** Tests of `fields.ts`. */
import { expect, it } from "vitest";
import { fieldRows, fieldText } from "./fields";

it("shows a value with its unit, and says when a pressure has none", () => {
  const node = {
    id: "PSV-1",
    set_pressure: 16,
    design_pressure: 18,
    design_pressure_unit: "barg",
    orig_x: 3,
    attributes: [{ name: "rated_flow", value: 45, unit: "m³/h" }],
  };
  expect(fieldRows(node).map(({ label, text, note }) => [label, text, note])).toEqual([
    ["id", "PSV-1", undefined],
    ["set pressure", "16", "unit not stated"],
    ["design pressure", "18 barg", undefined],
    ["rated flow", "45 m³/h", undefined],
  ]);
});

it("writes objects and lists at any depth as text", () => {
  expect(fieldText({ value: 45, unit: "m³/h" })).toBe("45 m³/h");
  expect(fieldText({ drawing_name: "PID-5", position: { x: 1, y: 2 } })).toBe(
    "drawing name: PID-5; position: (x: 1; y: 2)",
  );
  expect(fieldText([{ a: null }, true, []])).toBe("a: not stated, yes, none");
  expect(fieldText({})).toBe("none");
});
