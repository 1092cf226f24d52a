/** Shows a password or a secret once, with a button that copies it. */
import { Button } from "./Button";
import { CopyButton } from "./CopyButton";
import { Dialog } from "./Dialog";

export interface ShownSecret {
  title: string;
  name: string;
  secret: string;
}

export function SecretDialog({ shown, onClose }: { shown: ShownSecret | null; onClose: () => void }) {
  return (
    <Dialog title={shown?.title ?? ""} isOpen={shown !== null} onClose={onClose}>
      <p>
        For <strong>{shown?.name}</strong>. It is shown only now: the service stores a hash of it.
      </p>
      <div className="row">
        <code className="secret grow">{shown?.secret}</code>
        <CopyButton text={shown?.secret ?? ""} label="Copy the secret" size="normal" />
      </div>
      <div className="dialog-actions">
        <Button kind="primary" onPress={onClose}>
          Done
        </Button>
      </div>
    </Dialog>
  );
}
