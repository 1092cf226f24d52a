/** Lists of the API that are divided into pages. */

/** Largest page of a list of the document platform. */
export const PAGE_SIZE = 200;

interface RowPage<T> {
  data: T[];
  next_cursor: string | null;
}

/** All rows of a list: `page` reads the page at a cursor. */
export async function allRows<T>(
  page: (query: { limit: number; cursor?: string }) => Promise<RowPage<T>>,
): Promise<T[]> {
  const rows: T[] = [];
  let cursor: string | null = null;
  do {
    const next: RowPage<T> = await page({ limit: PAGE_SIZE, ...(cursor === null ? {} : { cursor }) });
    rows.push(...next.data);
    cursor = next.next_cursor;
  } while (cursor !== null);
  return rows;
}
