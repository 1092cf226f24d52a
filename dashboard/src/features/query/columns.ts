/** Columns of a result: rows of objects become a table. */

export interface ResultRow {
  /** Place in the result. */
  index: number;
  value: unknown;
}

const VALUE_COLUMN = "value";

/** Fields that a person looks for first. */
const FIRST = ["tag", "line", "loop", "id"];
const MAX_COLUMNS = 40;

export function columnsOf(rows: unknown[]): string[] {
  const names = new Set<string>();
  for (const row of rows.slice(0, 2000)) {
    if (isObject(row)) for (const name of Object.keys(row)) names.add(name);
  }
  if (names.size === 0 || !rows.every(isObject)) return [VALUE_COLUMN];
  const first = FIRST.filter((name) => names.has(name)).slice(0, 1);
  return [...new Set([...first, ...names])].slice(0, MAX_COLUMNS);
}

export function cellOf(row: unknown, column: string): unknown {
  return isObject(row) && column !== VALUE_COLUMN ? row[column] : isObject(row) ? (row[column] ?? row) : row;
}

/** Fields that rows about an item have besides its id. */
const OF_ITEMS = ["tag", "class", "node_type", "edge_type"];

/** The id of the item that a row is about: a node, an edge, or a row of a list. */
export function itemOf(row: unknown): string | null {
  if (!isObject(row) || typeof row.id !== "string") return null;
  return OF_ITEMS.some((field) => field in row) ? row.id : null;
}

/** A value in one line: nested items by their tags, objects by their fields. */
export function valueText(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (value === true) return "yes";
  if (value === false) return "no";
  if (Array.isArray(value)) return value.map(valueText).join(", ");
  if (!isObject(value)) return String(value);
  const name = value.qualified_tag ?? value.tag ?? value.id;
  if (typeof name === "string") return name;
  return Object.entries(value)
    .map(([field, inner]) => `${field}: ${valueText(inner)}`)
    .join("; ");
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
