import { expect, test } from "vitest";
import { readHealth } from "./health";

test.each([
  [200, "ready\n", "ready", []],
  [200, "ready\ndegraded: []\n", "ready", []],
  [200, 'ready\ndegraded: ["dense search", "OCR"]\n', "degraded", ["dense search", "OCR"]],
  [200, "ready\ndegraded: dense search\n", "degraded", ["dense search"]],
  [200, 'ready\ndegraded: ["a\n', "degraded", ['["a']],
  [503, "not ready\n", "not-ready", []],
  [500, "", "not-ready", []],
  [502, '{"code":"api-unavailable"}', "unreachable", []],
  [504, "", "unreachable", []],
])("status %j with %j is %s", (status, text, state, parts) => {
  expect(readHealth(status, text)).toEqual({ state, parts });
});
