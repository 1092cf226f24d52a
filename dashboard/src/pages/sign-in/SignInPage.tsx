/** The page "Sign in": by password, or at the identity provider. */
import { LogIn } from "lucide-react";
import { type FormEvent, useState } from "react";
import { useLocation } from "react-router";
import { ApiProblem } from "../../api/problem";
import { type SignInMethods, useSignIn } from "../../app/session";
import { Button, ButtonLink } from "../../ui/Button";
import { TextField } from "../../ui/fields";
import "../../ui/ui.css";
import "./sign-in.css";

export function SignInPage({ methods }: { methods: SignInMethods }) {
  const location = useLocation();
  const returnTo = encodeURIComponent(location.pathname + location.search);
  return (
    <main className="sign-in">
      <div className="sign-in-card">
        <img src="/icon.svg" alt="" width="40" height="40" />
        <h1>Sign in to pidq</h1>
        {methods.password && <PasswordForm />}
        {methods.password && methods.sso && <p className="sign-in-or muted">or</p>}
        {methods.sso && (
          <ButtonLink href={`/session/sso?return_to=${returnTo}`} target="_self">
            <LogIn size={16} aria-hidden /> Continue with {methods.sso.name}
          </ButtonLink>
        )}
      </div>
    </main>
  );
}

function PasswordForm() {
  const [login, setLogin] = useState("");
  const [password, setPassword] = useState("");
  const signIn = useSignIn();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    signIn.mutate({ login, password });
  };
  return (
    <form onSubmit={submit}>
      <TextField
        label="Login"
        value={login}
        onChange={setLogin}
        autoComplete="username"
        isRequired
        autoFocus
      />
      <TextField
        label="Password"
        type="password"
        value={password}
        onChange={setPassword}
        autoComplete="current-password"
        isRequired
        error={signIn.isError ? messageOf(signIn.error) : undefined}
      />
      <Button kind="primary" type="submit" isDisabled={signIn.isPending}>
        Sign in
      </Button>
    </form>
  );
}

function messageOf(error: unknown): string {
  if (!(error instanceof ApiProblem)) return "The service cannot be reached. Is it running?";
  if (error.fields.status === 401) return "The login or the password is wrong.";
  return error.fields.detail ?? error.fields.title;
}
