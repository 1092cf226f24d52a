import { expect, test } from "vitest";
import { auditResource } from "./auditResource";

const NAMES = { pipeline: (id: string) => `pipeline ${id}`, document: (id: string) => `document ${id}` };

test.each([
  ["/api/pipelines/p1", "pipeline p1", "/documents/p1"],
  ["/api/pipelines/p1/reindex", "pipeline p1", "/documents/p1"],
  ["/api/pipelines/p1/documents", "pipeline p1", "/documents/p1"],
  ["/api/pipelines/p1/documents:delete", "pipeline p1", "/documents/p1"],
  ["/api/pipelines/p1/documents/d2", "document d2 in pipeline p1", "/documents/p1/d2"],
  ["/api/pipelines/p1/documents/d2/retry", "document d2 in pipeline p1", "/documents/p1/d2"],
  ["/api/pipelines", "/api/pipelines", null],
  ["/api/keys/k1", "/api/keys/k1", null],
])("%s is %s", (resource, label, path) => {
  expect(auditResource(resource, NAMES)).toEqual({ label, path });
});
