import { expect, test } from "vitest";
import { PAGE_VERSION, versionDifference } from "./versions";

test.each([
  ["0.1.0", "0.1.0", null],
  ["0.1.0+build.7", "0.1.0", null],
  [undefined, "0.1.0", null],
  ["0.1.0", "0.2.0", "service-is-older"],
  ["0.9.9", "0.10.0", "service-is-older"],
  ["1.0.0", "0.10.3", "page-is-older"],
  ["0.1.1", "0.1.0", "page-is-older"],
  ["unknown", "0.1.0", null],
])("a service of version %j and a page of version %j: %j", (service, page, difference) => {
  expect(versionDifference(service, page)).toBe(difference);
});

test("the page knows its version", () => {
  expect(PAGE_VERSION).toMatch(/^\d+\.\d+\.\d+/);
});
