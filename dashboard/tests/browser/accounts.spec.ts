/** Accounts and OAuth clients: creation, change, deletion. */
import { expect, expectAccessible, test } from "./fixtures";

test("an administrator adds, edits and deletes a user", async ({ page }) => {
  await page.goto("/users");
  await page.getByRole("button", { name: "Add a user" }).click();
  await page.getByRole("textbox", { name: "Login" }).fill("max@example.com");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  const password = page.getByRole("dialog").getByText(/^[\w-]{40,}$/);
  await expect(password).toBeVisible();
  await page.getByRole("button", { name: "Done" }).click();

  const row = page.getByRole("row", { name: /max@example\.com/ });
  await expect(row).toContainText("Viewer");
  await page.getByRole("button", { name: "Edit max@example.com" }).click();
  await page.getByRole("textbox", { name: "Groups" }).fill("process, safety");
  await page.getByText("Disabled: cannot sign in").click();
  await page.getByRole("button", { name: "Save" }).click();
  await expect(row).toContainText("process, safety");
  await expect(row).toContainText("disabled");

  await page.getByRole("button", { name: "Delete max@example.com" }).click();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await expect(row).toHaveCount(0);
});

test.describe("on a phone", () => {
  test.use({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });

  test("the actions on a user and a client have visible words below its fields", async ({ page }) => {
    await page.goto("/users");
    const user = page.getByRole("row", { name: /demo/ });
    for (const words of ["Edit", "Limit the documents", "Set the password", "Delete"])
      await expect(user.getByText(words, { exact: true })).toBeVisible();
    const created = await user.locator("time").boundingBox();
    const edit = await user.getByRole("button", { name: "Edit demo" }).boundingBox();
    expect(edit?.y, "top of the actions").toBeGreaterThan(created?.y ?? Number.POSITIVE_INFINITY);
    expect(edit?.height, "height for a finger").toBeGreaterThanOrEqual(40);
    await page.goto("/users/clients");
    const client = page.getByRole("row", { name: /The first client/ });
    for (const words of ["Disable", "Replace the secret", "Delete"])
      await expect(client.getByText(words, { exact: true })).toBeVisible();
    await expectAccessible(page);
  });
});

test("an account that is limited to a classification sees nothing else", async ({ page, browser }) => {
  const password = "a password of ann";
  await page.goto("/users");
  await page.evaluate(
    (password) =>
      fetch("/accounts", {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ login: "ann", role: "viewer", password }),
      }),
    password,
  );
  await page.reload();
  await page.getByRole("button", { name: "Limit the documents of ann", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Documents of ann", exact: true });
  await dialog.getByText("Only some classifications").click();
  await expect(dialog.getByRole("button", { name: "Save" })).toBeDisabled();
  await dialog
    .getByRole("row", { name: /Unit 100/ })
    .getByText("datasheet")
    .click();
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("row", { name: /^ann / })).toContainText("Unit 100: datasheet (read, query)");

  const context = await browser.newContext({ storageState: { cookies: [], origins: [] } });
  const own = await context.newPage();
  await own.goto("/documents");
  await own.getByRole("textbox", { name: "Login" }).fill("ann");
  await own.getByRole("textbox", { name: "Password" }).fill(password);
  await own.getByRole("button", { name: "Sign in", exact: true }).click();
  await own.getByRole("link", { name: "Unit 100" }).click();
  await expect(own.getByRole("link", { name: "V-101-datasheet.md" })).toBeVisible();
  await expect(own.getByRole("link", { name: "P-101-operation.md" })).toHaveCount(0);
  await context.close();

  await page.goto("/audit");
  const login = process.env.PIDQ_DEMO_LOGIN ?? "";
  await page.getByRole("searchbox", { name: "Find an entry" }).fill("account-limit.set");
  await expect(page.getByRole("row", { name: `${login} account-limit.set` }).first()).toContainText(
    "Limit of ann",
  );

  await page.goto("/users");
  await page.getByRole("button", { name: "Delete ann", exact: true }).click();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await expect(page.getByRole("row", { name: /^ann / })).toHaveCount(0);
});

test("an administrator changes the own password from the list, with the current one", async ({ page }) => {
  const login = process.env.PIDQ_DEMO_LOGIN ?? "";
  await page.goto("/users");
  await page.getByRole("button", { name: `Set the password of ${login}`, exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Change your password" });
  await expect(dialog.getByRole("textbox", { name: "Current password" })).toBeFocused();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await expect(dialog).toHaveCount(0);
});

test("an invalid login is explained in the form", async ({ page }) => {
  await page.goto("/users");
  await page.getByRole("button", { name: "Add a user" }).click();
  await page.getByRole("textbox", { name: "Login" }).fill("two words");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await expect(page.getByRole("alert")).toContainText("1 to 254 letters, digits");
});

test("an administrator adds, rotates and deletes a client", async ({ page }) => {
  await page.goto("/users/clients");
  await page.getByRole("button", { name: "Add a client" }).click();
  await page.getByRole("textbox", { name: "Id" }).fill("historian");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await expect(page.getByText(/^pidq_cs_/)).toBeVisible();
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByRole("button", { name: "Replace the secret of historian" }).click();
  await page.getByRole("button", { name: "Replace", exact: true }).click();
  await expect(page.getByText(/^pidq_cs_/)).toBeVisible();
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByRole("button", { name: "Delete historian" }).click();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await expect(page.getByRole("row", { name: /historian/ })).toHaveCount(0);
});
