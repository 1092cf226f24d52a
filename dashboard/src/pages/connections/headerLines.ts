/** Headers as lines of text: `Name: value`. */

export function headersOf(text: string): Record<string, string> | null {
  const headers: Record<string, string> = {};
  for (const line of text.split("\n")) {
    if (line.trim() === "") continue;
    const [, name, value] = line.match(/^\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*:\s*(.*?)\s*$/) ?? [];
    if (name === undefined || value === undefined) return null;
    headers[name] = value;
  }
  return headers;
}
