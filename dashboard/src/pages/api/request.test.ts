/** Tests of `request.ts`. */
import { expect, it } from "vitest";
import { endpointsOf, exampleOf } from "./openapi";
import { curlOf, pathOf } from "./request";

const document = {
  paths: {
    "/graph/{job_id}": {
      post: {
        summary: "Runs a query on a graph.",
        parameters: [
          { name: "job_id", in: "path" as const },
          { name: "format", in: "query" as const },
        ],
        requestBody: { content: { "application/json": { schema: { $ref: "#/components/schemas/Query" } } } },
        security: [{ bearer: ["read"] }],
      },
    },
  },
  components: {
    schemas: {
      Query: {
        type: "object",
        required: ["query"],
        properties: { query: { type: "string" }, explain: { type: "boolean" } },
      },
    },
  },
};

const endpoint = endpointsOf(document)[0] as never;
const values = { parameters: { job_id: "a/b", format: "csv" }, body: `{"query":"'x'"}`, file: null };

it("fills in the path and the parameters", () => {
  expect(pathOf(endpoint, values)).toBe("/graph/a%2Fb?format=csv");
});

it("quotes the body of the command for a shell", () => {
  expect(curlOf(endpoint, values)).toBe(
    [
      `curl "$PIDQ_URL"'/graph/a%2Fb?format=csv'`,
      "-X POST",
      '-H "Authorization: Bearer $TOKEN"',
      "-H 'Content-Type: application/json'",
      `-d '{"query":"'\\''x'\\''"}'`,
    ].join(" \\\n  "),
  );
});

it("makes an example of the required fields", () => {
  expect(exampleOf(document, { $ref: "#/components/schemas/Query" })).toEqual({ query: "" });
});
