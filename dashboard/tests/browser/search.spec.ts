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
