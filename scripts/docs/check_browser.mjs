// Opens the built site from the file system in Chromium: pages request nothing from other hosts, raise no errors and fit
// on a phone, and the search finds a tutorial.
//
//     node scripts/docs/check_browser.mjs SITE
import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const PHONE = { width: 390, height: 800 };
const DESKTOP = { width: 1300, height: 900 };

// Playwright is a dependency of the dashboard.
const require = createRequire(new URL("../../dashboard/package.json", import.meta.url));
const { chromium } = require("@playwright/test");

const site = resolve(process.argv[2]);
const root = `${pathToFileURL(site)}/`;
const problems = [];

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-dev-shm-usage"],
});

const page = await browser.newPage({ viewport: PHONE });
page.on("request", (request) => {
  if (!request.url().startsWith(root) && !/^(data|blob|about):/.test(request.url())) {
    problems.push(`${page.url()} requests ${request.url()}`);
  }
});
page.on("pageerror", (error) => problems.push(`${page.url()}: ${error}`));

const names = readdirSync(site, { recursive: true }).filter((name) => name.endsWith(".html") && name !== "404.html");
if (names.length < 20) problems.push(`there are only ${names.length} pages in ${site}`);
for (const name of names) {
  await page.goto(root + name);
  const excess = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  if (excess > 0) problems.push(`${name} is ${excess} pixels too wide for a phone`);
}

async function search(words, title) {
  await page.setViewportSize(DESKTOP);
  await page.goto(`${root}index.html`);
  await page.locator(".md-search__input").click();
  await page.keyboard.type(words);
  await page.locator(".md-search-result__item", { hasText: title }).first().waitFor();
}

page.setDefaultTimeout(15_000);
await search("check valve removed", "Review a revision").catch((error) => problems.push(`search: ${error}`));
await browser.close();

for (const problem of problems) console.error(problem);
console.log(`${names.length} pages in Chromium: ${problems.length} problems`);
process.exit(problems.length ? 1 : 0);
