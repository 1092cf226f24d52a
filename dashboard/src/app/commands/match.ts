/** Ranks names by how well they match what is typed. */

/** Returns 0 for the best match, higher for others, and null for none. An empty text matches everything alike. */
export function rankOf(text: string, name: string): number | null {
  const wanted = normalized(text);
  const given = normalized(name);
  if (wanted === "" || given === wanted) return 0;
  if (given.startsWith(wanted)) return 1;
  if (given.includes(` ${wanted}`)) return 2;
  if (given.includes(wanted) || (condensed(wanted) !== "" && condensed(given).includes(condensed(wanted))))
    return 3;
  return wanted.split(" ").every((word) => given.includes(word)) ? 4 : null;
}

/** The rows that match, the best first; equal ones stay in their order. */
export function bestMatches<Row>(
  rows: Row[],
  text: string,
  nameOf: (row: Row) => string,
  limit: number,
): Row[] {
  return rows
    .flatMap((row) => {
      const rank = rankOf(text, nameOf(row));
      return rank === null ? [] : [{ row, rank }];
    })
    .sort((one, other) => one.rank - other.rank)
    .slice(0, limit)
    .map(({ row }) => row);
}

function normalized(text: string): string {
  return text.toLowerCase().replace(/\s+/g, " ").trim();
}

/** Tags are written with and without blanks and hyphens. */
function condensed(text: string): string {
  return text.replace(/[\s-]/g, "");
}
