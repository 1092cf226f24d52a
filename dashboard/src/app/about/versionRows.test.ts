import { expect, test } from "vitest";
import { versionRows } from "./versionRows";

test("name and version have labels, other fields are named after themselves", () => {
  const version = { name: "pidq", version: "1.2.3", build_features: ["graph", "search"], commit: null };
  expect(versionRows(version)).toEqual([
    { label: "Product", value: "pidq" },
    { label: "Version", value: "1.2.3" },
    { label: "Build features", value: "graph, search" },
  ]);
});

test("a service may hide its version", () => {
  expect(versionRows({ name: "pidq" })).toEqual([{ label: "Product", value: "pidq" }]);
});
