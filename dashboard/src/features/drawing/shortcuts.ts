/** Keys of the page of a drawing, one row per key. */

export type ShortcutAction =
  | "search"
  | "clear"
  | "zoomIn"
  | "zoomOut"
  | "fit"
  | "left"
  | "right"
  | "up"
  | "down"
  | "upstream"
  | "downstream"
  | "isolate"
  | "loop"
  | "line"
  | "path"
  | "partner"
  | "nextChange"
  | "previousChange";

export interface Shortcut {
  key: string;
  description: string;
  action: ShortcutAction;
  /** Works only while the drawing has the focus, since the key has a meaning in lists and tabs. */
  needsFocus?: boolean;
}

export const shortcuts: Shortcut[] = [
  { key: "/", description: "Find an item", action: "search" },
  { key: "Escape", description: "Clear the selection", action: "clear", needsFocus: true },
  { key: "+", description: "Zoom in", action: "zoomIn" },
  { key: "=", description: "Zoom in", action: "zoomIn" },
  { key: "-", description: "Zoom out", action: "zoomOut" },
  { key: "0", description: "Show the whole drawing", action: "fit" },
  { key: "ArrowLeft", description: "Move to the left", action: "left", needsFocus: true },
  { key: "ArrowRight", description: "Move to the right", action: "right", needsFocus: true },
  { key: "ArrowUp", description: "Move up", action: "up", needsFocus: true },
  { key: "ArrowDown", description: "Move down", action: "down", needsFocus: true },
  { key: "u", description: "Upstream of the selected item", action: "upstream" },
  { key: "d", description: "Downstream of the selected item", action: "downstream" },
  { key: "i", description: "Isolate the selected item", action: "isolate" },
  { key: "l", description: "Loop of the selected item", action: "loop" },
  { key: "e", description: "Line of the selected item", action: "line" },
  { key: "t", description: "Path from the selected item to another", action: "path" },
  { key: "o", description: "Go to the sheet on which a connector continues", action: "partner" },
  { key: "n", description: "Next change between revisions", action: "nextChange" },
  { key: "p", description: "Previous change between revisions", action: "previousChange" },
];

/** Names of the keys that are no characters. */
const KEY_NAMES: Record<string, string> = {
  Escape: "Esc",
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowUp: "↑",
  ArrowDown: "↓",
};

/** The rows of the help. `=` is `+` without Shift. */
export const shortcutRows = shortcuts
  .filter((row) => row.key !== "=")
  .map((row) => ({ keys: KEY_NAMES[row.key] ?? row.key, label: row.description }));

/** The part of a keyboard event that is used here. */
export type KeyPress = Pick<
  KeyboardEvent,
  "key" | "ctrlKey" | "metaKey" | "altKey" | "target" | "defaultPrevented" | "preventDefault"
>;

type PressedKey = Pick<KeyPress, "key" | "ctrlKey" | "metaKey" | "altKey">;

/** The action of a key; null if it has none here. */
export function shortcutOf(press: PressedKey, hasFocus: boolean, isTyping: boolean): ShortcutAction | null {
  if (press.ctrlKey || press.metaKey || press.altKey || isTyping) return null;
  const row = shortcuts.find((row) => row.key === press.key);
  return row && (hasFocus || !row.needsFocus) ? row.action : null;
}
