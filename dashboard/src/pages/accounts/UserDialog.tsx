/** Form of a user: a new one, or role, groups and state of an existing one. */
import { type FormEvent, useState } from "react";
import type { Account } from "../../features/access/accounts";
import { useSession } from "../../features/session/session";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { Checkbox, Select, TextField } from "../../ui/fields";
import { ProblemMessage } from "../../ui/ProblemMessage";
import type { ShownSecret } from "../../ui/SecretDialog";
import { ROLES, useChangeAccount, useCreateAccount } from "./queries";

interface UserDialogProps {
  account: Account | null;
  onClose: () => void;
  onSecret: (shown: ShownSecret) => void;
}

export function UserDialog({ account, onClose, onSecret }: UserDialogProps) {
  const [login, setLogin] = useState(account?.login ?? "");
  const [role, setRole] = useState(account?.role ?? "viewer");
  const [groups, setGroups] = useState(account?.groups.join(" ") ?? "");
  const [isSsoOnly, setSsoOnly] = useState(false);
  const [isDisabled, setDisabled] = useState(account?.disabled ?? false);
  const create = useCreateAccount();
  const change = useChangeAccount();
  const session = useSession();
  const isOwn = session.data?.signed_in === true && session.data.login === account?.login;
  const groupList = groups.split(/[\s,]+/).filter(Boolean);

  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (account) {
      const patch = { role, groups: groupList, disabled: isDisabled };
      change.mutate({ login: account.login, patch }, { onSuccess: onClose });
      return;
    }
    create.mutate(
      { login, role, groups: groupList, sso_only: isSsoOnly },
      {
        onSuccess: (created) => {
          onClose();
          if (created.password) {
            onSecret({ title: "Password of the new user", name: created.login, secret: created.password });
          }
        },
      },
    );
  };

  const error = create.error ?? change.error;
  return (
    <Dialog title={account ? `Edit ${account.login}` : "Add a user"} isOpen onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        {!account && (
          <TextField
            label="Login"
            description="E-mail address, or any name without spaces."
            value={login}
            onChange={setLogin}
            isRequired
            autoFocus
          />
        )}
        {!isOwn && <Select label="Role" choices={ROLES} value={role} onChange={setRole} />}
        <TextField
          label="Groups"
          description="Names separated by spaces; permissions on graphs can be granted to groups."
          value={groups}
          onChange={setGroups}
        />
        {!account && (
          <Checkbox
            label="Single sign-on only, without a password"
            isSelected={isSsoOnly}
            onChange={setSsoOnly}
          />
        )}
        {account && !isOwn && (
          <Checkbox label="Disabled: cannot sign in" isSelected={isDisabled} onChange={setDisabled} />
        )}
        {error && <ProblemMessage error={error} />}
        <div className="dialog-actions">
          <Button onPress={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" isDisabled={create.isPending || change.isPending}>
            {account ? "Save" : "Add"}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
