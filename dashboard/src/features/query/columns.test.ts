/** Tests of `columns.ts`. */
import { describe, expect, it } from "vitest";
import { columnsOf, itemOf, valueText } from "./columns";

describe("columns of a result", () => {
  it("are the fields of all rows, the tag first", () => {
    expect(columnsOf([{ size: 1, tag: "A" }, { line: "L" }])).toEqual(["tag", "size", "line"]);
  });
  it("are one column for values", () => {
    expect(columnsOf(["a", 1])).toEqual(["value"]);
    expect(columnsOf([])).toEqual(["value"]);
    expect(columnsOf([{ a: 1 }, 2])).toEqual(["value"]);
  });
  it("show nested values in one line", () => {
    expect(valueText([{ tag: "P-1" }, { tag: "N1", qualified_tag: "P-1-N1" }])).toBe("P-1, P-1-N1");
    expect(valueText({ low: 1, unit: null })).toBe("low: 1; unit: ");
  });
});

it("finds the item that a row is about", () => {
  expect(itemOf({ id: "HV-1", class: "piping_component.gate_valve" })).toBe("HV-1");
  expect(itemOf({ id: "rule", message: "text" })).toBeNull();
  expect(itemOf({ id: 7, tag: "HV-1" })).toBeNull();
  expect(itemOf("HV-1")).toBeNull();
});
