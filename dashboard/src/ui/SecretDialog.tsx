/** Shows a password or a secret once, with a button that copies it. */
import { Copy } from "lucide-react";
import { Button } from "./Button";
import { Dialog } from "./Dialog";
import { showSuccess } from "./toast";

export interface ShownSecret {
  title: string;
  name: string;
  secret: string;
}

export function SecretDialog({ shown, onClose }: { shown: ShownSecret | null; onClose: () => void }) {
  const copy = async () => {
    await navigator.clipboard.writeText(shown?.secret ?? "");
    showSuccess("Copied.");
  };
  return (
    <Dialog title={shown?.title ?? ""} isOpen={shown !== null} onClose={onClose}>
      <p>
        For <strong>{shown?.name}</strong>. It is shown only now: the service stores a hash of it.
      </p>
      <div className="row">
        <code className="secret grow">{shown?.secret}</code>
        <Button onPress={copy}>
          <Copy size={15} aria-hidden /> Copy
        </Button>
      </div>
      <div className="dialog-actions">
        <Button kind="primary" onPress={onClose}>
          Done
        </Button>
      </div>
    </Dialog>
  );
}
