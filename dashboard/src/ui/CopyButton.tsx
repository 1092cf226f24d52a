/** A button that copies a text to the clipboard. */
import { Copy } from "lucide-react";
import { Button, type ButtonProps } from "./Button";
import { showError, showSuccess } from "./toast";

interface CopyButtonProps extends Pick<ButtonProps, "size"> {
  text: string;
  /** Accessible name; what is copied. */
  label: string;
  /** Text of the button. */
  children?: string;
}

export function CopyButton({ text, label, size = "small", children = "Copy" }: CopyButtonProps) {
  return (
    <Button size={size} aria-label={label} onPress={() => copyText(text)}>
      <Copy size={14} aria-hidden /> {children}
    </Button>
  );
}

/** Copies a text, and shows whether that succeeded. */
export function copyText(text: string): void {
  navigator.clipboard.writeText(text).then(
    () => showSuccess("Copied."),
    () => showError("The browser does not allow copying; select the text and copy it."),
  );
}
