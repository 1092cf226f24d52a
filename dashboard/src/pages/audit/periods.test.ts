/** Tests of `periods.ts`. */
import { expect, it } from "vitest";
import { periodOf } from "./periods";

it("ends yesterday where today begins", () => {
  const now = new Date(2026, 2, 1, 9, 30);
  expect(periodOf("yesterday").range(now)).toEqual({
    since: new Date(2026, 1, 28),
    until: new Date(2026, 2, 1),
  });
  expect(periodOf("today").range(now)).toEqual({ since: new Date(2026, 2, 1), until: null });
});

it("has no bounds by default", () => {
  expect(periodOf("unknown").range(new Date())).toEqual({ since: null, until: null });
});
