/** Tests of access rules. */
import { expect, test } from "vitest";
import { changedRules } from "./accessRules";

test("the first classification of a pipeline may be read and asked", () => {
  const rules = changedRules({}, "p", { classification: "manual" }, true);
  expect(rules).toEqual({ p: { classifications: ["manual"], verbs: ["read", "query"] } });
  expect(changedRules(rules, "p", { verb: "write" }, true).p?.verbs).toEqual(["read", "query", "write"]);
  expect(changedRules(rules, "p", { verb: "query" }, false).p?.verbs).toEqual(["read"]);
});

test("a pipeline without classifications has no rule", () => {
  const rules = changedRules({}, "p", { classification: "manual" }, true);
  expect(changedRules(rules, "p", { classification: "manual" }, false)).toEqual({});
  expect(changedRules({}, "p", { verb: "read" }, true)).toEqual({});
});
