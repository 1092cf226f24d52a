/** Tests of `ranks.ts`. */
import { expect, test } from "vitest";
import type { Schemas } from "../../api/client";
import type { Pipeline } from "../../features/documents/queries";
import { movement } from "./ranks";
import { parseFilter, settingsOf } from "./settings";

const hit = (chunk_id: string) => ({ chunk_id }) as Schemas["SearchHit"];

test("a passage moves up, down, stays, or is new", () => {
  const hybrid = [hit("a"), hit("b"), hit("c")];
  expect(movement(hit("c"), 0, hybrid)).toMatchObject({ text: "▲ 2", direction: "up" });
  expect(movement(hit("a"), 1, hybrid)).toMatchObject({ text: "▼ 1", direction: "down" });
  expect(movement(hit("b"), 1, hybrid)).toMatchObject({ direction: "same" });
  expect(movement(hit("d"), 0, hybrid)).toMatchObject({ direction: "new" });
});

test("a filter is a JSON object", () => {
  expect(parseFilter('{"unit": 20}')).toEqual({ unit: 20 });
  expect([parseFilter("[1]"), parseFilter("null"), parseFilter("{"), parseFilter("")]).toEqual([
    null,
    null,
    null,
    null,
  ]);
});

test("settings outside of their range are the defaults", () => {
  const pipeline = { classifications: ["manual", "datasheet"] } as Pipeline;
  const settings = settingsOf(new URLSearchParams("q=V-101&top_k=500&classification=secret"), pipeline);
  expect(settings).toMatchObject({ query: "V-101", topK: 8, classification: "manual" });
});
