/** The frame of the pages: palette, shortcuts, about, status, page changes, and the end of a session. */
import type { Page } from "@playwright/test";
import { expect, expectAccessible, test } from "./fixtures";

const palette = (page: Page) => page.getByRole("dialog", { name: "Search and commands" });

test.describe("palette", () => {
  test("a tag is found in all drawings and opened with the keyboard alone", async ({ page }) => {
    await page.goto("/overview");
    await page.getByRole("button", { name: "Search and commands" }).waitFor();
    await page.keyboard.press("ControlOrMeta+k");
    await expect(palette(page).getByRole("searchbox")).toBeFocused();
    await page.keyboard.type("p101a");
    await expect(palette(page).getByRole("option", { name: /^P-101A/ })).toBeVisible();
    await expectAccessible(page);
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(/\/drawings\/plant-100\?node=/);
    await expect(palette(page)).toHaveCount(0);
  });

  test("the first result is chosen, also if a later kind is found earlier", async ({ page }) => {
    await page.goto("/overview");
    await page.getByRole("button", { name: "Search and commands" }).waitFor();
    // Tags come from queries of drawings, documents from the platform.
    await page.route("**/graph**", async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 400));
      await route.continue();
    });
    await page.keyboard.press("ControlOrMeta+k");
    await page.keyboard.type("T-101");
    await expect(palette(page).getByRole("option", { name: "T-101-inspection.md" })).toBeVisible();
    await expect(palette(page).getByRole("option").first()).toHaveAttribute("data-focused", "true");
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(/\/drawings\/plant-100\?node=T-101$/);
  });

  test.describe("each kind leads to its page", () => {
    const KINDS: [text: string, option: RegExp, address: RegExp][] = [
      ["usage", /^Usage/, /\/usage$/],
      ["condensate storage", /^100-PID-0005/, /\/drawings\/storage-100$/],
      ["unit 100", /^Unit 100/, /\/documents\/[^/]+$/],
      ["P-101-operation", /^P-101-operation\.md/, /\/documents\/[^/]+\/[^/]+$/],
    ];
    for (const [text, option, address] of KINDS) {
      test(text, async ({ page }) => {
        await page.goto("/overview");
        await page.getByRole("button", { name: "Search and commands" }).click();
        await palette(page).getByRole("searchbox").fill(text);
        await palette(page).getByRole("option", { name: option }).first().click();
        await expect(page).toHaveURL(address);
      });
    }
  });

  test("actions are those of the page and of the selected item", async ({ page }) => {
    await page.goto("/keys");
    await page.getByRole("heading", { level: 1, name: "API keys" }).waitFor();
    await page.keyboard.press("ControlOrMeta+k");
    await page.keyboard.type("create a key");
    await palette(page).getByRole("option", { name: "Create a key" }).click();
    await expect(page.getByRole("dialog", { name: "Create an API key" })).toBeVisible();
    await page.goto("/drawings/plant-100");
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.getByRole("combobox", { name: "Find an item" }).fill("P-101A");
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(/node=/);
    await page.keyboard.press("ControlOrMeta+k");
    await page.keyboard.type("isolate");
    await palette(page)
      .getByRole("option", { name: /^Isolate/ })
      .click();
    await expect(page).toHaveURL(/node=.*view=isolate/);
  });

  test("what has no match says so, and Escape gives the focus back", async ({ page }) => {
    await page.goto("/overview");
    const button = page.getByRole("button", { name: "Search and commands" });
    await button.press("Enter");
    await page.keyboard.type("<img-onerror=alert(2)>");
    await expect(palette(page)).toContainText("Nothing has this name.");
    await page.keyboard.press("Escape");
    if (await palette(page).isVisible()) await page.keyboard.press("Escape");
    await expect(palette(page)).toHaveCount(0);
    await expect(button).toBeFocused();
  });
});

test.describe("palette with several words", () => {
  test("a query of the gallery is found, and the words can be asked to the documents", async ({ page }) => {
    await page.goto("/overview");
    await page.getByRole("button", { name: "Search and commands" }).press("Control+k");
    await page.keyboard.type("control valves open");
    await expect(page.getByRole("option", { name: "Valves that fail open" })).toBeVisible();
    await page.getByRole("option", { name: "control valves open" }).click();
    await expect(page).toHaveURL(/\/ask\/.*q=control\+?(%20)?valves/);
    await expect(page.getByRole("region", { name: "Conversation" })).toContainText("control valves open");
  });

  test("a document is found by words of its name", async ({ page }) => {
    await page.goto("/overview");
    await page.getByRole("button", { name: "Search and commands" }).press("Control+k");
    await page.keyboard.type("operation 101");
    await page.getByRole("option", { name: "P-101-operation.md" }).click();
    await expect(page.getByRole("heading", { level: 1, name: "P-101-operation.md" })).toBeVisible();
  });
});

test.describe("shortcuts", () => {
  test("the help lists them, and they do what it says", async ({ page }) => {
    await page.goto("/drawings/plant-100");
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.keyboard.press("?");
    const help = page.getByRole("dialog", { name: "Keyboard shortcuts" });
    await expect(help.getByRole("region", { name: "Drawings" })).toContainText("Show the whole drawing");
    await expectAccessible(page);
    await page.keyboard.press("Escape");
    await expect(help).toHaveCount(0);
    await page.keyboard.press("g");
    await page.keyboard.press("u");
    await expect(page).toHaveURL(/\/users$/);
  });

  test("characters typed into a field are no shortcuts, and single keys can be turned off", async ({
    page,
  }) => {
    await page.goto("/drawings");
    const help = page.getByRole("dialog", { name: "Keyboard shortcuts" });
    await page.getByRole("searchbox", { name: "Find a drawing" }).pressSequentially("gu?");
    await expect(page.getByRole("searchbox", { name: "Find a drawing" })).toHaveValue("gu?");
    await expect(help).toHaveCount(0);
    await page.getByRole("heading", { level: 1 }).click();
    await page.keyboard.press("?");
    await help.getByText("Shortcuts of single keys").click();
    await page.keyboard.press("Escape");
    await expect(help).toHaveCount(0);
    await page.keyboard.press("?");
    await page.keyboard.press("ControlOrMeta+k");
    await expect(palette(page)).toBeVisible();
    await expect(help).toHaveCount(0);
  });
});

test("about shows the version, the documentation and the licenses of the packages", async ({ page }) => {
  await page.goto("/overview");
  await page.getByRole("button", { name: /^Account/ }).click();
  await page.getByRole("menuitem", { name: "About pidq" }).click();
  const about = page.getByRole("dialog", { name: "About pidq" });
  await expect(about.getByRole("definition").filter({ hasText: /^\d+\.\d+\.\d+/ })).toBeVisible();
  await expect(about.getByRole("link", { name: /^Documentation/ })).toHaveAttribute("href", "/docs");
  const license = about.getByRole("listitem").filter({ hasText: "react-dom" });
  await license.getByText("react-dom").click();
  await expect(license.getByText(/Copyright .* Meta Platforms/)).toBeVisible();
  await expectAccessible(page);
});

test.describe("status", () => {
  test.use({ expectedErrors: [/Failed to load resource/] });

  test("it is ready, then names the parts that fail, then that the service is gone", async ({ page }) => {
    let answer = { status: 200, body: "ready\n" };
    let isGone = false;
    await page.route("**/readyz", (route) => (isGone ? route.abort() : route.fulfill(answer)));
    await page.goto("/license");
    const status = page.getByRole("button", { name: "Service: Ready" });
    await expect(status).toBeVisible();
    answer = { status: 200, body: 'ready\ndegraded: ["dense search"]\n' };
    await page.evaluate(() => window.dispatchEvent(new Event("online")));
    await page.getByRole("button", { name: "Service: Degraded" }).click();
    await expect(page.getByRole("dialog", { name: "Degraded" })).toContainText("dense search");
    await expect(page.getByText("Service: Degraded. dense search")).toBeAttached();
    await expectAccessible(page);
    await page.keyboard.press("Escape");
    isGone = true;
    await page.evaluate(() => window.dispatchEvent(new Event("offline")));
    await expect(page.getByRole("alert")).toContainText("The service cannot be reached.");
    await expectAccessible(page);
    isGone = false;
    await page.getByRole("button", { name: "Try now" }).click();
    await expect(page.getByRole("alert")).toHaveCount(0);
  });

  test("a hidden tab does not ask", async ({ page }) => {
    await page.clock.install();
    let count = 0;
    await page.route("**/readyz", (route) => {
      count += 1;
      return route.fulfill({ status: 200, body: "ready\n" });
    });
    await page.goto("/license");
    await expect(page.getByRole("button", { name: "Service: Ready" })).toBeVisible();
    await page.clock.runFor(70_000);
    await expect.poll(() => count).toBeGreaterThan(1);
    await page.evaluate(() => {
      Object.defineProperty(document, "visibilityState", { get: () => "hidden" });
      document.dispatchEvent(new Event("visibilitychange"));
    });
    const before = count;
    await page.clock.runFor(120_000);
    expect(count).toBe(before);
  });
});

test.describe("change of the page", () => {
  test("the title and the focus follow", async ({ page }) => {
    await page.goto("/drawings");
    await expect(page).toHaveTitle("Drawings · pidq");
    await page.getByRole("link", { name: "API keys" }).click();
    await expect(page).toHaveTitle("API keys · pidq");
    await expect(page.getByRole("heading", { level: 1, name: "API keys" })).toBeFocused();
    await page.goBack();
    await expect(page).toHaveTitle("Drawings · pidq");
    await page.getByRole("link", { name: /Condensate feed/ }).click();
    await expect(page).toHaveTitle(/Condensate feed.* · pidq/);
  });

  test("going back returns to the same place", async ({ page }) => {
    await page.setViewportSize({ width: 1000, height: 300 });
    await page.goto("/license");
    const content = page.getByRole("main");
    await page.getByText(/^PIDQ-[A-Z0-9]{4}-/).waitFor();
    await content.evaluate((element) => element.scrollTo(0, 120));
    await expect.poll(() => content.evaluate((element) => element.scrollTop)).toBe(120);
    await page.keyboard.press("g");
    await page.keyboard.press("k");
    await expect(page).toHaveTitle("API keys · pidq");
    await expect.poll(() => content.evaluate((element) => element.scrollTop)).toBe(0);
    await page.goBack();
    await expect.poll(() => content.evaluate((element) => element.scrollTop)).toBe(120);
  });

  test("the first key skips to the content", async ({ page }) => {
    await page.goto("/license");
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await expect(page.getByRole("main")).toBeFocused();
  });

  for (const path of ["/nothing", "/keys/nothing", "/documents/a/b/c"]) {
    test(`${path} is no page`, async ({ page }) => {
      await page.goto(path);
      await expect(page.getByRole("heading", { name: "There is no such page" })).toBeVisible();
      await expect(page).toHaveTitle("Not found · pidq");
      await expectAccessible(page);
    });
  }
});

test("an address with a line break is no page", async ({ page }) => {
  for (const path of ["/drawings%0Ax", "/%0A", "/users/%0D%0A"]) {
    await page.goto(path);
    await expect(page.getByRole("heading", { level: 1, name: "There is no such page" }), path).toBeVisible();
  }
});

test.describe("a page that fails", () => {
  test.use({ expectedErrors: [/Failed to load resource|dynamically imported module/] });

  test("offers to reload and a report, and leaves the other pages", async ({ page, context }) => {
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.route(/UsagePage.*\.js$/, (route) => route.abort());
    await page.goto("/usage?q=confidential");
    await expect(page.getByRole("heading", { name: "This page could not be loaded" })).toBeVisible();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Copy the report" }).click();
    const report = await page.evaluate(() => navigator.clipboard.readText());
    expect(report).toContain("Page: /usage");
    expect(report).not.toContain("confidential");
    await page.getByRole("link", { name: "License" }).click();
    await expect(page.getByRole("heading", { level: 1, name: "License" })).toBeVisible();
    await page.unroute(/UsagePage.*\.js$/);
    await page.goBack();
    await page.getByRole("button", { name: "Reload" }).click();
    await expect(page.getByRole("heading", { level: 1, name: "Usage" })).toBeVisible();
  });
});

test.describe("sign-in", () => {
  test.use({ storageState: { cookies: [], origins: [] } });
  test.skip(!process.env.PIDQ_DEMO_LOGIN, "the service needs no sign-in");

  const login = process.env.PIDQ_DEMO_LOGIN ?? "";
  const password = process.env.PIDQ_DEMO_PASSWORD ?? "";

  async function signIn(page: Page): Promise<void> {
    await page.getByRole("textbox", { name: "Password" }).fill(password);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
  }

  test("a session that ends keeps the page, in all tabs, until the person has signed in again", async ({
    page,
    context,
  }) => {
    await page.goto("/license");
    await page.getByRole("textbox", { name: "Login" }).fill(login);
    await signIn(page);
    await page.getByRole("textbox", { name: "License" }).fill("PIDQ1.draft.draft");
    const other = await context.newPage();
    await other.goto("/audit?tab=two");
    await other.getByRole("searchbox", { name: "Find an entry" }).fill("pipeline");

    await page.evaluate(() => fetch("/session", { method: "DELETE" }));
    await page.getByRole("button", { name: "Install" }).click();
    const ended = { name: "Your session ended. Sign in again" };
    await expect(page.getByRole("alertdialog", ended)).toHaveCount(1);
    await expect(other.getByRole("alertdialog", ended)).toHaveCount(1);
    await expect(page.getByRole("alert")).toHaveCount(0);
    await expectAccessible(page);

    await signIn(page);
    await expect(page.getByRole("alertdialog")).toHaveCount(0);
    await expect(other.getByRole("alertdialog")).toHaveCount(0);
    await expect(page.getByRole("textbox", { name: "License" })).toHaveValue("PIDQ1.draft.draft");
    // The rejected change is made after all: the service now judges the license.
    await expect(page.getByRole("alert")).toContainText(/[Ll]icense/);
    await expect(page).toHaveURL(/\/license$/);
    await expect(other.getByRole("searchbox", { name: "Find an entry" })).toHaveValue("pipeline");
    await expect(other).toHaveURL(/\/audit\?tab=two/);
    await expect(other.getByRole("row", { name: /pipeline/ }).first()).toBeVisible();
  });

  test("what one person changed is not sent for another who signs in", async ({ page, context }) => {
    const other = "frame-other";
    await page.goto("/license");
    await page.getByRole("textbox", { name: "Login" }).fill(login);
    await signIn(page);
    await page.getByRole("textbox", { name: "License" }).fill("PIDQ1.draft.draft");
    // The service has one account: what tells the page who signed in is changed on its way.
    await page.route("**/session", async (route) => {
      const response = await route.fetch();
      const session = await response.json().catch(() => null);
      const isOther = session?.signed_in && route.request().method() === "POST";
      return route.fulfill({ response, ...(isOther ? { json: { ...session, login: other } } : {}) });
    });
    await context.clearCookies();
    const sent: string[] = [];
    page.on("response", (response) => {
      if (response.url().endsWith("/api/license") && response.request().method() === "PUT")
        sent.push(String(response.status()));
    });
    await page.getByRole("button", { name: "Install" }).click();
    await expect(page.getByRole("alertdialog")).toBeVisible();
    await signIn(page);
    await expect(page.getByRole("alertdialog")).toHaveCount(0);
    await expect(page.getByRole("textbox", { name: "License" })).toHaveValue("");
    expect(sent).toEqual(["401"]);
  });

  test("while a session has ended, nothing is asked again and again", async ({ page }) => {
    await page.goto("/overview");
    await page.getByRole("textbox", { name: "Login" }).fill(login);
    await signIn(page);
    await expect(page.getByRole("region", { name: "Pipelines" })).toBeVisible();
    await page.clock.install();
    await page.evaluate(() => fetch("/session", { method: "DELETE" }));
    await page.evaluate(() => window.dispatchEvent(new Event("focus")));
    await page.getByRole("link", { name: "API keys" }).click();
    await expect(page.getByRole("alertdialog")).toBeVisible();
    const requests: string[] = [];
    page.on("request", (request) => requests.push(new URL(request.url()).pathname));
    await page.clock.runFor(120_000);
    expect(requests.filter((path) => path !== "/readyz")).toEqual([]);
  });

  test("signing out leaves nothing in other tabs", async ({ page, context }) => {
    await page.goto("/overview");
    await page.getByRole("textbox", { name: "Login" }).fill(login);
    await signIn(page);
    await page.getByRole("button", { name: /^Account/ }).waitFor();
    const other = await context.newPage();
    await other.goto("/usage");
    await other.getByRole("heading", { level: 1, name: "Usage" }).waitFor();
    await page.getByRole("button", { name: /^Account/ }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await expect(page.getByRole("heading", { name: "Sign in to pidq" })).toBeVisible();
    await expect(other.getByRole("heading", { name: "Sign in to pidq" })).toBeVisible();
    await expect(other).toHaveURL(/\/usage$/);
  });

  test("a failed single sign-on is explained, an unknown code too", async ({ page }) => {
    await page.goto("/?error=sso-denied");
    await expect(page.getByRole("alert")).toContainText("did not let you in");
    await expectAccessible(page);
    await page.goto("/?error=%3Cb%3Ecall+555%3C%2Fb%3E");
    await expect(page.getByRole("alert")).toContainText("The sign-in failed");
    await expect(page.getByText("555")).toHaveCount(0);
  });

  test("too many attempts are counted down", async ({ page }) => {
    await page.clock.install();
    await page.route("**/session", (route) =>
      route.request().method() === "POST"
        ? route.fulfill({
            status: 429,
            headers: { "Retry-After": "3", "Content-Type": "application/problem+json" },
            body: JSON.stringify({ title: "Too many requests", code: "rate-limited", status: 429 }),
          })
        : route.fallback(),
    );
    await page.goto("/");
    await page.getByRole("textbox", { name: "Login" }).fill(login);
    await signIn(page);
    await expect(page.getByRole("button", { name: "Wait 3 seconds" })).toBeDisabled();
    await page.clock.runFor(1_500);
    await expect(page.getByRole("button", { name: "Wait 2 seconds" })).toBeDisabled();
    await page.clock.runFor(2_000);
    await expect(page.getByRole("button", { name: "Sign in", exact: true })).toBeEnabled();
  });

  test("the password can be shown", async ({ page }) => {
    await page.goto("/sign-in");
    const field = page.getByRole("textbox", { name: "Password" });
    await expect(field).toHaveAttribute("type", "password");
    await field.fill("blue valve");
    await page.getByRole("button", { name: "Show the password" }).click();
    await expect(field).toHaveAttribute("type", "text");
    await expect(field).toHaveValue("blue valve");
    await expectAccessible(page);
    await page.getByRole("button", { name: "Hide the password" }).click();
    await expect(field).toHaveAttribute("type", "password");
    await page.getByRole("button", { name: "Show the password" }).click();
    await page.getByRole("textbox", { name: "Login" }).fill("nobody");
    await field.press("Enter");
    await expect(page.getByText("The login or the password is wrong.")).toBeVisible();
    await expect(field).toHaveAttribute("type", "password");
  });

  test("Caps Lock is pointed out in the password", async ({ page }) => {
    await page.goto("/");
    const field = page.getByRole("textbox", { name: "Password" });
    await field.focus();
    await field.evaluate((element) =>
      element.dispatchEvent(
        new KeyboardEvent("keydown", { key: "A", bubbles: true, modifierCapsLock: true }),
      ),
    );
    await expect(page.getByText("Caps Lock is on.")).toBeVisible();
    await page.keyboard.press("b");
    await expect(page.getByText("Caps Lock is on.")).toHaveCount(0);
  });
});
