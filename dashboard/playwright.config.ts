/** Browser tests, in Chromium, against a running `pidq up --demo`; `scripts/dashboard.sh test` starts it. */
import { defineConfig } from "@playwright/test";

const url = process.env.PIDQ_DASHBOARD_URL;
if (!url) throw new Error("PIDQ_DASHBOARD_URL is not set; run scripts/dashboard.sh test");

export default defineConfig({
  testDir: "tests/browser",
  // `scripts/dashboard.sh pictures` takes the pictures of the README, and `frames` measures the drawing.
  testIgnore: [
    ...(process.env.PIDQ_PICTURES ? [] : ["pictures.spec.ts"]),
    ...(process.env.PIDQ_FRAMES ? [] : ["frames.spec.ts"]),
  ],
  outputDir: "test-results",
  workers: 1,
  retries: process.env.CI ? 2 : 0,
  timeout: 90_000,
  // Machines of continuous integration may be slow.
  expect: { timeout: 15_000 },
  reporter: [["list"]],
  use: {
    baseURL: url,
    viewport: { width: 1440, height: 900 },
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
      args: ["--no-sandbox", "--disable-dev-shm-usage"],
    },
    screenshot: "only-on-failure",
    trace: "retain-on-failure",
  },
});
