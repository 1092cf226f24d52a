/** Divides the text of a document at the bounds of its chunks. */
import { utf16Indexes } from "../../features/documents/codePoints";
import type { Chunk } from "../../features/documents/queries";

export interface Segment {
  /** UTF-16 index in the text. */
  start: number;
  text: string;
  /** Indexes of the chunks that contain the segment. */
  chunks: number[];
  isExact: boolean;
}

export interface TextWindow {
  start: number;
  end: number;
}

/** The largest part of a text that is shown at once, in characters. */
export const WINDOW = 150_000;

/** The part of a text around an index; all of a short one. */
export function windowAround(length: number, index: number): TextWindow {
  if (length <= WINDOW) return { start: 0, end: length };
  const start = Math.min(Math.max(0, index - WINDOW / 4), length - WINDOW);
  return { start, end: start + WINDOW };
}

export function textSegments(
  text: string,
  chunks: Chunk[],
  exact: { start: number; end: number } | null,
  window: TextWindow,
): Segment[] {
  const spans = chunks.flatMap(({ index, start, end }) =>
    start === null || end === null ? [] : [{ index, start, end }],
  );
  const offsets = spans.flatMap(({ start, end }) => [start, end]);
  if (exact) offsets.push(exact.start, exact.end);
  const indexes = utf16Indexes(text, offsets);
  const place = (span: { start: number; end: number }) => ({
    start: indexes.get(span.start) ?? 0,
    end: indexes.get(span.end) ?? 0,
  });
  const placed = spans
    .map((span) => ({ index: span.index, ...place(span) }))
    .filter(({ start, end }) => end > window.start && start < window.end);
  const exactPlace = exact ? place(exact) : null;
  const bounds = new Set([window.start, window.end]);
  for (const { start, end } of exactPlace ? [...placed, exactPlace] : placed) {
    for (const bound of [start, end]) if (bound > window.start && bound < window.end) bounds.add(bound);
  }
  const sorted = [...bounds].sort((a, b) => a - b);
  return sorted.slice(0, -1).map((start, position) => {
    const end = sorted[position + 1] ?? window.end;
    return {
      start,
      text: text.slice(start, end),
      chunks: placed.filter((span) => span.start <= start && span.end >= end).map(({ index }) => index),
      isExact: exactPlace !== null && exactPlace.start <= start && exactPlace.end >= end,
    };
  });
}
