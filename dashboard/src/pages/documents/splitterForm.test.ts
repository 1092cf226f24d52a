/** Tests of `splitterForm.ts`. */
import { expect, test } from "vitest";
import type { TextSplitter } from "../../features/documents/queries";
import { fieldKind, splitterErrors, splitterOf, splitterValues } from "./splitterForm";

const splitter: TextSplitter = {
  name: "recursive_character",
  summary: "",
  parameters: {
    chunk_size: { default: 1000, kind: "an integer", summary: "" },
    separators: { default: ["\n\n", ""], kind: "an array of strings", summary: "" },
    separator: { default: "\n\n", kind: "a string", summary: "" },
    keep_separator: { default: false, kind: 'true, false, "start" or "end"', summary: "" },
    min_chunk_size: { default: null, kind: "an integer", summary: "" },
  },
};

test("kinds of the API are fields", () => {
  expect(fieldKind("true or false")).toEqual({ type: "choice", choices: ["true", "false"] });
  expect(fieldKind('true, false, "start" or "end"')).toEqual({
    type: "choice",
    choices: ["true", "false", "start", "end"],
  });
  expect(fieldKind("one of chars, words")).toEqual({ type: "choice", choices: ["chars", "words"] });
  expect(fieldKind("an array of pairs of strings")).toEqual({ type: "json" });
});

test("only parameters that differ from their default are sent", () => {
  const values = { chunk_size: "1000", keep_separator: "true", separator: "\\n", min_chunk_size: "" };
  expect(splitterOf(splitter, values)).toEqual({
    name: "recursive_character",
    keep_separator: true,
    separator: "\n",
  });
});

test("stored parameters survive the form", () => {
  const stored = { chunk_size: 200, separators: ["a"], separator: '"\t', keep_separator: "end" };
  expect(splitterOf(splitter, splitterValues(splitter, stored))).toEqual({
    name: "recursive_character",
    ...stored,
  });
});

test("text that is no value of its parameter is an error", () => {
  expect(splitterErrors(splitter, { chunk_size: "1.5", separators: "[", keep_separator: "end" })).toEqual({
    chunk_size: "Expected an integer.",
    separators: "Expected an array of strings.",
  });
});
