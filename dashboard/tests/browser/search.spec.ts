/** Search lab: the three rankings of one query. */
import { expect, expectAccessible, test } from "./fixtures";

test("one query is ranked by words, by vectors and by both", async ({ page }) => {
  await page.goto("/search");
  await page.getByRole("textbox", { name: "Query" }).fill("minimum flow of the pump");
  await page.getByRole("button", { name: "Search", exact: true }).click();
  const words = page.getByRole("region", { name: "BM25" });
  await expect(words.getByText("P-101-operation.md")).toBeVisible();
  await expect(words.locator("mark").first()).toBeVisible();
  await expect(page.getByRole("region", { name: "Hybrid" }).getByText("P-101-operation.md")).toBeVisible();
  await expect(page.getByRole("region", { name: "Dense" })).toBeVisible();
  await expect(page).toHaveURL(/q=minimum/);
  await expectAccessible(page);
});

test("a search without a result offers the other classifications", async ({ page }) => {
  await page.goto("/search?q=PSV-1106&classification=manual");
  await expect(
    page.getByRole("heading", { name: "The hybrid search finds nothing under manual" }),
  ).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Search in datasheet" }).click();
  await expect(page.getByRole("region", { name: "BM25" })).toContainText("V-101-datasheet.md");
  await expect(page).toHaveURL(/classification=datasheet/);
});
