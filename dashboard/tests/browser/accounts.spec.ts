/** Accounts and OAuth clients: creation, change, deletion. */
import { expect, test } from "./fixtures";

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
