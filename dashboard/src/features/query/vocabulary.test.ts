/** Tests of `vocabulary.ts`. */
import { expect, it } from "vitest";
import { collectVocabulary } from "./vocabulary";

it("collects fields with their most frequent values, and tags", () => {
  const words = collectVocabulary([
    { tag: "HV-2", size: 50 },
    { tag: "HV-1", size: 80, attributes: [] },
    { tag: "N1", qualified_tag: "V-1-N1", size: 80 },
  ]);
  expect(words.tags).toEqual(["HV-1", "HV-2", "V-1-N1"]);
  expect(words.fields.find((field) => field.name === "size")).toEqual({
    name: "size",
    count: 3,
    values: ["80", "50"],
  });
  expect(words.fields.find((field) => field.name === "attributes")?.values).toEqual([]);
});
