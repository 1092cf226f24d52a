import { expect, test } from "vitest";
import { bestMatches, rankOf } from "./match";

test.each([
  ["", "Drawings", 0],
  ["drawings", "Drawings", 0],
  ["  DRAW ", "Drawings", 1],
  ["keys", "API keys", 2],
  ["wing", "Drawings", 3],
  ["p101", "P-101A", 3],
  ["p 101", "P-101A", 3],
  ["manual unit", "Unit 100 manual", 4],
  ["x", "Drawings", null],
  ["-", "Drawings", null],
  ["p-102", "P-101A", null],
])("%j against %j ranks %j", (text, name, rank) => {
  expect(rankOf(text, name)).toBe(rank);
});

test("the best matches come first, others in their order, up to a limit", () => {
  const names = ["Wash water", "Water", "Waste water", "Steam"];
  expect(bestMatches(names, "water", (name) => name, 9)).toEqual(["Water", "Wash water", "Waste water"]);
  expect(bestMatches(names, "water", (name) => name, 1)).toEqual(["Water"]);
  expect(bestMatches(names, "", (name) => name, 2)).toEqual(["Wash water", "Water"]);
});
