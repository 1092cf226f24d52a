/**
 * Frames per second of a large drawing, and the time until it is shown. Prints figures and asserts nothing about them:
 * they depend on the machine. The limit beside them is an empty page and a picture that only moves.
 */
import type { Page } from "@playwright/test";
import { test } from "./fixtures";
import { type GraphDocument, repeated } from "./largeDrawing";

const GRAPH = "large-drawing";
const FRAMES = 120;

test.use({ trace: "off", screenshot: "off", expectedErrors: [/favicon/] });

test.beforeAll(async ({ browser, session, baseURL }) => {
  const page = await browser.newPage({ ...(baseURL && { baseURL }), storageState: session });
  await page.goto("/drawings");
  const source = await page.evaluate(async () => (await fetch("/graph/plant-100")).json());
  const large = repeated(source as GraphDocument, GRAPH, 6, 7);
  const answer = await page.evaluate(
    async ([path, body]) => {
      const headers = { "Content-Type": "application/json" };
      const response = await fetch(path, { method: "PUT", headers, body });
      // The service draws a picture once.
      await (await fetch(`${path}?format=svg`)).text();
      return `${response.status} ${response.ok ? "" : await response.text()}`;
    },
    [`/graph/${GRAPH}`, JSON.stringify(large)] as const,
  );
  report("stored", answer);
  report("nodes", String(large.pid_graph.nodes.length));
  report("edges", String(large.pid_graph.edges.length));
  await page.close();
});

test("limits: an empty page and a moved picture", async ({ page }) => {
  await page.goto("/icon.svg");
  await page.goto("about:blank");
  report("empty page", await framesWhile(page, "nothing"));
  report("one picture moved", await framesWhile(page, "picture"));
});

test("a large drawing", async ({ page }) => {
  await page.goto("/drawings");
  const link = page.getByRole("link", { name: "Large drawing" }).first();
  await link.waitFor();
  await page.evaluate(() => addEventListener("click", () => performance.mark("click"), { capture: true }));
  const host = page.getByRole("application");
  await link.click();
  report("first display, from the list", await firstDisplay(page));
  await settled(page);
  report("pan, whole sheet", await framesWhile(page, "pan"));
  await settled(page);
  report("zoom, whole sheet", await framesWhile(page, "zoom"));
  for (let step = 0; step < 6; step++) await host.press("+");
  await settled(page);
  report("pan, zoomed in", await framesWhile(page, "pan"));
  await settled(page);
  report("zoom, zoomed in", await framesWhile(page, "zoom"));
  await page.reload({ waitUntil: "commit" });
  report("first display, on reload", await firstDisplay(page));
});

function report(name: string, figure: string): void {
  console.log(`${name.padEnd(32)} ${figure}`);
}

/** Time from the click or the start of the page until the drawing is in view, and its part after the answer of the service. */
async function firstDisplay(page: Page): Promise<string> {
  return page.evaluate(async () => {
    const next = () => new Promise(requestAnimationFrame);
    while (!document.querySelector("[role=application][data-painted]")) await next();
    await next();
    const now = performance.now();
    const isPicture = (entry: PerformanceEntry) => entry.name.includes("format=svg");
    const answer = performance
      .getEntriesByType("resource")
      .filter(isPicture)
      .at(-1) as PerformanceResourceTiming;
    const start = performance.getEntriesByName("click").at(-1)?.startTime ?? 0;
    const [total, wait] = [now - start, now - answer.responseEnd].map(Math.round);
    return `${total} ms, ${wait} ms after the answer of the service`;
  });
}

/** Waits until the drawing is painted for the view at rest. */
async function settled(page: Page): Promise<void> {
  await page.locator("[role=application][data-painted=all]").waitFor();
}

/** Does a gesture, one step per frame; returns the rate of the frames and the 95th percentile of their duration. */
async function framesWhile(page: Page, gesture: "nothing" | "picture" | "pan" | "zoom"): Promise<string> {
  const times = await page.evaluate(
    ({ gesture, frames }) => {
      const host = document.querySelector<HTMLElement>("[role=application]") ?? document.body;
      const { left, top, width, height } = host.getBoundingClientRect();
      const middle = { x: left + width / 2, y: top + height / 2 };
      const fire = (target: EventTarget, type: string, x: number, y: number) =>
        target.dispatchEvent(
          new MouseEvent(type, {
            bubbles: true,
            composed: true,
            view: window,
            clientX: x,
            clientY: y,
            buttons: 1,
          }),
        );
      const picture = document.createElement("canvas");
      const at = (frame: number) => ({
        x: middle.x + 160 * Math.sin(frame / 12),
        y: middle.y + 100 * Math.sin(frame / 17),
      });
      const steps = {
        nothing: () => {},
        picture: (frame: number) => {
          picture.style.transform = `translate(${Math.round(at(frame).x - middle.x)}px, 0)`;
        },
        pan: (frame: number) => fire(window, "mousemove", at(frame).x, at(frame).y),
        zoom: (frame: number) =>
          host.dispatchEvent(
            new WheelEvent("wheel", {
              bubbles: true,
              cancelable: true,
              clientX: middle.x,
              clientY: middle.y,
              deltaY: Math.floor(frame / 30) % 2 === 0 ? -40 : 40,
            }),
          ),
      };
      if (gesture === "picture") {
        picture.width = 1040;
        picture.height = 800;
        picture.style.willChange = "transform";
        const context = picture.getContext("2d");
        for (let line = 0; line < 5000; line++)
          context?.fillRect((line * 37) % 1040, (line * 91) % 800, 20, 1);
        document.body.append(picture);
      }
      if (gesture === "pan") fire(host, "mousedown", middle.x, middle.y);
      return new Promise<number[]>((done) => {
        const times: number[] = [];
        const next = (now: number) => {
          times.push(now);
          steps[gesture](times.length);
          if (times.length <= frames) requestAnimationFrame(next);
          else {
            if (gesture === "pan") fire(window, "mouseup", at(times.length).x, at(times.length).y);
            done(times);
          }
        };
        requestAnimationFrame(next);
      });
    },
    { gesture, frames: FRAMES },
  );
  const durations = times.slice(1).map((time, index) => time - (times[index] ?? time));
  const total = durations.reduce((sum, duration) => sum + duration, 0);
  const sorted = durations.toSorted((a, b) => a - b);
  const late = sorted[Math.floor(sorted.length * 0.95)] ?? 0;
  return `${((1000 * durations.length) / total).toFixed(1)} frames/s, 95 % of frames within ${late.toFixed(0)} ms`;
}
