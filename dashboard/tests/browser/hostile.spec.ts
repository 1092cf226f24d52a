/** Hostile data in every place that a page shows: it is shown as text, and nothing in it runs, loads or is followed. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { BrowserContext, Page } from "@playwright/test";
import { test as base, expect } from "./fixtures";
import { createHostileData, deleteHostileData, GRAPH_ID, type HostileData } from "./hostileData";
import { HOSTILE_TEXTS } from "./hostileTexts";

/** Fails if a text calls the canary, opens a dialog or a window, or makes the page load something from elsewhere. */
const test = base.extend<{ nothingRuns: undefined }>({
  nothingRuns: [
    async ({ context, baseURL }, use) => {
      const found = await watch(context, new URL(String(baseURL)).origin);
      await use(undefined);
      expect(found, "effects of hostile texts").toEqual([]);
    },
    { auto: true },
  ],
});

async function watch(context: BrowserContext, origin: string): Promise<string[]> {
  const found: string[] = [];
  await context.exposeFunction("pidqCanary", () => found.push("a script of a text ran"));
  context.on("dialog", (dialog) => {
    found.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  context.on("request", (request) => {
    const url = new URL(request.url());
    if (url.origin !== origin && url.protocol !== "data:") found.push(`request: ${request.url()}`);
  });
  context.on("page", (page) => page.opener().then((opener) => opener && found.push(`window: ${page.url()}`)));
  return found;
}

/** Elements that are not the page's own, of which there may be none. Looks into shadow roots, too. */
async function expectOnlyText(page: Page): Promise<void> {
  const found = await page.evaluate(() => {
    const elements =
      "iframe,frame,object,embed,portal,base,applet,foreignObject,style,form[action],animate,set,use";
    const allowedLinks = ["https://ollama.com/"];
    const found: string[] = [];
    const check = (element: Element) => {
      if (element.matches(elements)) found.push(element.outerHTML.slice(0, 200));
      for (const { name, value } of element.attributes) {
        const isAddress = /^(href|src|srcset|xlink:href|action|formaction|poster|data|background|ping)$/.test(
          name,
        );
        const url = isAddress && URL.canParse(value, location.href) ? new URL(value, location.href) : null;
        const isForeign = url !== null && url.origin !== location.origin && !allowedLinks.includes(url.href);
        if (/^on/.test(name) || (isForeign && !/^data:image\/(png|svg\+xml)/.test(value)))
          found.push(`<${element.localName} ${name}="${value.slice(0, 200)}">`);
      }
      if (element.localName === "script" && !(element as HTMLScriptElement).src.startsWith(location.origin))
        found.push(element.outerHTML.slice(0, 200));
      if (element.shadowRoot) walk(element.shadowRoot);
    };
    const walk = (root: Document | ShadowRoot) => {
      for (const element of root.querySelectorAll("*")) check(element);
    };
    walk(document);
    for (const key of ["isAdmin", "polluted"]) if (key in {}) found.push(`Object.prototype.${key}`);
    return found;
  });
  expect(found, `elements of hostile texts at ${page.url()}`).toEqual([]);
}

/** Opens a page, waits until it is complete, and checks it. */
async function visit(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await settled(page);
}

/** Goes to another address without loading the page again, as links do. */
async function follow(page: Page, path: string): Promise<void> {
  await page.evaluate((path) => {
    history.pushState(null, "", path);
    dispatchEvent(new PopStateEvent("popstate", { state: null }));
  }, path);
  await settled(page);
}

async function settled(page: Page): Promise<void> {
  await expect(page.locator("h1").first()).toBeVisible();
  await expect(page.locator('.loading, [aria-busy="true"]')).toHaveCount(0);
  await expectOnlyText(page);
}

let data: HostileData;
let model: Server;

test.beforeAll(async ({ browser, session }, info) => {
  test.setTimeout(300_000);
  model = await startModel();
  const page = await browser.newPage({ storageState: session, baseURL: String(info.project.use.baseURL) });
  await page.goto("/");
  data = await createHostileData(page, `http://127.0.0.1:${(model.address() as AddressInfo).port}/v1`);
  const pending = () => pendingDocuments(page, data.pipelineId);
  await expect.poll(pending, { message: "documents that are processed", timeout: 120_000 }).toBe(0);
  await page.context().close();
});

test.afterAll(async ({ browser, session }, info) => {
  test.setTimeout(300_000);
  const page = await browser.newPage({ storageState: session, baseURL: String(info.project.use.baseURL) });
  await page.goto("/");
  if (data) await deleteHostileData(page, data);
  await page.context().close();
  model?.closeAllConnections();
  model?.close();
});

test("there are enough texts, and most places took them", () => {
  expect(HOSTILE_TEXTS.length).toBeGreaterThan(100);
  expect(new Set(HOSTILE_TEXTS).size).toBe(HOSTILE_TEXTS.length);
  for (const list of [data.documents, data.keys, data.webhooks]) expect(list.length).toBeGreaterThan(50);
  expect(data.classifications.length).toBeGreaterThan(50);
});

test("tags, names, classes and fields of a drawing", async ({ page }) => {
  test.setTimeout(240_000);
  await visit(page, "/drawings");
  await expect(page.getByText(HOSTILE_TEXTS[5] ?? "", { exact: true }).first()).toBeVisible();
  await visit(page, `/drawings/${GRAPH_ID}`);
  for (const tab of await page.getByRole("complementary", { name: "Panels" }).getByRole("tab").all()) {
    await tab.click();
    await settled(page);
  }
  for (const id of HOSTILE_TEXTS.filter((_, index) => index % 8 === 0)) {
    await follow(page, `/drawings/${GRAPH_ID}?node=${encodeURIComponent(id)}&view=isolate`);
    await expect(page.locator("#content").getByRole("heading", { level: 2 })).toHaveText(shown(id));
  }
  await page.getByRole("combobox").or(page.getByRole("searchbox")).first().fill("<script>");
  await expect(page.getByRole("option").first()).toContainText("<script");
  await settled(page);
});

test("results, errors and plans of queries", async ({ page }) => {
  const query = (text: string, rest = "") => `/query?graph=${GRAPH_ID}&q=${encodeURIComponent(text)}${rest}`;
  for (const result of ["table", "json", "plan"]) {
    await visit(page, query("nodes()", `&result=${result}`));
    await page.getByRole("button", { name: /^Run/ }).first().click();
    await expect(page.getByRole("status").filter({ hasText: "rows" })).toBeVisible();
    await settled(page);
  }
  for (const text of ["lineList()", "equipmentList()", "valveList()", "validate()", "edges()"]) {
    await visit(page, query(text));
    await page.getByRole("button", { name: /^Run/ }).first().click();
    await expect(page.getByRole("region", { name: "Result" }).getByRole("status")).toBeVisible();
    await settled(page);
  }
  for (const text of HOSTILE_TEXTS.filter((_, index) => index % 12 === 0)) {
    await follow(page, query(text));
    await expect(page.getByRole("textbox", { name: "Query" })).toContainText(text.split("\n")[0] ?? "");
  }
});

test("names and texts of documents", async ({ page }) => {
  test.setTimeout(240_000);
  await visit(page, "/documents");
  await expect(page.getByText("<b>Unit</b> 666", { exact: true }).first()).toBeVisible();
  await visit(page, `/documents/${data.pipelineId}`);
  for (const id of data.otherPipelineIds.slice(0, 5)) await follow(page, `/documents/${id}`);
  for (const document of data.documents.filter((_, index) => index < 3 || index % 12 === 0)) {
    await follow(page, `/documents/${data.pipelineId}/${document.id}`);
    await expect(page.getByRole("heading", { level: 1 })).toHaveText(shown(document.filename));
  }
});

test("passages that a search finds", async ({ page }) => {
  await visit(page, "/search");
  for (const text of HOSTILE_TEXTS.filter((_, index) => index % 10 === 0)) {
    await follow(page, `/search?pipeline=${data.pipelineId}&q=${encodeURIComponent(text)}`);
  }
  await visit(page, `/search?pipeline=${data.pipelineId}&q=script`);
  await expect(page.getByRole("region").getByText("pidqCanary").first()).toBeVisible();
});

test("questions, quotes and answers of a model", async ({ page }) => {
  await visit(page, `/ask/${data.pipelineId}?q=${encodeURIComponent("<script>pidqCanary()</script>")}`);
  await expect(page.getByRole("article").first()).toContainText("<script>pidqCanary()</script>");
  await settled(page);
  const connection = data.connections[0];
  await visit(page, `/ask/${data.pipelineId}?model=${connection?.id}`);
  await page.getByRole("textbox", { name: "Question" }).fill("What does the script do?");
  await page.getByRole("textbox", { name: "Question" }).press("Enter");
  const turn = page.getByRole("article", { name: "What does the script do?" });
  await expect(turn).toContainText("End of the hostile answer");
  await expect(turn).toContainText("<svg onload=pidqCanary()>");
  await expect(turn).toContainText("[manual](javascript:pidqCanary())");
  await settled(page);
});

test("names of keys, models, webhooks, accounts and clients, and the records of their creation", async ({
  page,
}) => {
  await visit(page, "/keys");
  await expect(page.getByText(data.keys[0]?.name ?? "", { exact: true }).first()).toBeVisible();
  await visit(page, "/connections");
  await expect(page.getByRole("heading", { name: data.connections[0]?.name ?? "" }).first()).toBeVisible();
  await visit(page, "/webhooks");
  for (const { id } of data.webhooks.filter((_, index) => index % 15 === 0)) {
    await follow(page, `/webhooks/${id}`);
  }
  for (const path of ["/users", "/users/clients", "/events", "/audit", "/usage", "/overview", "/license"]) {
    await follow(page, path);
  }
});

const PARAMETERS =
  "classification model state name type pipeline q status endpoint graph top_k filter reindex event result node view to panel highlight old chunk page start end return_to error redirect".split(
    " ",
  );

/** Addresses with a hostile text in the path and in every parameter that some page reads. */
const ADDRESSES: Record<string, (text: string) => string> = {
  "/": (text) => `/${text}`,
  "/drawings": (text) => `/drawings/${text}`,
  "/drawings/plant-100": () => "/drawings/plant-100",
  "/query": () => "/query",
  "/ask": (text) => `/ask/${text}`,
  "/documents": (text) => `/documents/${text}`,
  "/documents/…": (text) => `/documents/${text}/${text}`,
  "/search": () => "/search",
  "/events": () => "/events",
  "/webhooks": (text) => `/webhooks/${text}`,
  "/users": (text) => `/users/${text}`,
  "/reference": () => "/reference",
};

/** Longest address that the server takes. */
const MAX_ADDRESS = 7_000;

/** The text in all parameters; a long one in as many as fit. */
function hostileAddress(address: (text: string) => string, text: string): string {
  // The browser resolves dots in a path, and the router matches one line.
  const inPath = encodeURIComponent(text.replace(/[\r\n\u2028\u2029]/g, " ")).replaceAll(".", "%2E");
  const encoded = encodeURIComponent(text);
  const count = Math.floor((MAX_ADDRESS - 2 * inPath.length) / (encoded.length + 20));
  const parameters = PARAMETERS.slice(0, count).map((name) => `${name}=${encoded}`);
  return `${address(inPath)}?${parameters.join("&")}#${encoded}`;
}

for (const [index, [page, address]] of Object.entries(ADDRESSES).entries()) {
  test(`the address of ${page}`, async ({ page }) => {
    test.setTimeout(240_000);
    const count = Object.keys(ADDRESSES).length;
    for (const text of HOSTILE_TEXTS.filter((_, row) => row % count === index)) {
      await page.goto(hostileAddress(address, text));
      await expect(page.locator("#content")).not.toBeEmpty();
      await expectOnlyText(page);
    }
  });
}

test("a picture of a drawing with scripts, links and foreign parts is painted without them", async ({
  page,
}) => {
  await page.route("**/graph/plant-100?format=svg", async (route) => {
    await route.fulfill({ contentType: "image/svg+xml", body: HOSTILE_PICTURE });
  });
  await visit(page, "/drawings/plant-100");
  await expect.poll(() => page.evaluate(paintedPixels)).toBeGreaterThan(0);
  // The picture is painted, so that none of its elements is in the page.
  const inserted = await page.evaluate(() => {
    const roots = [...document.querySelectorAll("*")].flatMap((element) => element.shadowRoot ?? []);
    const foreign = "script, foreignObject, image, use, animate, set, iframe, [onclick], [onload], [data-id]";
    return [document, ...roots]
      .flatMap((root) => [...root.querySelectorAll(foreign)])
      .map((element) => element.outerHTML)
      .filter((html) => html.includes("attacker") || html.includes("pidqCanary") || html.includes("data-id"));
  });
  expect(inserted).toEqual([]);
  await expectOnlyText(page);
});

/** The number of pixels of all canvases that are not transparent. */
function paintedPixels(): number {
  let count = 0;
  for (const canvas of document.querySelectorAll("canvas")) {
    const { width, height } = canvas;
    const pixels =
      width * height === 0 ? null : canvas.getContext("2d")?.getImageData(0, 0, width, height).data;
    for (let index = 3; pixels && index < pixels.length; index += 4) if (pixels[index] !== 0) count += 1;
  }
  return count;
}

const HOSTILE_PICTURE = `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"
  viewBox="0 0 100 100" onload="pidqCanary()">
<style>@import url(//attacker.invalid/s.css); * { background: url(//attacker.invalid/b.png) }</style>
<script>pidqCanary()</script><script href="//attacker.invalid/s.js"/>
<g class="s" data-id="P-101A" onclick="pidqCanary()" style="background:url(//attacker.invalid/g.png)">
  <rect width="9" height="9" fill="url(//attacker.invalid/f.svg#a)" filter="url(//attacker.invalid/f.svg#b)"/>
  <circle r="4" fill="none" onmouseover="pidqCanary()"/>
  <path d="M0 0h9" stroke="URL( 'data:image/svg+xml,x' )" marker-end="url(//attacker.invalid/m.svg#a)"/>
  <a xlink:href="javascript:pidqCanary()"><text>P-101A</text></a>
  <text x="1" y="1">&lt;script&gt;pidqCanary()&lt;/script&gt;<tspan onclick="pidqCanary()">P</tspan><script>pidqCanary()</script></text>
</g>
<image href="//attacker.invalid/i.png" onload="pidqCanary()"/>
<use href="//attacker.invalid/u.svg#a"/><use xlink:href="data:image/svg+xml,x#a"/>
<foreignObject><body xmlns="http://www.w3.org/1999/xhtml"><img src="//attacker.invalid/b.png" onerror="pidqCanary()"/>
<iframe srcdoc="x"/></body></foreignObject>
<animate attributeName="href" values="javascript:pidqCanary()" onbegin="pidqCanary()"/>
<set attributeName="onclick" to="pidqCanary()"/>
<h:img xmlns:h="http://www.w3.org/1999/xhtml" src="//attacker.invalid/h.png" onerror="pidqCanary()"/>
</svg>`;

/** The text of an element as `toHaveText` compares it. */
function shown(text: string): string {
  return text.replace(/\u200B/g, "");
}

/** The number of documents that are still processed. */
async function pendingDocuments(page: Page, pipelineId: string): Promise<number> {
  return page.evaluate(async (id) => {
    const { document_counts } = await (await fetch(`/api/pipelines/${id}`)).json();
    return document_counts.total - document_counts.ready - document_counts.failed;
  }, pipelineId);
}

/** A server with the API of OpenAI, whose names of models and answers are hostile. */
async function startModel(): Promise<Server> {
  const server = createServer((request, response) => {
    request.resume();
    request.on("end", () => {
      if (request.url?.endsWith("/models")) {
        response.setHeader("Content-Type", "application/json");
        response.end(
          JSON.stringify({ object: "list", data: HOSTILE_TEXTS.map((id) => ({ id, object: "model" })) }),
        );
        return;
      }
      response.setHeader("Content-Type", "text/event-stream");
      const send = (content: string, finish_reason: string | null) =>
        response.write(
          `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason }] })}\n\n`,
        );
      for (const text of HOSTILE_TEXTS) send(`${text}\n\n`, null);
      send("End of the hostile answer [1].", "stop");
      response.end("data: [DONE]\n\n");
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return server;
}
