/** The subject of an entry of the audit log: the page that shows it, and its name. */
import { documentPagePath, pipelinePath } from "../../features/documents/links";
import type { Names } from "../../features/operation/useNames";

export interface AuditResource {
  label: string;
  /** The page of the resource; null if it has none. */
  path: string | null;
}

const DOCUMENT = /^\/api\/pipelines\/([^/]+)\/documents\/([^/:]+)/;
const PIPELINE = /^\/api\/pipelines\/([^/:]+)/;

export function auditResource(resource: string, names: Names): AuditResource {
  const [, pipelineId, documentId] = DOCUMENT.exec(resource) ?? [];
  if (pipelineId && documentId) {
    const label = `${names.document(documentId)} in ${names.pipeline(pipelineId)}`;
    return { label, path: documentPagePath(pipelineId, documentId) };
  }
  const id = PIPELINE.exec(resource)?.[1];
  if (id) return { label: names.pipeline(id), path: pipelinePath(id) };
  return { label: resource, path: null };
}
