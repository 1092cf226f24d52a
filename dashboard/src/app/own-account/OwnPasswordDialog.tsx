/** Changes the password of the person who uses the dashboard. */
import { type FormEvent, useState } from "react";
import { ApiProblem } from "../../api/problem";
import { useChangePassword, useOwnAccount } from "../../features/session/ownAccount";
import { useSession } from "../../features/session/session";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { PasswordField } from "../../ui/PasswordField";
import { ProblemMessage } from "../../ui/ProblemMessage";
import { QueryState } from "../../ui/QueryState";
import { showSuccess } from "../../ui/toast";

export function OwnPasswordDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  return (
    <Dialog title="Change your password" isOpen={isOpen} onClose={onClose}>
      <Content onClose={onClose} />
    </Dialog>
  );
}

function Content({ onClose }: { onClose: () => void }) {
  const account = useOwnAccount();
  if (!account.data) return <QueryState query={account} label="Account" />;
  return account.data.has_password ? (
    <PasswordForm login={account.data.name} onClose={onClose} />
  ) : (
    <WithoutPassword onClose={onClose} />
  );
}

function WithoutPassword({ onClose }: { onClose: () => void }) {
  const provider = useSession().data?.methods.sso?.name ?? "an identity provider";
  return (
    <>
      <p>
        You sign in with {provider}, so your account has no password here. Change your password at {provider}.
      </p>
      <div className="dialog-actions">
        <Button onPress={onClose}>Close</Button>
      </div>
    </>
  );
}

function PasswordForm({ login, onClose }: { login: string; onClose: () => void }) {
  const [current, setCurrent] = useState("");
  const [next, setNext] = useState("");
  const change = useChangePassword();
  const problem = problemOfField(change.error);
  // A field that is marked as wrong keeps the form from being sent.
  const edit = (set: (text: string) => void) => (text: string) => {
    change.reset();
    set(text);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const onSuccess = () => {
      showSuccess("Your password is changed. Your other sessions have ended.");
      onClose();
    };
    change.mutate({ current_password: current, new_password: next }, { onSuccess });
  };
  return (
    <form className="stack" onSubmit={submit}>
      {/* Password managers store the new password for this login. */}
      <input type="text" autoComplete="username" value={login} readOnly hidden />
      <PasswordField
        label="Current password"
        autoComplete="current-password"
        value={current}
        onChange={edit(setCurrent)}
        error={problem?.field === "current" ? problem.detail : undefined}
        isRequired
        autoFocus
      />
      <PasswordField
        label="New password"
        autoComplete="new-password"
        description="At least 8 characters. You stay signed in here; all your other sessions end."
        value={next}
        onChange={edit(setNext)}
        error={problem?.field === "new" ? problem.detail : undefined}
        isRequired
      />
      {change.isError && !problem && <ProblemMessage error={change.error} />}
      <div className="dialog-actions">
        <Button onPress={onClose}>Cancel</Button>
        <Button kind="primary" type="submit" isDisabled={change.isPending}>
          Change the password
        </Button>
      </div>
    </form>
  );
}

/** The field that a problem is about, with what is wrong; null for other problems. */
function problemOfField(error: unknown): { field: "current" | "new"; detail: string } | null {
  if (!(error instanceof ApiProblem)) return null;
  if (error.fields.code === "wrong-password") return { field: "current", detail: error.message };
  const isNew = error.fields.errors?.some(({ pointer }) => pointer === "/new_password");
  return isNew ? { field: "new", detail: error.message } : null;
}
