import { expect, test } from "vitest";
import { hasAddress, PAGES, pageOf } from "./pages";

test.each([
  ["/keys", "API keys"],
  ["/drawings/plant-100", "Drawings"],
  ["/keysets", undefined],
  ["/", undefined],
])("%s belongs to %j", (pathname, label) => {
  expect(pageOf(pathname)?.label).toBe(label);
});

const DOCUMENTS = { path: "/documents", parts: [":pipelineId", ":pipelineId/:documentId"] };

test.each([
  ["/documents", true],
  ["/documents/", true],
  ["/documents/a", true],
  ["/documents/a/b", true],
  ["/documents/a/b/c", false],
])("a page with parts has %s: %j", (pathname, isThere) => {
  expect(hasAddress(DOCUMENTS, pathname)).toBe(isThere);
});

test("a page without parts has no addresses below", () => {
  expect(hasAddress({ path: "/keys" }, "/keys/old")).toBe(false);
});

test("paths and keys of pages are unique", () => {
  for (const field of ["path", "key"] as const) {
    expect(new Set(PAGES.map((page) => page[field])).size).toBe(PAGES.length);
  }
});
