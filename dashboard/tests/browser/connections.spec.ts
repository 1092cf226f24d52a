/** Connections to language models: creation, test, deletion. */
import { expect, expectAccessible, test } from "./fixtures";

test("a model is added, a failed test is explained, and it is deleted", async ({ page }) => {
  await page.goto("/connections");
  await page.getByRole("button", { name: "Add a model" }).click();
  await page.getByRole("textbox", { name: "Name" }).fill("local");
  await page.getByRole("textbox", { name: "Base URL" }).fill("http://127.0.0.1:9/v1");
  await page.getByRole("textbox", { name: "Model" }).fill("llama3.1");
  await page.getByLabel("API key").fill("none");
  await expectAccessible(page);
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await expect(page.getByRole("row", { name: /llama3\.1/ })).toBeVisible();
  await page.getByRole("button", { name: "Test local" }).click();
  await expect(page.getByRole("alert")).toContainText(/LLM/);
  await page.getByRole("button", { name: "Delete local" }).click();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await expect(page.getByRole("row", { name: /llama3\.1/ })).toHaveCount(0);
});
