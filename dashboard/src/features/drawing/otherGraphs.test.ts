import { expect, test } from "vitest";
import { otherGraphs } from "./otherGraphs";

test("each graph has a name in the query, which refers to its version", () => {
  expect(otherGraphs([{ id: "a", version: "3" }, { id: "b" }])).toEqual({
    names: ["$other1", "$other2"],
    graphParams: { other1: { job_id: "a", change_version: "3" }, other2: { job_id: "b" } },
  });
});
