/** Paths of the pages about documents. */

export function pipelinePath(pipelineId: string): string {
  return `/documents/${encodeURIComponent(pipelineId)}`;
}

interface Place {
  chunk?: number | undefined;
  start?: number | null;
  end?: number | null;
  page?: number | null;
}

export function documentPagePath(pipelineId: string, documentId: string, place: Place = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(place)) {
    if (value !== undefined && value !== null) search.set(name, String(value));
  }
  const query = search.size > 0 ? `?${search}` : "";
  return `${pipelinePath(pipelineId)}/${encodeURIComponent(documentId)}${query}`;
}

export function askPath(pipelineId: string, question?: string): string {
  const path = `/ask/${encodeURIComponent(pipelineId)}`;
  return question === undefined ? path : `${path}?q=${encodeURIComponent(question)}`;
}
