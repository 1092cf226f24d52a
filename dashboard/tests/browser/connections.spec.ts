/** Connections to language models: creation, test, deletion. */
import { expect, expectAccessible, test } from "./fixtures";

// The test of the connection fails.
test.use({ expectedErrors: [/status of 502/] });

test("a model is added, a failed test is explained, and it is deleted", async ({ page }) => {
  await page.goto("/connections");
  await page.getByRole("button", { name: "Add a model" }).first().click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Name" }).fill("local");
  await dialog.getByRole("textbox", { name: "Base URL" }).fill("http://127.0.0.1:9/v1");
  await dialog.getByRole("textbox", { name: "Model" }).fill("llama3.1");
  await dialog.getByLabel("API key").fill("none");
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Save" }).click();
  const model = page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: "local" }) });
  await expect(model).toContainText("llama3.1");
  await model.getByRole("button", { name: "Test" }).click();
  await expect(model.getByRole("alert")).toContainText(/LLM/);
  await model.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await expect(model).toHaveCount(0);
});
