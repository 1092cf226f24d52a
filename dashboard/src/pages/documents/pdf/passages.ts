/** Finds a passage of the extracted text among the text items of a page, which differ in white space and ligatures. */

/** A range of characters of an item; the end is exclusive. */
export interface ItemRange {
  item: number;
  from: number;
  to: number;
}

export interface PageText {
  /** The characters of all items that are not white space, in compatibility form. */
  text: string;
  /** Item and character of each character of `text`. */
  origins: { item: number; character: number }[];
  /** Number of characters of each item. */
  lengths: number[];
}

/** Characters of a passage that have to match in a row. */
const ANCHOR = 20;

export function pageText(items: string[]): PageText {
  let text = "";
  const origins: PageText["origins"] = [];
  items.forEach((content, item) => {
    [...content].forEach((character, index) => {
      for (const part of comparable(character)) {
        text += part;
        origins.push({ item, character: index });
      }
    });
  });
  return { text, origins, lengths: items.map((content) => [...content].length) };
}

/** The text without white space, with ligatures and compatibility characters resolved. */
function comparable(text: string): string {
  return text.normalize("NFKC").replace(/[\s\u00AD]+/gu, "");
}

/** The ranges of items on the page that belong to the passage. */
export function passageRanges(page: PageText, passage: string): ItemRange[] {
  return itemRanges(page, matches(page.text, comparable(passage)));
}

/** The ranges of `text` that occur in the passage in one piece of at least `ANCHOR` characters. */
function matches(text: string, passage: string): [number, number][] {
  const size = Math.min(ANCHOR, passage.length);
  const found: [number, number][] = [];
  let position = 0;
  let after = 0;
  while (size > 0 && position + size <= passage.length) {
    const anchor = passage.slice(position, position + size);
    const next = text.indexOf(anchor, after);
    const start = next >= 0 ? next : text.indexOf(anchor);
    if (start < 0) {
      position += 1;
      continue;
    }
    let length = size;
    while (position + length < passage.length && text[start + length] === passage[position + length])
      length += 1;
    found.push([start, start + length]);
    position += length;
    after = start + length;
  }
  return found;
}

function itemRanges(page: PageText, found: [number, number][]): ItemRange[] {
  const ranges = new Map<number, ItemRange>();
  for (const [start, end] of found) {
    for (let index = start; index < end; index += 1) {
      const origin = page.origins[index];
      if (!origin) continue;
      const range = ranges.get(origin.item);
      if (range) {
        range.from = Math.min(range.from, origin.character);
        range.to = Math.max(range.to, origin.character + 1);
      } else {
        ranges.set(origin.item, { item: origin.item, from: origin.character, to: origin.character + 1 });
      }
    }
  }
  return [...ranges.values()];
}

/** The index of the passage that contains an item, found with the text around it. */
export function passageOfItem(items: string[], item: number, passages: string[]): number | null {
  const contents = passages.map(comparable);
  for (const reach of [3, 1, 0]) {
    const around = comparable(items.slice(Math.max(0, item - reach), item + reach + 1).join(""));
    const index = around === "" ? -1 : contents.findIndex((content) => content.includes(around));
    if (index >= 0) return index;
  }
  return null;
}
