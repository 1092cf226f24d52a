/** The keys of a shortcut, as on the keyboard. */
import { IS_MAC, keyCaps } from "./keys";
import "./shortcuts.css";

export function Keys({ keys }: { keys: string }) {
  const caps = keyCaps(keys, IS_MAC);
  return (
    <span className="keys">
      {caps.map((cap, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the keys of a shortcut never change.
        <kbd key={index}>{cap}</kbd>
      ))}
    </span>
  );
}
