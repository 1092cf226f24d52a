/** Whether single keys are shortcuts. People who dictate, or whose keyboard repeats, can turn that off. */
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
