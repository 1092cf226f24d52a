/** The page "API". */
import { expect, expectAccessible, test } from "./fixtures";

test("sends a request with the session and shows the response", async ({ page }) => {
  await page.goto("/reference");
  await page
    .getByRole("navigation", { name: "Endpoints" })
    .getByRole("button", { name: "GET /graph", exact: true })
    .click();
  await page.getByLabel("prefix").fill("storage");
  await expect(page.getByRole("region", { name: "Command with curl" })).toContainText(
    "/graph?prefix=storage",
  );
  await page.getByRole("button", { name: "Send" }).click();
  const response = page.getByRole("region", { name: "Body of the response" });
  await expect(response).toContainText('"job_id": "storage-100"');
  await expect(response).not.toContainText("plant-100");
});

test("shows the problem of a request that is rejected", async ({ page }) => {
  await page.goto(`/reference?endpoint=${encodeURIComponent("get /graph/{job_id}")}`);
  await page.getByLabel("job_id").fill("no-such-drawing");
  await page.getByRole("button", { name: "Send" }).click();
  await expect(page.getByRole("region", { name: "Body of the response" })).toContainText('"status": 404');
});

test("asks before a request that deletes", async ({ page }) => {
  await page.goto(`/reference?endpoint=${encodeURIComponent("delete /graph/{job_id}")}`);
  await page.getByLabel("job_id").fill("no-such-drawing");
  await page.getByRole("button", { name: "Send" }).click();
  await expect(page.getByRole("dialog", { name: "Send this request?" })).toBeVisible();
});

test("the page is accessible", async ({ page }) => {
  await page.goto(`/reference?endpoint=${encodeURIComponent("post /graph/{job_id}")}`);
  await expect(page.getByRole("button", { name: "Send" })).toBeVisible();
  await expectAccessible(page);
});
