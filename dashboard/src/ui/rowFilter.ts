/** Finds the rows of a table by words. */

/** Returns whether a row matches: each word is in one of its texts, in any order and any case. */
export function rowFilter(filter: string): (texts: string[]) => boolean {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  return (texts) => {
    const given = texts.map((text) => text.toLowerCase());
    return words.every((word) => given.some((text) => text.includes(word)));
  };
}
