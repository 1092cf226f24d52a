/** The subject of an entry of the audit log: the page that shows it, and its name. */
import { documentPagePath, pipelinePath } from "../../features/documents/links";
import type { Names } from "../../features/operation/useNames";

export interface AuditResource {
  label: string;
  /** The page of the resource; null if it has none. */
  path: string | null;
}

const DOCUMENT = /^\/api\/pipelines\/([^/]+)\/documents\/([^/:]+)/;
const KEY = /^\/api\/keys\/([^/]+)$/;
const LIMIT = /^\/api\/account-limits\/([^/]+)$/;
const PIPELINE = /^\/api\/pipelines\/([^/:]+)/;

/** `actorOf` names users and keys by their ids in the audit log. */
export function auditResource(
  resource: string,
  names: Names,
  actorOf: (actor: string) => string,
): AuditResource {
  const [, pipelineId, documentId] = DOCUMENT.exec(resource) ?? [];
  if (pipelineId && documentId) {
    const label = `${names.document(documentId)} in ${names.pipeline(pipelineId)}`;
    return { label, path: documentPagePath(pipelineId, documentId) };
  }
  const key = KEY.exec(resource)?.[1];
  if (key) return { label: actorOf(`key:${key}`), path: "/keys" };
  const account = LIMIT.exec(resource)?.[1];
  if (account) return { label: `Limit of ${actorOf(decoded(account))}`, path: "/users" };
  const id = PIPELINE.exec(resource)?.[1];
  if (id) return { label: names.pipeline(id), path: pipelinePath(id) };
  return { label: resource, path: null };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
