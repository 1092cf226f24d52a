import { expect, test } from "vitest";
import { secondsOfRetryAfter, waitingText } from "./waiting";

const NOW = Date.parse("2026-01-01T00:00:00Z");

test.each([
  [null, null],
  ["", null],
  ["soon", null],
  ["-5", null],
  ["0", 0],
  [" 30 ", 30],
  ["Thu, 01 Jan 2026 00:01:30 GMT", 90],
  ["Wed, 31 Dec 2025 23:59:00 GMT", 0],
])("Retry-After %j is %j seconds", (header, seconds) => {
  expect(secondsOfRetryAfter(header, NOW)).toBe(seconds);
});

test.each([
  [1, "1 second"],
  [59, "59 seconds"],
  [60, "1:00 minutes"],
  [75, "1:15 minutes"],
])("%j seconds as %j", (seconds, text) => {
  expect(waitingText(seconds)).toBe(text);
});
