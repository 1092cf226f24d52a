/** Messages for the addresses `?error=<code>` to which a failed single sign-on leads, one row per code. */

interface SignInError {
  code: string;
  title: string;
  advice: string;
  /** True if another account at the identity provider may help. */
  asksForAccount?: boolean;
}

/** The address of the sign-in page by itself; it also appears at every other address without a session. */
export const SIGN_IN_PATH = "/sign-in";

const SIGN_IN_ERRORS: SignInError[] = [
  {
    code: "sso-off",
    title: "Single sign-on is not set up here",
    advice: "Sign in with your password, or ask your administrator.",
  },
  {
    code: "sso-unavailable",
    title: "The identity provider cannot be reached",
    advice: "Try again in a few minutes. If it stays so, tell your administrator.",
  },
  {
    code: "sso-state",
    title: "The sign-in was not completed",
    advice:
      "It took too long, was already completed, or was started in another browser or at another address. Try again.",
  },
  {
    code: "sso-denied",
    title: "The identity provider did not let you in",
    advice:
      "You may have canceled, or your account may lack access to pidq. Ask your administrator for access.",
  },
  {
    code: "sso-refused",
    title: "The identity provider reported an error",
    advice: "Try again. If it fails again, tell your administrator, who finds the cause in the log.",
  },
  {
    code: "sso-invalid",
    title: "The reply of the identity provider is not valid",
    advice: "Try again. If it fails again, tell your administrator, who finds the cause in the log.",
  },
  {
    code: "sso-rejected",
    title: "pidq did not accept the sign-in of the identity provider",
    advice:
      "Use another account, or tell your administrator: the settings of single sign-on or of your account need a change.",
    asksForAccount: true,
  },
  {
    code: "sso-api-unavailable",
    title: "The service does not respond",
    advice: "Try again in a few minutes. If it stays so, tell your administrator.",
  },
  {
    code: "sso-too-large",
    title: "Your account has too many groups for a session",
    advice: "Use another account, or tell your administrator.",
    asksForAccount: true,
  },
];

const UNKNOWN: Omit<SignInError, "code"> = {
  title: "The sign-in failed",
  advice: "Try again. If it fails again, tell your administrator.",
};

/** The message for the search of an address, or null if it tells of no error. */
export function signInErrorOf(search: string): Omit<SignInError, "code"> | null {
  const code = new URLSearchParams(search).get("error");
  if (code === null) return null;
  return SIGN_IN_ERRORS.find((row) => row.code === code) ?? UNKNOWN;
}

/** The address without the error: where the next sign-in comes back to. */
export function withoutError(pathname: string, search: string): string {
  const parameters = new URLSearchParams(search);
  if (pathname === SIGN_IN_PATH) return localPath(parameters.get("return_to") ?? "/");
  // `error` may be a parameter of a page; only that of a sign-in starts so.
  if (parameters.get("error")?.startsWith("sso-")) parameters.delete("error");
  return parameters.size > 0 ? `${pathname}?${parameters}` : pathname;
}

/** Anyone can write the address of the sign-in page; `//host` and `/\host` are other sites. */
function localPath(path: string): string {
  return /^\/(?![/\\])/.test(path) ? path : "/";
}
