/** A button for an action on the row of a table: an icon with a tooltip, and on a phone an icon with words. */
import type { ReactNode } from "react";
import { Button, Tooltip, TooltipTrigger } from "react-aria-components";

interface RowActionProps {
  /** Words on the button where a pointer cannot rest on it. */
  words: string;
  /** What the row is about, in the accessible name and the tooltip: `Edit` and `demo` make `Edit demo`. */
  subject: string;
  icon: ReactNode;
  isDisabled?: boolean;
  onPress: () => void;
}

export function RowAction({ words, subject, icon, isDisabled = false, onPress }: RowActionProps) {
  const label = `${words} ${subject}`;
  return (
    <TooltipTrigger delay={500}>
      <Button className="icon-button row-action" aria-label={label} isDisabled={isDisabled} onPress={onPress}>
        {icon}
        <span className="row-action-words">{words}</span>
      </Button>
      <Tooltip className="tooltip">{label}</Tooltip>
    </TooltipTrigger>
  );
}
