/** Single sign-on at a real identity provider (`provider.mjs`), which `scripts/dashboard.sh test` starts. */
import type { BrowserContext, Page } from "@playwright/test";
import { expect, expectAccessible, test } from "./fixtures";

test.skip(!process.env.PIDQ_SSO_ISSUER, "PIDQ_SSO_ISSUER is not set; run scripts/dashboard.sh test");

test.use({ storageState: { cookies: [], origins: [] } });

test.beforeEach(async ({ context }) => {
  await withoutFonts(context);
});

/** The pages of the provider load a font from the internet. */
function withoutFonts(context: BrowserContext): Promise<unknown> {
  return context.route("https://fonts.googleapis.com/**", (route) =>
    route.fulfill({ contentType: "text/css", body: "" }),
  );
}

const PAGE = "/query?q=nodes()";

/** Logs in at the provider, from the sign-in page on. */
async function logIn(page: Page, login: string) {
  await page.getByRole("link", { name: "Continue with Plant ID" }).click();
  await page.locator("input[name=login]").fill(login);
  await page.locator("input[name=password]").fill("any password");
  await page.getByRole("button", { name: "Sign-in" }).click();
  await page.getByRole("button", { name: "Continue" }).click();
}

async function sessionCookie(page: Page): Promise<string | undefined> {
  const cookies = await page.context().cookies();
  return cookies.find(({ name }) => name === "__Host-pidq-session")?.value;
}

/** Statuses of requests to the API with the session of the page. */
function apiStatuses(page: Page): Promise<number[]> {
  const paths = ["/graph?limit=1", "/api/pipelines"];
  return page.evaluate(
    async (paths) => Promise.all(paths.map(async (path) => (await fetch(path)).status)),
    paths,
  );
}

test("a person signs in at the provider, works with its tokens, and signs out there too", async ({
  page,
}) => {
  await page.goto(PAGE);
  await logIn(page, "ann");
  await expect(page.getByRole("button", { name: "Account of ann@plant.example" })).toBeVisible();
  expect(new URL(page.url()).pathname).toBe("/query");
  expect(await apiStatuses(page)).toEqual([200, 200]);
  expect(await page.evaluate(() => document.cookie)).toBe("");

  // Access tokens last for seconds. New ones are in a new cookie.
  const first = await sessionCookie(page);
  await expect
    .poll(async () => [await apiStatuses(page), (await sessionCookie(page)) !== first], { timeout: 30_000 })
    .toEqual([[200, 200], true]);

  const stolen = await page.context().cookies();
  await page.getByRole("button", { name: "Account of ann@plant.example" }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await page.getByRole("button", { name: "Yes, sign me out" }).click();
  await expect(page.getByRole("heading", { name: "Sign in to pidq" })).toBeVisible();
  expect(await sessionCookie(page)).toBeUndefined();

  // A copy of the session ends with its access token, because its refresh token was revoked.
  await page.context().addCookies(stolen.filter(({ name }) => name.startsWith("__Host-pidq-session")));
  await expect.poll(async () => (await apiStatuses(page))[0], { timeout: 30_000 }).toBe(401);

  // The provider asks for the person again.
  await page.goto("/");
  await page.getByRole("link", { name: "Continue with Plant ID" }).click();
  await expect(page.locator("input[name=login]")).toBeVisible();
});

test("a person of the provider is told where to change the password", async ({ page }) => {
  await page.goto(PAGE);
  await logIn(page, "ann");
  await page.getByRole("button", { name: "Account of ann@plant.example" }).click();
  await page.getByRole("menuitem", { name: "Change your password" }).click();
  const dialog = page.getByRole("dialog", { name: "Change your password" });
  await expect(dialog).toContainText("You sign in with Plant ID, so your account has no password here.");
  await expect(dialog.getByRole("textbox")).toHaveCount(0);
});

test("a person whom the API rejects may choose another account", async ({ page }) => {
  await page.goto(PAGE);
  await logIn(page, "stranger");
  await expect(page.getByRole("alert")).toContainText("did not accept the sign-in");
  expect(new URL(page.url()).searchParams.get("error")).toBe("sso-rejected");
  expect(await sessionCookie(page)).toBeUndefined();
  await expectAccessible(page);

  await logIn(page, "ann");
  await expect(page.getByRole("button", { name: "Account of ann@plant.example" })).toBeVisible();
  expect(new URL(page.url()).pathname).toBe("/query");
});

test("a person who cancels at the provider can sign in with a password", async ({ page }) => {
  await page.goto(PAGE);
  await page.getByRole("link", { name: "Continue with Plant ID" }).click();
  await page.getByRole("link", { name: "Cancel" }).click();
  await expect(page.getByRole("alert")).toContainText("canceled");
  await page.getByLabel("Login").fill(process.env.PIDQ_DEMO_LOGIN ?? "");
  await page.getByLabel("Password", { exact: true }).fill(process.env.PIDQ_DEMO_PASSWORD ?? "");
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await expect(page.getByRole("button", { name: "Account of demo" })).toBeVisible();
  expect(new URL(page.url()).pathname).toBe("/query");
});

test("a callback that this browser has not started ends on the sign-in page", async ({ page, browser }) => {
  const issuer = encodeURIComponent(process.env.PIDQ_SSO_ISSUER ?? "");
  await page.goto(`/session/callback?code=c&state=s&iss=${issuer}`);
  await expect(page.getByRole("alert")).toContainText("started in another browser");
  await expect(page.getByLabel("Password", { exact: true })).toBeVisible();

  // The reply to a sign-in of another browser is of no use here, even if this one has started a sign-in as well.
  const other = await browser.newPage({ baseURL: new URL(page.url()).origin });
  await withoutFonts(other.context());
  await other.goto("/");
  const reply = other.waitForRequest(/\/session\/callback\?/);
  await logIn(other, "ann");
  const url = (await reply).url();
  await other.close();
  await page.getByRole("link", { name: "Continue with Plant ID" }).click();
  await expect(page.locator("input[name=login]")).toBeVisible();
  await page.goto(url);
  await expect(page.getByRole("alert")).toContainText("started in another browser");
  expect(await sessionCookie(page)).toBeUndefined();
});
