/** Pages of the operation: overview, keys, usage, audit, license. */
import { expect, expectAccessible, test } from "./fixtures";

test("the overview shows health and counts", async ({ page }) => {
  await page.goto("/overview");
  await expect(page.getByRole("region", { name: "Health" })).toContainText("ready");
  await expect(page.getByRole("link", { name: /Drawings$/ }).filter({ hasText: /^\d/ })).toBeVisible();
  await expect(page.getByRole("link", { name: "Unit 100" })).toBeVisible();
});

test("a key for one classification is created, shown once and deleted", async ({ page }) => {
  await page.goto("/keys");
  await page.getByRole("button", { name: "Create a key" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Name" }).fill("historian");
  await dialog.getByText("Only some classifications").click();
  await dialog
    .getByRole("row", { name: /Unit 100/ })
    .getByText("manual")
    .click();
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Create" }).click();
  await expect(page.getByText(/^pidq_/)).toBeVisible();
  await page.getByRole("button", { name: "Done" }).click();
  const row = page.getByRole("row", { name: /historian/ });
  await expect(row).toContainText("Unit 100: manual (read, query)");
  await page.getByRole("button", { name: "Delete historian" }).click();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await expect(row).toHaveCount(0);
});

test("usage and audit list what was ingested", async ({ page }) => {
  await page.goto("/usage");
  await expect(page.getByRole("row", { name: /Unit 100 manual/ })).toBeVisible();
  // The page lists the newest entries, of which other tests make many.
  await page.evaluate(async () => {
    const [{ id }] = (await (await fetch("/api/pipelines?name=Unit+100")).json()).data;
    const form = new FormData();
    form.set("classification", "manual");
    form.set("file", new File(["P-101A is audited."], "audited.txt"));
    await fetch(`/api/pipelines/${id}/documents`, { method: "POST", body: form });
  });
  await page.goto("/audit");
  await page.getByRole("searchbox", { name: "Find an entry" }).fill("document.create");
  await expect(page.getByRole("row", { name: /document\.create done/ }).first()).toBeVisible();
  await expect(page.getByRole("row", { name: /pipeline\.create/ })).toHaveCount(0);
  await page.getByRole("button", { name: /Period/ }).click();
  await page.getByRole("option", { name: "Yesterday" }).click();
  await expect(page).toHaveURL(/period=yesterday/);
  await expect(page.getByRole("heading", { name: "No entries" })).toBeVisible();
});

test("an invalid license is refused with the reason", async ({ page }) => {
  await page.goto("/license");
  await expect(page.getByText(/^PIDQ-[A-Z0-9]{4}-/)).toBeVisible();
  await page.getByRole("textbox", { name: "License" }).fill("PIDQ1.nonsense.nonsense");
  await page.getByRole("button", { name: "Install" }).click();
  await expect(page.getByRole("alert")).toContainText(/[Ll]icense/);
  await expectAccessible(page);
});
