/** Tests of `tags.ts`. */
import { expect, test } from "vitest";
import { drawingPath, nodesOf } from "./tags";

test("the node of a tag is that of the first drawing that has it", () => {
  const lines = [
    '{"job_id":"a","change_version":"1","result":[{"id":"n1","tag":"P-1"}]}',
    '{"job_id":"b","change_version":"1","result":[{"id":"n2","tag":"P-1"},{"id":"n3","tag":"P-2"}]}',
    '{"job_id":"c","change_version":null,"error":{"code":"graph-not-found"}}',
    "",
  ];
  expect(nodesOf(lines.join("\n"))).toEqual(
    new Map([
      ["P-1", { graph: "a", node: "n1" }],
      ["P-2", { graph: "b", node: "n3" }],
    ]),
  );
});

test("ids are escaped in paths", () => {
  expect(drawingPath({ graph: "a/b", node: "x&y" })).toBe("/drawings/a%2Fb?node=x%26y");
});
