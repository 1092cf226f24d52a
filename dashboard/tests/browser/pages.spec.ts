/** Every page, light and dark, wide and on a phone: accessible, inside the window, without errors, and fast. */
import type { Page } from "@playwright/test";
import { PAGES } from "../../src/app/pages";
import { expect, expectAccessible, test } from "./fixtures";

const SIZES = [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
];

/** A tablet and a wall screen, whose width alone is checked. */
const OTHER_SIZES = [
  { width: 820, height: 1180 },
  { width: 2560, height: 1440 },
];

/** Slow machines included; on a developer's machine it is well below one second. */
const MAX_PAINT_MS = 5_000;

/** Of the first visit, compressed. */
const MAX_TRANSFER_BYTES = 400_000;

for (const { path, label } of PAGES) {
  test(`the page ${label}`, async ({ page }) => {
    for (const size of SIZES) {
      await page.setViewportSize(size);
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        await page.goto(path);
        await expect(page.locator("h1").first()).toBeVisible();
        await expect(page.locator('.loading, [aria-busy="true"]')).toHaveCount(0);
        const place = `${path}, ${colorScheme}, ${size.width} × ${size.height}`;
        expect(await overflow(page), `pixels that ${place} is too wide and too high`).toEqual([0, 0]);
        const paint = await largestPaint(page);
        expect(paint, `largest contentful paint of ${place}, in milliseconds`).toBeLessThan(MAX_PAINT_MS);
        console.log(`${place}: largest contentful paint after ${Math.round(paint)} ms`);
        await expectAccessible(page);
      }
    }
    for (const size of OTHER_SIZES) {
      await page.setViewportSize(size);
      const place = `${path}, ${size.width} × ${size.height}`;
      await expect
        .poll(() => overflow(page), `pixels that ${place} is too wide and too high`)
        .toEqual([0, 0]);
    }
  });
}

test("a page is printed without the frame, on white, with all rows of its table", async ({ page }) => {
  await page.emulateMedia({ colorScheme: "dark" });
  await page.goto("/query?graph=plant-100");
  await page.getByRole("button", { name: "Run" }).click();
  const rows = page.getByRole("region", { name: "Result" }).locator("tbody tr:not([aria-hidden])");
  await expect(rows.first()).toBeVisible();
  const total = Number((await page.getByText(/^\d+ rows · /).textContent())?.split(" ")[0]);
  expect(await rows.count(), "rows on the screen").toBeLessThan(total);

  await page.emulateMedia({ colorScheme: "dark", media: "print" });
  await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
  await expect(rows).toHaveCount(total);
  await expect(page.getByRole("navigation", { name: "Pages" })).toBeHidden();
  const colors = await page.evaluate(() => {
    const { backgroundColor, color } = getComputedStyle(document.body);
    return { backgroundColor, color };
  });
  expect(colors).toEqual({ backgroundColor: "rgb(255, 255, 255)", color: "rgb(22, 32, 43)" });
  // The last row is on the paper: nothing around the table cuts it off.
  const cut = await rows.last().evaluate((row) => {
    const bottom = row.getBoundingClientRect().bottom;
    for (let parent = row.parentElement; parent; parent = parent.parentElement) {
      const isOpen = getComputedStyle(parent).overflowY === "visible" || parent === document.documentElement;
      if (!isOpen && parent.getBoundingClientRect().bottom < bottom - 1) return parent.className;
    }
    return null;
  });
  expect(cut, "element that cuts the table off").toBeNull();

  await page.emulateMedia({ colorScheme: "dark", media: "screen" });
  await page.evaluate(() => window.dispatchEvent(new Event("afterprint")));
  await expect(page.getByRole("navigation", { name: "Pages" })).toBeVisible();
  expect(await rows.count(), "rows on the screen").toBeLessThan(total);
});

test("the first visit transfers little", async ({ page, context }) => {
  const files: { name: string; bytes: number }[] = [];
  const client = await context.newCDPSession(page);
  const names = new Map<string, string>();
  await client.send("Network.enable");
  await client.send("Network.setCacheDisabled", { cacheDisabled: true });
  client.on("Network.responseReceived", ({ requestId, response }) => names.set(requestId, response.url));
  client.on("Network.loadingFinished", ({ requestId, encodedDataLength }) =>
    files.push({ name: new URL(names.get(requestId) ?? "about:blank").pathname, bytes: encodedDataLength }),
  );
  await page.goto("/");
  await expect(page.locator("h1").first()).toBeVisible();
  await expect(page.locator('.loading, [aria-busy="true"]')).toHaveCount(0);
  const total = files.reduce((sum, file) => sum + file.bytes, 0);
  console.log(`first visit: ${files.length} files, ${total} bytes`);
  expect(
    files.filter(({ name }) => /QueryEditor|pdf/.test(name)),
    "the editor and the viewer are loaded when they are needed",
  ).toEqual([]);
  expect(
    files.some(({ name }) => name.startsWith("/assets/index-")),
    "the files are counted",
  ).toBe(true);
  expect(total, "compressed bytes").toBeLessThan(MAX_TRANSFER_BYTES);
});

/** The numbers of pixels by which the document is wider and higher than the window: parts of it scroll, it does not. */
function overflow(page: Page): Promise<[width: number, height: number]> {
  return page.evaluate(() => {
    const { scrollWidth, scrollHeight } = document.documentElement;
    return [Math.max(0, scrollWidth - window.innerWidth), Math.max(0, scrollHeight - window.innerHeight)];
  });
}

/** The time of the largest paint so far, in milliseconds since the start of the navigation. */
function largestPaint(page: Page): Promise<number> {
  return page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        new PerformanceObserver((list, observer) => {
          observer.disconnect();
          resolve(list.getEntries().at(-1)?.startTime ?? 0);
        }).observe({ type: "largest-contentful-paint", buffered: true });
      }),
  );
}
