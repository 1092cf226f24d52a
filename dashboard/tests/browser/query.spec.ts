/** The page "Query". */
import type { Locator } from "@playwright/test";
import { QUESTIONS } from "../../src/features/query/questions";
import { expect, expectAccessible, test } from "./fixtures";

/** Types a query in place of the one in the editor. */
async function write(editor: Locator, text: string): Promise<void> {
  await editor.press("ControlOrMeta+a");
  await editor.pressSequentially(text);
}

const address = (query: string, more = "") => `/query?graph=plant-100&q=${encodeURIComponent(query)}${more}`;

test("every question of the gallery runs without a warning and returns rows", async ({ page }) => {
  await page.goto("/query");
  for (const { title, query } of QUESTIONS) {
    const answer = await page.evaluate(async (query) => {
      const headers = { "Content-Type": "application/json" };
      const body = JSON.stringify({ query, explain: true });
      return (await fetch("/graph/plant-100", { method: "POST", headers, body })).json();
    }, query);
    expect(answer.detail, title).toBeUndefined();
    expect(answer.explain.warnings, title).toEqual([]);
    expect(answer.result.length, title).toBeGreaterThan(0);
  }
});

test("a question of the gallery is inserted and run", async ({ page }) => {
  await page.goto("/query?graph=plant-100");
  await page.getByRole("button", { name: "Questions" }).click();
  await page.getByRole("button", { name: /Valves that fail open/ }).click();
  const rows = page.getByRole("region", { name: "Rows of the result" });
  await expect(rows.getByText("FV-1102")).toBeVisible();
  await expect(page.getByRole("textbox", { name: "Query" })).toContainText("fail_action");
});

test("a mistake is marked while typing, and the fix is applied by a click", async ({ page }) => {
  await page.goto("/query?graph=plant-100");
  const editor = page.getByRole("textbox", { name: "Query" });
  await write(editor, "valveList() | length()");
  const findings = page.getByRole("list", { name: "Findings in the query" });
  await expect(findings).toContainText("Unknown function 'length'");
  await findings.getByRole("button", { name: "Use size" }).click();
  await expect(editor).toHaveText("valveList() | size()");
  await editor.press("Control+Enter");
  await expect(page.getByText(/^One value/)).toBeVisible();
});

test("a tag that does not exist is replaced by a similar one", async ({ page }) => {
  await page.goto(address('isolate("P-101")'));
  await page.getByRole("button", { name: 'Use "P-101A"' }).click();
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await expect(page.getByText(/^One value/)).toBeVisible();
});

test("the editor completes functions, fields and values of the drawing", async ({ page }) => {
  await page.goto("/query?graph=plant-100");
  const editor = page.getByRole("textbox", { name: "Query" });
  await expect(page.getByTestId("query-editor")).toBeVisible();
  await write(editor, "isolationP");
  await expect(page.getByRole("option", { name: /isolationPlan/ })).toBeVisible({ timeout: 10_000 });
  await write(editor, "nodes(.node_cl");
  await expect(page.getByRole("option", { name: /node_classification/ })).toBeVisible();
  await editor.press("Escape");
  await write(editor, 'nodes(.fluid_code == "');
  await expect(page.getByRole("option", { name: "PL" })).toBeVisible();
});

test("an address shares the query, the drawing and the view", async ({ page }) => {
  await page.goto(address("valveList()", "&result=plan"));
  await expect(page.getByRole("region", { name: "Plan of the run" })).toContainText("valveList()");
  await page.getByRole("tab", { name: "JSON" }).click();
  await expect(page).toHaveURL(/result=json/);
});

test("a row leads to its item on the drawing", async ({ page }) => {
  await page.goto(address('valveList() | filter(.fail_action == "closed")'));
  await page
    .getByRole("region", { name: "Rows of the result" })
    .getByRole("link", { name: "LV-1103" })
    .click();
  await expect(page).toHaveURL(/\/drawings\/plant-100\?node=LV-1103/);
});

test("the history lists the queries that were run, and deletes them", async ({ page }) => {
  await page.goto("/query?graph=plant-100");
  const editor = page.getByRole("textbox", { name: "Query" });
  await write(editor, "lineList()");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await expect(page.getByRole("region", { name: "Rows of the result" })).toBeVisible();
  await page.reload();
  await page.getByRole("button", { name: "History" }).click();
  const history = page.getByRole("dialog", { name: "History" });
  await expect(history.getByText("lineList()")).toBeVisible();
  await history.getByRole("button", { name: "Delete from the history" }).click();
  await expect(history.getByText("lineList()")).toBeHidden();
});

test("a result is saved as CSV", async ({ page }) => {
  await page.goto(address("valveList()"));
  await page.getByRole("button", { name: "Download" }).click();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("menuitem", { name: "CSV" }).click(),
  ]);
  expect(download.suggestedFilename()).toBe("plant-100.csv");
});

test("the page is accessible", async ({ page }) => {
  await page.goto(address("valveList()"));
  await expect(page.getByRole("region", { name: "Rows of the result" })).toBeVisible();
  await expectAccessible(page);
});
