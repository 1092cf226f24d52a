/** Sets the password of a user. */
import { type FormEvent, useState } from "react";
import type { Account } from "../../features/access/accounts";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { PasswordField } from "../../ui/PasswordField";
import { ProblemMessage } from "../../ui/ProblemMessage";
import { showSuccess } from "../../ui/toast";
import { useChangeAccount } from "./queries";

export function PasswordDialog({ account, onClose }: { account: Account; onClose: () => void }) {
  const [password, setPassword] = useState("");
  const change = useChangeAccount();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const onSuccess = () => {
      showSuccess(`The password of ${account.login} is changed.`);
      onClose();
    };
    change.mutate({ login: account.login, patch: { password } }, { onSuccess });
  };
  return (
    <Dialog title={`Password of ${account.login}`} isOpen onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <PasswordField
          label="New password"
          autoComplete="new-password"
          description={`${account.login} is signed out everywhere.`}
          value={password}
          onChange={setPassword}
          isRequired
          autoFocus
        />
        {change.isError && <ProblemMessage error={change.error} />}
        <div className="dialog-actions">
          <Button onPress={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" isDisabled={change.isPending}>
            Set the password
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
