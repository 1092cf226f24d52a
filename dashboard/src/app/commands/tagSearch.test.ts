import { expect, test } from "vitest";
import { linesOf, tagsIn } from "./tagSearch";

function streamOf(parts: string[], onCancel: () => void = () => {}): ReadableStream<Uint8Array> {
  const bytes = parts.map((part) => new TextEncoder().encode(part));
  return new ReadableStream({
    pull: (controller) => {
      const next = bytes.shift();
      if (next) controller.enqueue(next);
      else controller.close();
    },
    cancel: onCancel,
  });
}

async function linesFrom(parts: string[]): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of linesOf(streamOf(parts))) lines.push(line);
  return lines;
}

test("lines are read across the parts of a stream, the last one without its end too", async () => {
  expect(await linesFrom(["a\nb", "c\n", "\n", "d"])).toEqual(["a", "bc", "d"]);
  expect(await linesFrom([])).toEqual([]);
});

test("leaving early cancels the stream", async () => {
  let isCanceled = false;
  const stream = streamOf(["a\n", "b\n", "c\n", "d\n"], () => {
    isCanceled = true;
  });
  for await (const line of linesOf(stream)) if (line === "a") break;
  expect(isCanceled).toBe(true);
});

test("a drawing on which the query failed is named", async () => {
  const lines = linesOf(
    streamOf([
      '{"job_id":"one","error":{"title":"Query error"}}\n',
      '{"job_id":"two","result":[{"id":"n1","tag":"P-1","type":null}]}\n',
    ]),
  );
  expect(await tagsIn(lines)).toEqual({
    // A node without a class is an item.
    tags: [{ graph: "two", node: "n1", tag: "P-1", type: "item" }],
    failed: ["one"],
  });
});
