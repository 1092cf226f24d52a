/** The queries that were run in this browser, per graph, latest first. */

export interface HistoryEntry {
  query: string;
  time: string;
}

const MAX_ENTRIES = 50;

function key(graphId: string): string {
  return `pidq.history.${graphId}`;
}

export function readHistory(graphId: string): HistoryEntry[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(key(graphId)) ?? "[]");
    return Array.isArray(stored) ? stored.filter(isEntry) : [];
  } catch {
    return [];
  }
}

function isEntry(value: unknown): value is HistoryEntry {
  const entry = value as Partial<HistoryEntry> | null;
  return typeof entry?.query === "string" && typeof entry.time === "string";
}

/** The history with a query in first place. */
export function withEntry(history: HistoryEntry[], entry: HistoryEntry): HistoryEntry[] {
  return [entry, ...history.filter((other) => other.query !== entry.query)].slice(0, MAX_ENTRIES);
}

export function storeHistory(graphId: string, history: HistoryEntry[]): void {
  if (history.length === 0) localStorage.removeItem(key(graphId));
  else localStorage.setItem(key(graphId), JSON.stringify(history));
}
