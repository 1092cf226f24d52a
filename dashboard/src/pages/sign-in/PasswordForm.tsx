/** Sign-in with login and password; also where a session has ended. */
import { type FormEvent, type KeyboardEvent, useEffect, useState } from "react";
import { ApiProblem } from "../../api/problem";
import { useSignIn } from "../../features/session/session";
import { waitingText } from "../../features/session/waiting";
import { Button } from "../../ui/Button";
import { TextField } from "../../ui/fields";
import { PasswordField } from "../../ui/PasswordField";

interface PasswordFormProps {
  /** The login of who signs in again. */
  login?: string;
}

export function PasswordForm({ login: known = "" }: PasswordFormProps) {
  const [login, setLogin] = useState(known);
  const [password, setPassword] = useState("");
  const [hasCapsLock, setCapsLock] = useState(false);
  const signIn = useSignIn();
  const seconds = useCountdown(signIn.error);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (seconds === 0 && !signIn.isPending) signIn.mutate({ login, password });
  };
  const watchCapsLock = (event: KeyboardEvent) => setCapsLock(event.getModifierState("CapsLock"));
  return (
    <form onSubmit={submit}>
      <TextField
        label="Login"
        value={login}
        onChange={setLogin}
        autoComplete="username"
        isRequired
        autoFocus={known === ""}
      />
      <PasswordField
        label="Password"
        value={password}
        onChange={setPassword}
        onKeyDown={watchCapsLock}
        onKeyUp={watchCapsLock}
        onBlur={() => setCapsLock(false)}
        autoComplete="current-password"
        isRequired
        autoFocus={known !== ""}
        description={hasCapsLock && "Caps Lock is on."}
        error={signIn.isError ? messageOf(signIn.error, seconds) : undefined}
      />
      <Button kind="primary" type="submit" isDisabled={signIn.isPending || seconds > 0}>
        {seconds > 0 ? `Wait ${waitingText(seconds)}` : "Sign in"}
      </Button>
    </form>
  );
}

/** The seconds that are left of the time that an error asks to wait. */
function useCountdown(error: unknown): number {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const wait = error instanceof ApiProblem ? Number(error.fields.retry_after ?? 0) : 0;
    const end = performance.now() + wait * 1000;
    const count = () => setSeconds(Math.max(0, Math.ceil((end - performance.now()) / 1000)));
    count();
    if (wait === 0) return;
    const timer = setInterval(count, 1000);
    return () => clearInterval(timer);
  }, [error]);
  return seconds;
}

function messageOf(error: unknown, seconds: number): string {
  if (!(error instanceof ApiProblem)) return "The service cannot be reached. Is it running?";
  const { status, detail, title } = error.fields;
  if (status === 401) return "The login or the password is wrong.";
  if (status === 429) return seconds > 0 ? "There were too many attempts." : "You can try again now.";
  return detail ?? title;
}
