/** The shortcuts of all pages: one table registers them and is what the help shows. */
import type { Frame } from "../../features/frame/frame";
import type { ShortcutRow } from "../../features/frame/shortcutRow";
import { PAGES } from "../pages";

export interface Shortcut extends ShortcutRow {
  group: "Everywhere" | "Go to a page";
  run: (frame: Frame) => void;
}

export const COMMANDS_KEYS = "Mod+k";
export const HELP_KEYS = "?";

export const SHORTCUTS: Shortcut[] = [
  {
    keys: COMMANDS_KEYS,
    label: "Search pages, drawings, tags, documents and actions",
    group: "Everywhere",
    run: (frame) => frame.open(frame.dialog === "commands" ? null : "commands"),
  },
  {
    keys: "/",
    label: "Search on the page",
    group: "Everywhere",
    run: (frame) => frame.focusSearch() || frame.open("commands"),
  },
  {
    keys: HELP_KEYS,
    label: "Show the keyboard shortcuts",
    group: "Everywhere",
    run: (frame) => frame.open("shortcuts"),
  },
  {
    keys: "[",
    label: "Narrow or widen the navigation",
    group: "Everywhere",
    run: (frame) => frame.toggleSidebar(),
  },
  ...PAGES.map(
    ({ path, label, key }): Shortcut => ({
      keys: `g ${key}`,
      label,
      group: "Go to a page",
      run: (frame) => frame.navigate(path),
    }),
  ),
];
