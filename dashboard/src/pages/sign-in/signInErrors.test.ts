import { expect, test } from "vitest";
import { signInErrorOf, withoutError } from "./signInErrors";

test("an address without an error has no message", () => {
  expect(signInErrorOf("")).toBeNull();
  expect(signInErrorOf("?q=error")).toBeNull();
});

test.each(["sso-denied", "sso-state", "sso-unavailable", "sso-rejected"])(
  "%s has a message of its own",
  (code) => {
    expect(signInErrorOf(`?error=${code}`)?.title).not.toBe(signInErrorOf("?error=else")?.title);
  },
);

test("an unknown code has the default message, without the text of the address", () => {
  const message = signInErrorOf("?error=<b>call 555</b>");
  expect(message?.title).toBe("The sign-in failed");
  expect(JSON.stringify(message)).not.toContain("555");
});

test("the next sign-in comes back to the page without the error", () => {
  expect(withoutError("/query", "?q=1&error=sso-denied")).toBe("/query?q=1");
  expect(withoutError("/sign-in", "?error=sso-denied")).toBe("/");
  expect(withoutError("/", "?error=sso-denied")).toBe("/");
  expect(withoutError("/query", "?error=mine")).toBe("/query?error=mine");
});

test("a sign-in that failed comes back to the page at which it began, never to another site", () => {
  const back = (path: string) =>
    withoutError("/sign-in", `?error=sso-state&return_to=${encodeURIComponent(path)}`);
  expect(back("/drawings/7?node=P-101")).toBe("/drawings/7?node=P-101");
  for (const other of [
    "//a.example",
    "/\\a.example",
    "https://a.example",
    "javascript:alert(1)",
    "\\\\a",
    "",
  ])
    expect(back(other), other).toBe("/");
});
