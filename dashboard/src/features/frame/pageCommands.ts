/** The commands of the page in view: a page adds them while it is shown. */
import { useEffect, useRef, useSyncExternalStore } from "react";

export interface PageCommand {
  label: string;
  run: () => void;
}

let commands: PageCommand[] = [];
const listeners = new Set<() => void>();

function change(next: PageCommand[]): void {
  commands = next;
  for (const listener of listeners) listener();
}

/** Adds a command to the palette while the component is shown. */
export function usePageCommand(label: string, run: () => void): void {
  const current = useRef(run);
  useEffect(() => {
    current.current = run;
  });
  useEffect(() => {
    const command = { label, run: () => current.current() };
    change([...commands, command]);
    return () => change(commands.filter((other) => other !== command));
  }, [label]);
}

export function usePageCommands(): PageCommand[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => commands,
  );
}
