/** The pages Webhooks and Events. */
import { expect, expectAccessible, test } from "./fixtures";

/** Resolves nowhere, so that every delivery fails. */
const ADDRESS = "https://hooks.invalid/pidq";

test("a webhook is created, tested, disabled and deleted", async ({ page }) => {
  await page.goto("/webhooks");
  await page.getByRole("button", { name: "Create a webhook" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Address" }).fill(ADDRESS);
  await dialog.getByText("Document failed").click();
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Create" }).click();
  await expect(page.getByText(/^whsec_/)).toBeVisible();
  await page.getByRole("button", { name: "Done" }).click();
  await expect(page.getByRole("row", { name: ADDRESS })).toContainText("1 type");

  await page.getByRole("link", { name: ADDRESS }).click();
  await expect(page.getByRole("region", { name: "Webhook" })).toContainText("Document failed");
  await page.getByRole("button", { name: "Send a test" }).click();
  await expect(page.getByRole("alertdialog")).toContainText(/hooks\.invalid|address|resolve/i);
  await page.getByRole("button", { name: "Disable" }).click();
  await expect(page.getByText("Disabled", { exact: true })).toBeVisible();
  await expectAccessible(page);

  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await expect(page).toHaveURL(/\/webhooks$/);
  await expect(page.getByText(ADDRESS)).toHaveCount(0);
});

test("an event appears as it happens, with its fields", async ({ page }) => {
  await page.goto("/events?type=pipeline.updated");
  await expect(page.getByRole("status").getByText(/Live|Waiting/)).toBeVisible();
  const description = `Tested at ${Date.now()}`;
  await page.evaluate(async (description) => {
    const pipelines = await (await fetch("/api/pipelines")).json();
    const [{ id }] = pipelines.data;
    const headers = { "Content-Type": "application/json" };
    await fetch(`/api/pipelines/${id}`, { method: "PATCH", headers, body: JSON.stringify({ description }) });
  }, description);
  const row = page.getByRole("row", { name: /Pipeline updated/ }).first();
  await expect(row).toBeVisible();
  await row.getByRole("button", { name: /Details/ }).click();
  await expect(page.getByRole("region", { name: "Event as JSON" })).toContainText(
    '"type": "pipeline.updated"',
  );
  await expectAccessible(page);
  await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
  await page.getByRole("button", { name: "Type" }).click();
  await page.getByRole("option", { name: "All types" }).click();
  await expect(page.getByRole("row", { name: /Document ready/ }).first()).toBeVisible();
});
