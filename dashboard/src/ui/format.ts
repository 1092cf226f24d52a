/** Numbers, sizes and times as people write them. */

const number = new Intl.NumberFormat();
const oneDigit = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });
const fullTime = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "medium" });
const shortTime = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });

export function formatNumber(value: number): string {
  return number.format(value);
}

/** `3 documents`, `1 document`. */
export function formatCount(count: number, singular: string, plural = `${singular}s`): string {
  return `${number.format(count)} ${count === 1 ? singular : plural}`;
}

export function formatBytes(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${oneDigit.format(value)} ${units[unit]}`;
}

export function formatFullTime(time: string): string {
  return fullTime.format(new Date(time));
}

/** The time of today, and the date of other days. */
export function formatTime(time: string, now = new Date()): string {
  const date = new Date(time);
  return date.toDateString() === now.toDateString() ? clock.format(date) : shortTime.format(date);
}

/** A score with enough digits to tell close passages apart. */
export function formatScore(score: number): string {
  if (score === 0) return "0";
  return Math.abs(score) < 0.001 ? score.toExponential(1) : score.toFixed(3);
}

/** A description of the API, which begins with a small letter, as a sentence. */
export function formatSentence(text: string): string {
  const sentence = text.replace(/^\p{Ll}/u, (letter) => letter.toUpperCase());
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
}
