/** Pages of other origins in the browser of a person who is signed in: they change nothing, read nothing, and show no frame. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "@playwright/test";
import { expect, test } from "./fixtures";

/** Another site, which gets no cookie of the dashboard; and another origin of its own site, which gets all of them. */
const HOSTS = ["localhost", "127.0.0.1"];

// The browser reports what it blocked to the page that tried.
test.use({ expectedErrors: [/./] });

let server: Server;

test.beforeAll(async () => {
  server = createServer((_, response) => {
    response.setHeader("Content-Type", "text/html; charset=utf-8");
    response.end("<!doctype html><title>Another site</title><body></body>");
  });
  await new Promise<void>((resolve) => {
    server.listen(0, resolve);
  });
});

test.afterAll(() => {
  server.close();
});

/** Opens an empty page of another origin in the browser that is signed in to the dashboard. */
async function openOther(page: Page, host: string): Promise<void> {
  await page.goto(`http://${host}:${(server.address() as AddressInfo).port}/`);
}

/** The targets of the attacks. */
async function stateOf(page: Page): Promise<unknown> {
  await page.goto("/");
  return page.evaluate(async () => {
    const read = async (path: string) => (await fetch(path)).json();
    const names = (list: { data: { name: string }[] }) => list.data.map(({ name }) => name).sort();
    return {
      session: await read("/session"),
      pipelines: names(await read("/api/pipelines")),
      keys: names(await read("/api/keys")),
      webhooks: (await read("/api/webhooks")).data.length,
      graphs: (await read("/graph")).graphs.map(({ job_id }: { job_id: string }) => job_id).sort(),
      accounts: (await read("/accounts")).accounts.length,
    };
  });
}

const PIPELINE = JSON.stringify({
  name: "Made by another site",
  embedding_model: "hash-512",
  text_splitter: "markdown",
  classifications: ["manual"],
});

/** Requests that a form or a script of another origin can send, with what each would change. */
const REQUESTS: [method: string, path: string, contentType: string, body: string][] = [
  ["POST", "/api/pipelines", "text/plain", PIPELINE],
  ["POST", "/api/pipelines", "application/json", PIPELINE],
  ["POST", "/api/pipelines", "application/x-www-form-urlencoded", PIPELINE],
  ["POST", "/api/keys", "text/plain", '{"name":"stolen","scopes":["admin"]}'],
  ["POST", "/api/webhooks", "text/plain", '{"url":"https://hooks.invalid/"}'],
  ["POST", "/accounts", "text/plain", '{"login":"eve","role":"admin","password":"a long password"}'],
  ["POST", "/session", "text/plain", '{"login":"eve","password":"x"}'],
  ["POST", "/session", "application/x-www-form-urlencoded", "login=eve&password=x"],
  ["DELETE", "/session", "text/plain", ""],
  ["DELETE", "/graph/plant-100", "text/plain", ""],
  ["PUT", "/graph/eve", "application/json", '{"pid_graph":{"nodes":[],"edges":[]}}'],
];

for (const host of HOSTS) {
  test(`requests of a page at ${host} change and read nothing`, async ({ page }) => {
    const before = await stateOf(page);
    await openOther(page, host);
    const target = String(test.info().project.use.baseURL).replace(/\/$/, "");
    const readable = await page.evaluate(
      async ({ target, requests }) => {
        const readable: string[] = [];
        const attempts = requests.flatMap(([method, path, contentType, body]) =>
          (["no-cors", "cors"] as const).map(async (mode) => {
            const headers = { "Content-Type": contentType };
            const content = body === "" ? {} : { headers, body };
            const options: RequestInit = { method, mode, credentials: "include", ...content };
            const response = await fetch(target + path, options).catch(() => null);
            if (response !== null && response.type !== "opaque") readable.push(`${mode} ${method} ${path}`);
          }),
        );
        const reads = ["/session", "/graph/plant-100", "/api/pipelines", "/api/keys", "/"].map(
          async (path) => {
            const response = await fetch(target + path, { credentials: "include" }).catch(() => null);
            if (response !== null) readable.push(`GET ${path}`);
            for (const element of ["img", "script"] as const) {
              const tag = document.createElement(element);
              const loaded = new Promise<boolean>((resolve) => {
                tag.onload = () => resolve(true);
                tag.onerror = () => resolve(false);
              });
              tag.src = target + path;
              document.body.append(tag);
              if (await loaded) readable.push(`<${element} src=${path}>`);
            }
          },
        );
        await Promise.all([...attempts, ...reads]);
        return readable;
      },
      { target, requests: REQUESTS },
    );
    expect(readable, "responses that the other page can read").toEqual([]);
    expect(await stateOf(page)).toEqual(before);
  });

  test(`forms of a page at ${host} change nothing`, async ({ page }) => {
    const before = await stateOf(page);
    const target = String(test.info().project.use.baseURL).replace(/\/$/, "");
    for (const [path, name, value, encoding] of [
      ["/api/pipelines", PIPELINE.slice(0, -1), '"}', "text/plain"],
      ["/session", "login", "eve", "application/x-www-form-urlencoded"],
      ["/api/pipelines", "name", "eve", "multipart/form-data"],
    ] as const) {
      await openOther(page, host);
      const [response] = await Promise.all([
        page.waitForResponse((response) => response.url() === target + path),
        page.evaluate(
          ({ action, name, value, encoding }) => {
            const form = Object.assign(document.createElement("form"), {
              action,
              method: "post",
              enctype: encoding,
            });
            form.append(Object.assign(document.createElement("input"), { name, value }));
            document.body.append(form);
            form.submit();
          },
          { action: target + path, name, value, encoding },
        ),
      ]);
      expect(response.status(), path).toBe(403);
      await page.waitForURL(target + path);
    }
    expect(await stateOf(page)).toEqual(before);
  });

  test(`a page at ${host} gets no events, no socket, no frame and no window of the dashboard`, async ({
    page,
  }) => {
    const target = String(test.info().project.use.baseURL).replace(/\/$/, "");
    await openOther(page, host);
    const found = await page.evaluate(async (target) => {
      const outcome = (source: EventTarget, good: string) =>
        new Promise<boolean>((resolve) => {
          source.addEventListener(good, () => resolve(true));
          source.addEventListener("error", () => resolve(false));
        });
      const events = new EventSource(`${target}/api/events`, { withCredentials: true });
      const socket = new WebSocket(`${target.replace(/^http/, "ws")}/api/events`);
      const outcomes = Promise.all([outcome(events, "open"), outcome(socket, "open")]);
      const opened = window.open(target);
      const [hasEvents, hasSocket] = await outcomes;
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      return {
        events: hasEvents,
        socket: hasSocket,
        // Cross-Origin-Opener-Policy cuts the connection, so that the window looks closed.
        window: opened !== null && !opened.closed,
      };
    }, target);
    expect(found).toEqual({ events: false, socket: false, window: false });
    await openOther(page, host);
    await page.evaluate((target) => {
      for (const path of ["/", "/drawings/plant-100", "/session", "/docs", "/api/pipelines"]) {
        const frame = document.createElement("iframe");
        frame.src = target + path;
        document.body.append(frame);
      }
    }, target);
    await expect.poll(() => page.frames().length).toBe(6);
    const inside = page.frames().filter((frame) => frame !== page.mainFrame());
    for (const frame of inside) {
      await frame.waitForLoadState();
      expect(frame.url(), "a frame that the browser refused").toBe("chrome-error://chromewebdata/");
    }
  });
}

test("the same request of the dashboard itself is carried out", async ({ page }) => {
  await page.goto("/");
  const statuses = await page.evaluate(async (body) => {
    const headers = { "Content-Type": "application/json" };
    const made = await fetch("/api/pipelines", { method: "POST", headers, body });
    const { id } = await made.json();
    return [made.status, (await fetch(`/api/pipelines/${id}`, { method: "DELETE" })).status];
  }, PIPELINE);
  expect(statuses[0]).toBe(201);
  expect(statuses[1]).toBeLessThan(300);
});
