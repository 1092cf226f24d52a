/** The time that the service asks to wait. */

/** Reads `Retry-After`: seconds, or a date. */
export function secondsOfRetryAfter(header: string | null, now: number): number | null {
  const text = header?.trim() ?? "";
  if (/^\d+$/.test(text)) return Number(text);
  const seconds = text.endsWith("GMT") ? (Date.parse(text) - now) / 1000 : Number.NaN;
  return Number.isNaN(seconds) ? null : Math.max(0, Math.ceil(seconds));
}

/** `75` as "1:15 minutes", `9` as "9 seconds". */
export function waitingText(seconds: number): string {
  if (seconds >= 60) return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")} minutes`;
  return seconds === 1 ? "1 second" : `${seconds} seconds`;
}
