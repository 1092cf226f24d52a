/**
 * Base of the browser tests: every test starts signed in and fails on errors of the page, in the console or against the
 * Content-Security-Policy.
 */
import AxeBuilder from "@axe-core/playwright";
import { type Browser, type BrowserContext, test as base, expect, type Page } from "@playwright/test";

type StoredSession = Awaited<ReturnType<BrowserContext["storageState"]>>;

interface TestFixtures {
  /** Errors of the page that a test provokes: `test.use({ expectedErrors: [/…/] })`. */
  expectedErrors: RegExp[];
  noPageErrors: undefined;
}

interface WorkerFixtures {
  session: StoredSession;
}

/** A test that needs to start signed out says `test.use({ storageState: { cookies: [], origins: [] } })`. */
export const test = base.extend<TestFixtures, WorkerFixtures>({
  expectedErrors: [[], { option: true }],
  session: [
    async ({ browser }, use, worker) => use(await signedIn(browser, String(worker.project.use.baseURL))),
    { scope: "worker" },
  ],
  storageState: ({ session }, use) => use(session),
  noPageErrors: [
    async ({ context, expectedErrors }, use) => {
      const errors = await collectErrors(context);
      await use(undefined);
      const unexpected = errors.filter((error) => !expectedErrors.some((pattern) => pattern.test(error)));
      expect(unexpected, "errors of the page").toEqual([]);
    },
    { auto: true },
  ],
});

export { expect };

/** Signs in as the sign-in page does, unless the service needs no sign-in. */
async function signedIn(browser: Browser, baseURL: string): Promise<StoredSession> {
  const context = await browser.newContext({ baseURL });
  const page = await context.newPage();
  await page.goto("/");
  const login = process.env.PIDQ_DEMO_LOGIN ?? "";
  const password = process.env.PIDQ_DEMO_PASSWORD ?? "";
  const failure = await page.evaluate(
    async ({ login, password }) => {
      const session = await (await fetch("/session")).json();
      if (session.signed_in) return null;
      const response = await fetch("/session", {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ login, password }),
      });
      return response.ok ? null : `${response.status} ${await response.text()}`;
    },
    { login, password },
  );
  expect(failure, "sign-in with PIDQ_DEMO_LOGIN and PIDQ_DEMO_PASSWORD").toBeNull();
  const state = await context.storageState();
  await context.close();
  return state;
}

/** The errors of all pages of a context, as they occur. */
async function collectErrors(context: BrowserContext): Promise<string[]> {
  const errors: string[] = [];
  await context.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (event) => {
      console.error(
        `Content-Security-Policy: ${event.effectiveDirective} blocked ${event.blockedURI} ${event.sample}`,
      );
    });
  });
  context.on("weberror", (error) => errors.push(String(error.error())));
  context.on("console", (message) => {
    const url = message.location().url;
    if (message.type() === "error" && !isRejectedRequest(message.text(), url))
      errors.push(`${message.text()} (${url})`);
  });
  return errors;
}

/** A request that the API rejects is no error of the page, which shows the problem. */
function isRejectedRequest(text: string, url: string): boolean {
  return (
    /^Failed to load resource: .* status of 4\d\d/.test(text) &&
    /^\/(api|graph|session|accounts?|clients)\b/.test(new URL(url).pathname)
  );
}

/** Fails on serious and critical findings of axe. */
export async function expectAccessible(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  const findings = violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, help, nodes }) => ({
      id,
      help,
      nodes: nodes.slice(0, 5).map((node) => `${node.html}\n${node.failureSummary}`),
    }));
  expect(findings, "findings of axe").toEqual([]);
}
