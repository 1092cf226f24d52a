/** Questions: quotes without a language model, and streamed answers of one, with citations. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "@playwright/test";
import { expect, expectAccessible, test } from "./fixtures";

test("a suggested question is answered with quotes that open their passage, document and drawing", async ({
  page,
}) => {
  await page.goto("/ask");
  await page.getByRole("button", { name: "Which relief valve protects V-101?" }).click();
  const turn = page.getByRole("article", { name: "Which relief valve protects V-101?" });
  await expect(turn).toContainText("Quotes from the documents, without a language model");
  await expect(turn).toContainText("PSV-1106, set at 15.2 bar");
  await turn
    .getByRole("button", { name: /^Passage 1/ })
    .first()
    .click();
  const passage = page.getByRole("complementary", { name: "Passage 1" });
  await expect(passage.locator("mark").first()).toBeVisible();
  await expectAccessible(page);
  await turn.getByRole("button", { name: "Bad answer" }).click();
  await expect(turn).toContainText("your feedback is stored");
  await turn.getByRole("textbox", { name: "Comment" }).fill("The size is missing.");
  await turn.getByRole("button", { name: "Add the comment" }).click();
  await expect(turn.getByRole("textbox", { name: "Comment" })).toHaveCount(0);

  await passage.getByRole("link", { name: "Open in the document" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "V-101-datasheet.md" })).toBeVisible();
  await expect(page.locator("mark[data-exact]")).toContainText("PSV-1106");
  // The conversation is still there.
  await page.goBack();
  await turn.getByRole("link", { name: "PSV-1106" }).first().click();
  await expect(page).toHaveURL(/\/drawings\/plant-100\?node=PSV-1106/);
});

test("a question in the address is asked at once, and what the documents do not say is not answered", async ({
  page,
}) => {
  await page.goto("/ask?q=What+is+the+weather+in+Paris%3F");
  const turn = page.getByRole("article", { name: "What is the weather in Paris?" });
  await expect(turn).toContainText("Not answered");
  await expect(page.getByRole("article")).toHaveCount(1);
  await turn.getByRole("button", { name: "Search in datasheet" }).click();
  await expect(page.getByRole("article")).toHaveCount(2);
  await expect(page).toHaveURL(/classification=datasheet/);
  await page.getByRole("button", { name: "New conversation" }).click();
  await expect(page.getByRole("article")).toHaveCount(0);
  await expect(page).not.toHaveURL(/q=/);
});

test("an answer of a language model is streamed as text, can be stopped, and its citations are chips", async ({
  page,
}) => {
  const model = await startModel();
  await addModel(page, `http://127.0.0.1:${(model.address() as AddressInfo).port}/v1`);
  try {
    await page.goto("/ask");
    await ask(page, "How is the standby pump started?");
    const turn = page.getByRole("article", { name: "How is the standby pump started?" });
    await expect(turn).toContainText("<img src=x onerror=alert(1)> is text");
    await expect(turn.getByRole("button", { name: /^Passage 1/ }).first()).toBeVisible();
    await expect(turn).toContainText("test-model");
    await ask(page, "How is a pump isolated for work? Answer forever.");
    await page.getByRole("button", { name: "Stop" }).click();
    await expect(page.getByRole("article").last()).toContainText("Stopped before the answer was complete");
  } finally {
    await deleteModel(page);
    model.closeAllConnections();
    model.close();
  }
});

async function ask(page: Page, question: string): Promise<void> {
  await page.getByRole("textbox", { name: "Question" }).fill(question);
  await page.getByRole("textbox", { name: "Question" }).press("Enter");
}

const MODEL = "Model of the test";

async function addModel(page: Page, url: string): Promise<void> {
  await page.goto("/connections");
  await page.getByRole("button", { name: "Add a model" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Name" }).fill(MODEL);
  await dialog.getByRole("textbox", { name: "Base URL" }).fill(url);
  await dialog.getByLabel("API key").fill("none");
  await dialog.getByRole("textbox", { name: "Model", exact: true }).fill("test-model");
  await dialog.getByRole("button", { name: "Save" }).click();
  const row = page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: MODEL }) });
  await row.getByRole("button", { name: "Test" }).click();
  await expect(row.getByRole("status")).toContainText("has 1 model.");
}

async function deleteModel(page: Page): Promise<void> {
  await page.goto("/connections");
  const row = page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: MODEL }) });
  await row.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await expect(row).toHaveCount(0);
}

/** A server with the API of OpenAI, whose answers look like code; asked for it, one never ends. */
async function startModel(): Promise<Server> {
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (part) => {
      body += part;
    });
    request.on("end", () => {
      if (request.url?.endsWith("/models")) {
        response.setHeader("Content-Type", "application/json");
        response.end(JSON.stringify({ object: "list", data: [{ id: "test-model", object: "model" }] }));
        return;
      }
      response.setHeader("Content-Type", "text/event-stream");
      const send = (content: string, finish_reason: string | null) =>
        response.write(
          `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason }] })}\n\n`,
        );
      send("<img src=x onerror=alert(1)> is text ", null);
      if (body.includes("Answer forever")) return;
      send("[1].", null);
      send("", "stop");
      response.end("data: [DONE]\n\n");
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return server;
}
