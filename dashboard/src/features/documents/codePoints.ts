/** Offsets of the API count code points; those of JavaScript strings count UTF-16 code units. */

/** The UTF-16 index of each code-point offset. Offsets past the end are the length of the text. */
export function utf16Indexes(text: string, offsets: number[]): Map<number, number> {
  const indexes = new Map<number, number>();
  const sorted = [...new Set(offsets)].sort((a, b) => a - b);
  if (!/[\uD800-\uDFFF]/.test(text)) {
    for (const offset of sorted) indexes.set(offset, Math.min(offset, text.length));
    return indexes;
  }
  let index = 0;
  let codePoints = 0;
  for (const offset of sorted) {
    while (codePoints < offset && index < text.length) {
      index += (text.codePointAt(index) ?? 0) > 0xffff ? 2 : 1;
      codePoints += 1;
    }
    indexes.set(offset, index);
  }
  return indexes;
}

/** The number of code points before a UTF-16 index. */
export function codePointOffset(text: string, index: number): number {
  return [...text.slice(0, index)].length;
}

/** The part of a text between two code-point offsets. */
export function sliceCodePoints(text: string, start: number, end: number): string {
  const indexes = utf16Indexes(text, [start, end]);
  return text.slice(indexes.get(start), indexes.get(end));
}
