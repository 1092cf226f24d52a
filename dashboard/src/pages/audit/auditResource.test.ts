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
  ["/api/keys/k1", "named key:k1", "/keys"],
  ["/api/account-limits/user%3Au_1", "Limit of named user:u_1", "/users"],
  ["/api/account-limits/%", "Limit of named %", "/users"],
])("%s is %s", (resource, label, path) => {
  expect(auditResource(resource, NAMES, (actor) => `named ${actor}`)).toEqual({ label, path });
});
