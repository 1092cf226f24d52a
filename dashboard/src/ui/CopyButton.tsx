/** A button that copies a text to the clipboard. */
import { Copy } from "lucide-react";
import { Button } from "../../ui/Button";
import { showError, showSuccess } from "../../ui/toast";

interface CopyButtonProps {
  text: string;
  /** Accessible name; what is copied. */
  label: string;
}

export function CopyButton({ text, label }: CopyButtonProps) {
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => showSuccess("Copied."),
      () => showError("The browser does not allow copying; select the text and copy it."),
    );
  return (
    <Button size="small" aria-label={label} onPress={copy}>
      <Copy size={14} aria-hidden /> Copy
    </Button>
  );
}
