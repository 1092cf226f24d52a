/** Runs the shortcuts of the table when their keys are pressed. */
import { useEffect, useRef } from "react";
import type { Frame } from "../../features/frame/frame";
import { hasSingleKeys, isTyping } from "../../ui/singleKeys";
import { IS_MAC, isSingleKey, notationOf, step } from "./keys";
import { COMMANDS_KEYS, SHORTCUTS } from "./shortcuts";

/** The longest pause within a sequence of keys, in milliseconds. */
const PAUSE = 1_200;

export function useShortcuts(frame: Frame): void {
  const current = useRef(frame);
  useEffect(() => {
    current.current = frame;
  });
  useEffect(() => {
    let typed: string[] = [];
    let at = 0;
    const onKeyDown = (event: KeyboardEvent) => {
      const key = event.defaultPrevented ? null : notationOf(event, IS_MAC);
      if (key === null || !isMeant(event, key, current.current)) return;
      const found = step(SHORTCUTS, event.timeStamp - at > PAUSE ? [] : typed, key);
      typed = found.typed;
      at = event.timeStamp;
      if (!found.row) return;
      event.preventDefault();
      found.row.run(current.current);
    };
    // Before the keys of a page: the second key of a sequence may be one of them.
    window.addEventListener("keydown", onKeyDown, { capture: true });
    return () => window.removeEventListener("keydown", onKeyDown, { capture: true });
  }, []);
}

/** Returns whether a key is meant for the frame, and not for a field or a dialog. */
function isMeant(event: KeyboardEvent, key: string, frame: Frame): boolean {
  if (document.querySelector(".overlay")) return key === COMMANDS_KEYS && frame.dialog === "commands";
  if (!isSingleKey(key)) return true;
  return hasSingleKeys() && !event.repeat && !isTyping(event);
}
