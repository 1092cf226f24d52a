/** The history of a graph as state of the page. */
import { useState } from "react";
import { type HistoryEntry, readHistory, storeHistory, withEntry } from "../../features/query/history";

export function useHistory(graphId: string) {
  const [entries, setEntries] = useState(() => readHistory(graphId));
  const replace = (history: HistoryEntry[]) => {
    storeHistory(graphId, history);
    setEntries(history);
  };
  const add = (query: string) => replace(withEntry(entries, { query, time: new Date().toISOString() }));
  return { entries, add, replace };
}
