/** Parts of a text to mark: words of a question, quotes of an answer, equipment tags. */

/** A range of UTF-16 code units; the end is exclusive. */
export interface Range {
  start: number;
  end: number;
}

export interface TextPart {
  start: number;
  text: string;
  isMarked: boolean;
  tag: string | null;
}

const STOP_WORDS = new Set(
  "a an and are as at be by do does for from has have how if in into is it its of on or so that the their then there these this to was what when where which while who why will with".split(
    " ",
  ),
);

/** The words of a query that are worth marking in its results. */
export function queryWords(query: string): string[] {
  const words = query.toLowerCase().match(/[\p{L}\p{N}][\p{L}\p{N}._/-]*[\p{L}\p{N}]|[\p{L}\p{N}]/gu) ?? [];
  return [...new Set(words.filter((word) => word.length > 1 && !STOP_WORDS.has(word)))];
}

/** Ranges of words in a text, as whole words, or with one of the usual endings. */
export function wordRanges(text: string, words: string[]): Range[] {
  if (words.length === 0) return [];
  const pattern = words.map((word) => escaped(stemOf(word))).join("|");
  const expression = new RegExp(`(?<![\\p{L}\\p{N}])(?:${pattern})(?:s|es|ed|ing)?(?![\\p{L}\\p{N}])`, "giu");
  return [...text.matchAll(expression)].map((match) => ({
    start: match.index,
    end: match.index + match[0].length,
  }));
}

function stemOf(word: string): string {
  return /^\p{L}{5,}$/u.test(word) ? word.replace(/(?:es|ed|ing|s)$/, "") : word;
}

/** Ranges of quotes in a text, with any white space between their words. */
export function quoteRanges(text: string, quotes: string[]): Range[] {
  return quotes.flatMap((quote) => {
    const words = quote.split(/\s+/).filter(Boolean).map(escaped);
    const match = words.length > 0 ? text.match(new RegExp(words.join("\\s+"), "u")) : null;
    return match?.index === undefined ? [] : [{ start: match.index, end: match.index + match[0].length }];
  });
}

/** The quoted sentences of an answer that consists of quotes. */
export function quotesOf(answer: string): string[] {
  return [...answer.matchAll(/“([^”]+)”/g)].map((match) => match[1] ?? "");
}

/** Ranges of tags in a text, as whole tags. */
export function tagRanges(text: string, tags: string[]): (Range & { tag: string })[] {
  const longestFirst = [...new Set(tags)].filter(Boolean).sort((a, b) => b.length - a.length);
  if (longestFirst.length === 0) return [];
  const expression = new RegExp(
    `(?<![\\p{L}\\p{N}-])(?:${longestFirst.map(escaped).join("|")})(?![\\p{L}\\p{N}])`,
    "gu",
  );
  return [...text.matchAll(expression)].map((match) => ({
    start: match.index,
    end: match.index + match[0].length,
    tag: match[0],
  }));
}

/** Divides a text at the bounds of its marks and tags. */
export function textParts(text: string, marks: Range[], tags: (Range & { tag: string })[]): TextPart[] {
  const bounds = new Set([0, text.length]);
  for (const { start, end } of [...marks, ...tags]) bounds.add(start).add(end);
  const sorted = [...bounds].sort((a, b) => a - b);
  return sorted.slice(0, -1).map((start, index) => {
    const end = sorted[index + 1] ?? text.length;
    const covers = (range: Range) => range.start <= start && range.end >= end;
    return {
      start,
      text: text.slice(start, end),
      isMarked: marks.some(covers),
      tag: tags.find(covers)?.tag ?? null,
    };
  });
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}
