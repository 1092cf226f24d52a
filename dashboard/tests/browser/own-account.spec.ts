/** The own account of a person who is no administrator: its password, and what the pages offer. */
import type { Browser, Page } from "@playwright/test";
import { expect, expectAccessible, test } from "./fixtures";

const PASSWORD = "a first password of vic";
const NEW_PASSWORD = "a second password of vic";

/** Sends a request to the API with the session of the page, and returns the status. */
function send(page: Page, method: string, path: string, body?: object): Promise<number> {
  return page.evaluate(
    async ({ method, path, body }) => {
      const headers = { "Content-Type": "application/json" };
      const response = await fetch(path, { method, headers, body: body ? JSON.stringify(body) : null });
      return response.status;
    },
    { method, path, body },
  );
}

async function signIn(browser: Browser, login: string, password: string): Promise<Page> {
  const context = await browser.newContext({ storageState: { cookies: [], origins: [] } });
  const page = await context.newPage();
  await page.goto("/ask");
  await page.getByRole("textbox", { name: "Login" }).fill(login);
  await page.getByRole("textbox", { name: "Password" }).fill(password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await expect(page.getByRole("button", { name: `Account of ${login}` }).first()).toBeVisible();
  return page;
}

test.beforeEach(async ({ page }) => {
  await page.goto("/users");
  expect(await send(page, "POST", "/accounts", { login: "vic", role: "viewer", password: PASSWORD })).toBe(
    201,
  );
});

test.afterEach(async ({ page }) => {
  await send(page, "DELETE", "/accounts/vic");
});

test("a viewer changes the own password, which ends the other sessions", async ({ browser }) => {
  const other = await signIn(browser, "vic", PASSWORD);
  const own = await signIn(browser, "vic", PASSWORD);
  await own.getByRole("button", { name: "Account of vic" }).first().click();
  await own.getByRole("menuitem", { name: "Change your password" }).click();
  const dialog = own.getByRole("dialog", { name: "Change your password" });
  await expect(dialog.getByRole("textbox", { name: "Current password" })).toBeFocused();
  await expect(dialog.getByLabel("Current password", { exact: true })).toHaveAttribute("type", "password");
  await expectAccessible(own);

  const change = async (current: string, next: string) => {
    await dialog.getByRole("textbox", { name: "Current password" }).fill(current);
    await dialog.getByRole("textbox", { name: "New password" }).fill(next);
    await dialog.getByRole("button", { name: "Change the password" }).click();
  };
  await change("no password of vic", NEW_PASSWORD);
  await expect(dialog.getByText("The current password is wrong.")).toBeVisible();
  await change(PASSWORD, "short");
  await expect(dialog.getByText("A password must have at least 8 characters.")).toBeVisible();
  await change(PASSWORD, NEW_PASSWORD);
  await expect(dialog).toHaveCount(0);
  await expect(own.getByText("Your password is changed.")).toBeVisible();

  expect(await send(own, "GET", "/graph?limit=1")).toBe(200);
  expect(await send(other, "GET", "/graph?limit=1")).toBe(401);
  await (await signIn(browser, "vic", NEW_PASSWORD)).context().close();
  await own.context().close();
  await other.context().close();
});

test("a limited viewer changes the own password too", async ({ page, browser }) => {
  const accounts = await page.evaluate(async () => (await (await fetch("/accounts")).json()).accounts);
  const account = accounts.find(({ login }: { login: string }) => login === "vic");
  const [pipeline] = await page.evaluate(async () => (await (await fetch("/api/pipelines")).json()).data);
  const rules = { [pipeline.id]: { classifications: pipeline.classifications.slice(0, 1), verbs: ["read"] } };
  const path = `/api/account-limits/user:${account.id}`;
  expect(await send(page, "PUT", path, { pipelines: rules })).toBe(200);
  const own = await signIn(browser, "vic", PASSWORD);
  expect(await send(own, "GET", "/graph/plant-100"), "drawings are not limited").toBe(200);
  const body = { current_password: PASSWORD, new_password: NEW_PASSWORD };
  expect(await send(own, "PUT", "/account/password", body)).toBe(204);
  await own.context().close();
});

test("a viewer sees what the account can use, and who can do the rest", async ({ browser }) => {
  const own = await signIn(browser, "vic", PASSWORD);
  await expect(own.getByText("Answers quote the documents.")).toContainText(
    "An administrator can connect a language model.",
  );
  const pages = own.getByRole("navigation", { name: "Pages", exact: true });
  await expect(pages.getByRole("link", { name: "Search lab" })).toBeVisible();
  for (const name of ["Models", "API keys", "Accounts", "Webhooks", "Audit"]) {
    await expect(pages.getByRole("link", { name })).toHaveCount(0);
  }
  await own.goto("/keys");
  await expect(own.getByRole("heading", { name: "For administrators" })).toBeVisible();
  await expectAccessible(own);
  await own.context().close();
});
