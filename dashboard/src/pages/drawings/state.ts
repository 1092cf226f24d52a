/** State of the page of a drawing, in the search parameters of its address. */
import { useSearchParams } from "react-router";

const NAMES = ["node", "at", "view", "to", "panel", "old", "new", "show", "with", "highlight"] as const;
type Name = (typeof NAMES)[number];

export type DrawingState = Record<Name, string | null>;

export function useDrawingState() {
  const [search, setSearch] = useSearchParams();
  const state = Object.fromEntries(NAMES.map((name) => [name, search.get(name)])) as DrawingState;
  const change = (changes: Partial<DrawingState>) =>
    setSearch(() => {
      // Of the address as it is now: another change may have been made since the page was rendered.
      const search = new URLSearchParams(window.location.search);
      for (const [name, value] of Object.entries(changes)) {
        if (value === null) search.delete(name);
        else search.set(name, value);
      }
      return search;
    });
  return { state, change };
}

/** The item in view: that of a result that a person looks at, or the selected one, which the result is about. */
export function itemInView(state: DrawingState): string | null {
  return state.view !== null && state.node !== null && state.at !== null ? state.at : state.node;
}

export type ChangeState = ReturnType<typeof useDrawingState>["change"];
