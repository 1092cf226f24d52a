/** How a passage moves from one ranking to another: `+2`, `-1`, `=`, or `new`. */
export function rankChange(
  before: { chunk_id: string | null }[],
  hit: { chunk_id: string | null },
  rank: number,
): string {
  const old = before.findIndex((other) => other.chunk_id === hit.chunk_id);
  if (old < 0) return "new";
  if (old === rank) return "=";
  return old > rank ? `+${old - rank}` : String(old - rank);
}
