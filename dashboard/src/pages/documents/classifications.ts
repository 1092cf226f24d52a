/** Classifications as people type them, separated by commas. */

export function classificationsOf(text: string): string[] {
  return [...new Set(text.split(",").map((name) => name.trim()))].filter((name) => name !== "");
}
