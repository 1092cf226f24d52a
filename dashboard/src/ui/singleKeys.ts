/** Single keys as shortcuts. People who dictate, or whose keyboard repeats, can turn them off. */
import { useSyncExternalStore } from "react";

const KEY = "pidq.single-keys";
const listeners = new Set<() => void>();

export function hasSingleKeys(): boolean {
  return localStorage.getItem(KEY) !== "off";
}

export function setSingleKeys(isOn: boolean): void {
  if (isOn) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, "off");
  for (const listener of listeners) listener();
}

export function useSingleKeys(): boolean {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, hasSingleKeys);
}

const FIELDS =
  "input:not([type=checkbox], [type=radio], [type=button]), textarea, select, [contenteditable=true]";
/** Lists move to the item that begins with what is typed. */
const LISTS = "[role=menu], [role=listbox]";

/** Returns whether a key is meant for the element in which it is pressed, which may be in a shadow root, as an editor. */
export function isTyping(event: Pick<Event, "target"> & Partial<Pick<Event, "composedPath">>): boolean {
  const [pressedIn] = event.composedPath?.() ?? [event.target];
  if (!(pressedIn instanceof Element)) return false;
  return pressedIn.closest(`${FIELDS}, ${LISTS}, [role=dialog]`) !== null;
}
