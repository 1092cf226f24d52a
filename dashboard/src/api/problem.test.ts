/** Tests of `problem.ts`. */
import { expect, it } from "vitest";
import { ApiProblem, isRetryable, problemOf, retryDelay } from "./problem";

const busy = (retryAfter: string) =>
  problemOf(
    new Response('{"title": "Overloaded", "code": "overloaded"}', {
      status: 503,
      headers: { "Retry-After": retryAfter },
    }),
  );

it("repeats a request when the service asks to", async () => {
  const problem = await busy("2");
  expect(problem.fields).toMatchObject({ status: 503, code: "overloaded" });
  expect(isRetryable(problem)).toBe(true);
  expect(retryDelay(0, problem)).toBe(2000);
});

it("shows a problem that lasts longer than a person waits", async () => {
  expect(isRetryable(await busy("60"))).toBe(false);
});

it("waits longer from attempt to attempt if the service does not say how long", () => {
  const problem = new ApiProblem({ status: 502, code: "api-unavailable", title: "API unavailable" });
  expect([0, 1].map((attempt) => retryDelay(attempt, problem))).toEqual([1000, 2000]);
  expect(isRetryable(problem)).toBe(true);
  expect(isRetryable(new ApiProblem({ status: 404, code: "not-found", title: "Not found" }))).toBe(false);
});
