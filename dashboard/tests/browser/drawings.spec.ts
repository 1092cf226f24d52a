/** The pages of the drawings: the list, a drawing, isolation, lists. */
import { expect, expectAccessible, test } from "./fixtures";

test("lists the drawings and opens one", async ({ page }) => {
  await page.goto("/drawings");
  await page.getByRole("link", { name: /100-PID-0001/ }).click();
  await expect(page.getByRole("heading", { level: 1, name: /100-PID-0001/ })).toBeVisible();
  await expect(page.getByRole("application", { name: /100-PID-0001/ })).toBeVisible();
});

test("finds a tag with the keyboard and keeps it on reload", async ({ page }) => {
  await page.goto("/drawings/plant-100");
  await page.getByRole("application").focus();
  await page.keyboard.press("/");
  await page.keyboard.type("V-101");
  await expect(page.getByRole("option").first()).toContainText("V-101");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 2, name: "V-101" })).toBeVisible();
  await expect(page).toHaveURL(/node=V-101/);
  await page.reload();
  await expect(page.getByRole("heading", { level: 2, name: "V-101" })).toBeVisible();
});

test("says what stays open when an item is isolated", async ({ page }) => {
  await page.goto("/drawings/plant-100?node=V-101");
  await page.getByRole("button", { name: "Isolate" }).click();
  const result = page.getByRole("region", { name: "Result" });
  await expect(result.getByRole("status")).toContainText("stays open");
  await expect(result.getByRole("region", { name: "Stays open" })).toContainText("E-102");
  await expect(result.getByRole("region", { name: "To close" })).toContainText("HV-1015");
  await expect(result).toContainText('isolate("V-101")');
});

test("finds a path to a second item", async ({ page }) => {
  await page.goto("/drawings/plant-100?node=T-101");
  await page.getByRole("button", { name: "Path to …" }).click();
  await page.getByRole("combobox", { name: "Find a tag" }).fill("V-101");
  await page.getByRole("option").first().click();
  await expect(page).toHaveURL(/to=V-101/);
  await expect(page.getByRole("region", { name: "Result" })).toContainText("HV-1002");
});

test("selects the item of a row of a list", async ({ page }) => {
  await page.goto("/drawings/plant-100?panel=valves");
  await page.getByRole("cell", { name: "HV-1001" }).click();
  await expect(page).toHaveURL(/node=HV-1001/);
});

test("selects what is clicked on the drawing, and shows it beside the pointer", async ({ page }) => {
  await page.goto("/drawings/plant-100?node=V-101");
  const drawing = page.locator("[role=application][data-painted=all]");
  const box = await drawing.boundingBox();
  if (box === null) throw new Error("The drawing is not shown");
  // The item of the address is in the middle.
  const middle = { x: box.width / 2, y: box.height / 2 };
  await drawing.press("Escape");
  await expect(page.getByText("Nothing is selected")).toBeVisible();
  await drawing.hover({ position: middle });
  await expect(page.locator(".drawing-hover")).toContainText("V-101");
  await drawing.click({ position: middle });
  await expect(page).toHaveURL(/node=V-101/);
});

test("moves and zooms with the mouse", async ({ page }) => {
  await page.goto("/drawings/plant-100?node=V-101");
  const drawing = page.locator("[role=application][data-painted=all]");
  const box = await drawing.boundingBox();
  if (box === null) throw new Error("The drawing is not shown");
  const middle = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  await page.mouse.move(middle.x, middle.y);
  await page.mouse.down();
  await page.mouse.move(middle.x - 100, middle.y, { steps: 4 });
  await page.mouse.up();
  await page.mouse.move(middle.x - 100, middle.y + 1);
  await expect(page.locator(".drawing-hover")).toContainText("V-101");
  await expect(page).toHaveURL(/node=V-101/);
});

for (const path of [
  "/drawings",
  "/drawings/plant-100?node=V-101&view=isolate",
  "/drawings/plant-100?panel=lines",
]) {
  test(`is accessible: ${path}`, async ({ page }) => {
    await page.goto(path);
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    await page.waitForLoadState("networkidle");
    await expectAccessible(page);
  });
}

test("marks the result of a query", async ({ page }) => {
  await page.goto(
    `/drawings/plant-100?highlight=${encodeURIComponent('valveList() | filter(.fail_action == "open")')}`,
  );
  await expect(page.getByRole("status", { name: "Marked items" })).toHaveText("2 found");
});
