/** The place of a document that its address names. */
import { sliceCodePoints } from "../../features/documents/codePoints";
import type { Chunk } from "../../features/documents/queries";

export interface Selection {
  chunk: Chunk | null;
  /** Page to show if no chunk is selected. */
  page: number | null;
  /** Part of the chunk, as code-point offsets in the text of the document. */
  exact: { start: number; end: number } | null;
  exactText: string | null;
}

export function selectionOf(search: URLSearchParams, chunks: Chunk[]): Selection {
  const index = numberOf(search, "chunk");
  const start = numberOf(search, "start");
  const end = numberOf(search, "end");
  const chunk =
    index !== null
      ? (chunks.find((chunk) => chunk.index === index) ?? null)
      : start === null
        ? null
        : chunkAt(chunks, start, end ?? start + 1);
  const isPart =
    chunk?.start != null && chunk.end != null && start !== null && end !== null && end > start
      ? start >= chunk.start && end <= chunk.end && end - start < chunk.end - chunk.start
      : false;
  const exact = isPart && start !== null && end !== null ? { start, end } : null;
  const exactText =
    exact && chunk
      ? sliceCodePoints(chunk.text, exact.start - (chunk.start ?? 0), exact.end - (chunk.start ?? 0))
      : null;
  return { chunk, page: numberOf(search, "page"), exact, exactText };
}

/** The chunk with these bounds, or one that contains them. */
function chunkAt(chunks: Chunk[], start: number, end: number): Chunk | null {
  return (
    chunks.find((chunk) => chunk.start === start && chunk.end === end) ??
    chunks.find((chunk) => contains(chunk, start) && contains(chunk, end - 1)) ??
    chunks.find((chunk) => contains(chunk, start)) ??
    null
  );
}

function contains(chunk: Chunk, offset: number): boolean {
  return chunk.start !== null && chunk.end !== null && chunk.start <= offset && offset < chunk.end;
}

function numberOf(search: URLSearchParams, name: string): number | null {
  const text = search.get(name);
  const value = Number(text);
  return text === null || !Number.isInteger(value) || value < 0 ? null : value;
}
