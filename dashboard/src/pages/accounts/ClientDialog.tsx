/** Form of a new OAuth client. */
import { type FormEvent, useState } from "react";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { Checkbox, TextField } from "../../ui/fields";
import { ProblemMessage } from "../../ui/ProblemMessage";
import type { ShownSecret } from "../../ui/SecretDialog";
import { useCreateClient } from "./queries";

interface ClientDialogProps {
  onClose: () => void;
  onSecret: (shown: ShownSecret) => void;
}

export function ClientDialog({ onClose, onSecret }: ClientDialogProps) {
  const [id, setId] = useState("");
  const [title, setTitle] = useState("");
  const [mayWrite, setMayWrite] = useState(false);
  const create = useCreateClient();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const scopes = mayWrite ? ["read", "write"] : ["read"];
    const onSuccess = (created: { id: string; secret?: string }) => {
      onClose();
      onSecret({ title: "Secret of the new client", name: created.id, secret: created.secret ?? "" });
    };
    create.mutate({ id, title, scopes }, { onSuccess });
  };
  return (
    <Dialog title="Add an OAuth client" isOpen onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <p className="muted">A program gets tokens with its id and secret (grant type client_credentials).</p>
        <TextField label="Id" value={id} onChange={setId} isRequired autoFocus />
        <TextField label="Title" value={title} onChange={setTitle} />
        <Checkbox label="May also store graphs (scope write)" isSelected={mayWrite} onChange={setMayWrite} />
        {create.isError && <ProblemMessage error={create.error} />}
        <div className="dialog-actions">
          <Button onPress={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" isDisabled={create.isPending}>
            Add
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
