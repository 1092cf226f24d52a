/** The page "Sign in": by password, or at the identity provider. */
import { LogIn } from "lucide-react";
import { useEffect } from "react";
import { useLocation } from "react-router";
import { type SignInMethods, ssoAddress } from "../../features/session/session";
import { PasswordForm } from "./PasswordForm";
import { signInErrorOf, withoutError } from "./signInErrors";
import "../../ui/ui.css";
import "./sign-in.css";

export function SignInPage({ methods }: { methods: SignInMethods }) {
  const { pathname, search } = useLocation();
  useEffect(() => {
    document.title = "Sign in · pidq";
  }, []);
  return (
    <main className="sign-in">
      <div className="sign-in-card">
        <img src="/icon.svg" alt="" width="40" height="40" />
        <h1>Sign in to pidq</h1>
        <SignInError search={search} />
        {methods.password && <PasswordForm />}
        {methods.password && methods.sso && <p className="sign-in-or muted">or</p>}
        {methods.sso && (
          // An address of the server. Links of the components open pages of the front end.
          <a
            className="button sign-in-sso"
            href={ssoAddress(withoutError(pathname, search), signInErrorOf(search)?.asksForAccount)}
          >
            <LogIn size={16} aria-hidden /> Continue with {methods.sso.name}
          </a>
        )}
        {!methods.password && !methods.sso && (
          <p className="muted">Nobody can sign in here yet: this dashboard has no client at the API.</p>
        )}
      </div>
    </main>
  );
}

function SignInError({ search }: { search: string }) {
  const error = signInErrorOf(search);
  if (!error) return null;
  return (
    <div className="problem" role="alert">
      <div>
        <strong>{error.title}</strong>
        <p>{error.advice}</p>
      </div>
    </div>
  );
}
