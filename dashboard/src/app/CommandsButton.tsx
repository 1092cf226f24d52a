/** The button that opens the palette, with its keys. */
import { Search } from "lucide-react";
import { Button } from "react-aria-components";
import { useFrame } from "../features/frame/frame";
import { Keys } from "./shortcuts/Keys";
import { ariaKeys, IS_MAC } from "./shortcuts/keys";
import { COMMANDS_KEYS } from "./shortcuts/shortcuts";

export function CommandsButton() {
  const { open } = useFrame();
  return (
    <Button
      className="commands-button"
      aria-label="Search and commands"
      aria-keyshortcuts={ariaKeys(COMMANDS_KEYS, IS_MAC)}
      onPress={() => open("commands")}
    >
      <Search size={16} aria-hidden />
      <span className="grow">Search</span>
      <Keys keys={COMMANDS_KEYS} />
    </Button>
  );
}
