/** Keys of shortcuts: their notation, whether an event is one of them, and how people read them. */

/** The part of a keyboard event that shortcuts look at. */
export interface KeyPress {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
}

/** A key is `Mod+k` (Ctrl, or Cmd on a Mac) or the character itself, as `?`; several are typed one after another. */
export function keysOf(notation: string): string[] {
  return notation.split(" ");
}

/** The notation of what was pressed, or null if it is no key of a shortcut. */
export function notationOf({ key, ctrlKey, metaKey, altKey }: KeyPress, isMac: boolean): string | null {
  if (key.length !== 1 || key === " ") return null;
  if (!ctrlKey && !metaKey && !altKey) return key;
  const hasMod = isMac ? metaKey && !ctrlKey : ctrlKey && !metaKey;
  return hasMod && !altKey ? `Mod+${key.toLowerCase()}` : null;
}

/** Set if characters alone trigger it, which people can turn off. */
export function isSingleKey(notation: string): boolean {
  return !notation.startsWith("Mod+");
}

/** The texts on the keys: `Mod+k` as "Ctrl" and "K". */
export function keyCaps(notation: string, isMac: boolean): string[] {
  return keysOf(notation).flatMap((key) =>
    key.startsWith("Mod+") ? [isMac ? "⌘" : "Ctrl", key.slice(4).toUpperCase()] : [key],
  );
}

/** For `aria-keyshortcuts`, which has no sequences. */
export function ariaKeys(notation: string, isMac: boolean): string {
  return notation
    .replace("Mod", isMac ? "Meta" : "Control")
    .replace(/\+(.)$/, (_, key) => `+${key.toUpperCase()}`);
}

export const IS_MAC = typeof navigator !== "undefined" && /Mac|iPhone|iPad/.test(navigator.userAgent);

export interface Step<Row> {
  /** The shortcut that is complete. */
  row: Row | null;
  /** The keys typed so far of those that need more. */
  typed: string[];
}

/** Adds a key to those typed before, and finds the shortcut. A key that continues nothing starts anew. */
export function step<Row extends { keys: string }>(rows: Row[], typed: string[], key: string): Step<Row> {
  const next = [...typed, key];
  const row = rows.find((row) => row.keys === next.join(" "));
  if (row) return { row, typed: [] };
  const continues = rows.some((row) => row.keys.startsWith(`${next.join(" ")} `));
  if (continues) return { row: null, typed: next };
  return typed.length > 0 ? step(rows, [], key) : { row: null, typed: [] };
}
