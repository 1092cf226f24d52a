/** Differences of the rank of a passage between searches. */
import type { Schemas } from "../../api/client";

type Hit = Schemas["SearchHit"];

export interface Movement {
  text: string;
  title: string;
  direction: "up" | "down" | "same" | "new";
}

/** The movement of the passage at `index` against another list. */
export function movement(hit: Hit, index: number, others: Hit[]): Movement {
  const other = others.findIndex((other) => other.chunk_id === hit.chunk_id);
  if (other < 0) return { text: "only here", title: "Not among the passages of hybrid", direction: "new" };
  const title = `Rank ${other + 1} in hybrid`;
  const by = other - index;
  if (by === 0) return { text: "=", title, direction: "same" };
  return by > 0
    ? { text: `▲ ${by}`, title, direction: "up" }
    : { text: `▼ ${-by}`, title, direction: "down" };
}
