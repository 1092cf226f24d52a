import { expect, test } from "vitest";
import { rowFilter } from "./rowFilter";

test.each([
  ["", true],
  ["  ", true],
  ["control open", true],
  ["OPEN control", true],
  ["fv-1102", true],
  ["control closed", false],
  ["valve FV", true],
  ["valveopen", false],
])("the filter %j of a row", (filter, expected) => {
  expect(rowFilter(filter)(["FV-1102", "control valve", "", "open"])).toBe(expected);
});
