/** A shortcut that the help lists. */
export interface ShortcutRow {
  keys: string;
  label: string;
}
