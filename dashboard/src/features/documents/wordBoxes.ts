/** Marks from the boxes of words that the service kept: one for the words beside each other in a line. */
import type { PageWords } from "./queries";

export interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** A range of the text of a document, in code points; the end is exclusive. */
export interface TextRange {
  start: number;
  end: number;
}

type Word = PageWords["words"][number];
type Edges = [number, number, number, number];

/** Largest gap between words of a line, and smallest overlap of their heights, relative to the height. */
const MAX_GAP = 1.5;
const MIN_OVERLAP = 0.5;

/** The marks of the words in a range of the text, in pixels of a page of a width; null marks all words. */
export function wordBoxes(page: PageWords, range: TextRange | null, width: number): Box[] {
  const words = range ? wordsIn(page, range) : page.words;
  const scale = width / page.width;
  return lines(words).map(([left, top, right, bottom]) => ({
    left: left * scale,
    top: top * scale,
    width: (right - left) * scale,
    height: (bottom - top) * scale,
  }));
}

/** The words that a range touches. */
export function wordsIn(page: PageWords, range: TextRange): Word[] {
  return page.words.filter((word) => word.end > range.start && word.start < range.end);
}

/** The boxes of words, those of neighbors in a line joined. */
function lines(words: Word[]): Edges[] {
  const found: Edges[] = [];
  for (const word of words) {
    const box = word.box as Edges;
    const last = found.at(-1);
    if (last && isNext(last, box)) {
      found[found.length - 1] = [
        last[0],
        Math.min(last[1], box[1]),
        Math.max(last[2], box[2]),
        Math.max(last[3], box[3]),
      ];
    } else {
      found.push(box);
    }
  }
  return found;
}

function isNext(last: Edges, next: Edges): boolean {
  const height = Math.min(last[3] - last[1], next[3] - next[1]);
  const overlap = Math.min(last[3], next[3]) - Math.max(last[1], next[1]);
  const gap = next[0] - last[2];
  return overlap >= MIN_OVERLAP * height && gap > -height && gap <= MAX_GAP * height;
}
