/** Messages for the addresses `?error=<code>` to which a failed single sign-on leads, one row per code. */

interface SignInError {
  code: string;
  title: string;
  advice: string;
}

/** The address of the sign-in page by itself; it also appears at every other address without a session. */
export const SIGN_IN_PATH = "/sign-in";

const SIGN_IN_ERRORS: SignInError[] = [
  {
    code: "sso-denied",
    title: "The identity provider did not let you in",
    advice:
      "You may have canceled, or your account may lack access to pidq. Ask your administrator for access.",
  },
  {
    code: "sso-failed",
    title: "The sign-in was not completed",
    advice: "It may have taken too long, or been started in another tab. Try again.",
  },
  {
    code: "sso-unavailable",
    title: "The identity provider cannot be reached",
    advice: "Try again in a few minutes. If it stays so, tell your administrator.",
  },
  {
    code: "sso-rejected",
    title: "pidq did not accept the sign-in of the identity provider",
    advice: "Tell your administrator: the settings of single sign-on or of your account need a change.",
  },
];

const UNKNOWN = {
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
  if (pathname === SIGN_IN_PATH) return "/";
  const parameters = new URLSearchParams(search);
  // `error` may be a parameter of a page; only that of a sign-in starts so.
  if (parameters.get("error")?.startsWith("sso-")) parameters.delete("error");
  return parameters.size > 0 ? `${pathname}?${parameters}` : pathname;
}
