import { expect, test } from "vitest";
import { errorReport, redacted } from "./errorReport";

const CONTEXT = {
  path: "/documents/unit-100/7",
  version: "1.2.3",
  browser: "Browser/1",
  at: new Date("2026-01-02T03:04:05Z"),
};

test("a report names the page without what it shows, the version, the time and the error", () => {
  const error = new TypeError("x is undefined");
  const report = errorReport(error, CONTEXT);
  expect(report.split("\n").slice(0, 6)).toEqual([
    "pidq 1.2.3",
    "Page: /documents/…/…",
    "Time: 2026-01-02T03:04:05.000Z",
    "Browser: Browser/1",
    "",
    "TypeError: x is undefined",
  ]);
  expect(report.match(/x is undefined/g)).toHaveLength(1);
});

test("what is thrown may be no error", () => {
  expect(errorReport("plain", CONTEXT)).toMatch(/\nplain$/);
  expect(errorReport(null, CONTEXT)).toMatch(/\nnull$/);
});

test.each([
  ["key pidq_abc-DEF_123 is bad", "key [API key] is bad"],
  ["Authorization: Bearer abc.def-1", "Authorization: Bearer [token]"],
  ["got eyJhbGciOi.eyJzdWIi.c2ln", "got [token]"],
  ['{"password": "a b", "x": 1}', '{"password": [secret], "x": 1}'],
  ["client_secret=s3&x=1", "client_secret=[secret]&x=1"],
  ["at https://h/assets/a.js?v=1:2:3", "at https://h/assets/a.js?[…]"],
  ["GET /query?graph=plant&q=isolate", "GET /query?[…]"],
  ["https://me:pass@host/", "https://[credentials]@host/"],
  ["PIDQ1.abc.def", "[license]"],
  ["at f (https://h/assets/a.js:10:20)", "at f (https://h/assets/a.js:10:20)"],
])("%s is reported as %s", (text, expected) => {
  expect(redacted(text)).toBe(expected);
});

test("the report of a deep stack is bounded", () => {
  const error = new Error("deep");
  error.stack = "at f\n".repeat(10_000);
  expect(errorReport(error, CONTEXT).length).toBeLessThanOrEqual(6_000);
});
