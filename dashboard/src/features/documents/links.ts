/** Paths of the pages about documents. */

export function pipelinePath(pipelineId: string): string {
  return `/documents/${encodeURIComponent(pipelineId)}`;
}

/** A place in a document. */
interface Place {
  chunk?: number | undefined;
  start?: number | null;
  end?: number | null;
  page?: number | null;
}

const PLACE_NAMES = ["chunk", "start", "end", "page"] as const;

export function documentPagePath(pipelineId: string, documentId: string, place: Place = {}): string {
  const search = new URLSearchParams();
  // By name: a passage has further fields, such as its text, that belong into no address.
  for (const name of PLACE_NAMES) {
    const value = place[name];
    if (value !== undefined && value !== null) search.set(name, String(value));
  }
  const query = search.size > 0 ? `?${search}` : "";
  return `${pipelinePath(pipelineId)}/${encodeURIComponent(documentId)}${query}`;
}

export function askPath(pipelineId: string, question?: string): string {
  const path = `/ask/${encodeURIComponent(pipelineId)}`;
  return question === undefined ? path : `${path}?q=${encodeURIComponent(question)}`;
}
