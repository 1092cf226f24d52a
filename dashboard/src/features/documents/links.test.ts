/** Tests of `links.ts`. */
import { expect, it } from "vitest";
import { documentPagePath } from "./links";

it("puts the place into the address, and nothing else of a passage", () => {
  const passage = {
    page: 2,
    start: 10,
    end: 20,
    text: "Set pressure: 38.5 barg",
    score: 0.1,
    tags: ["P-101A"],
  };
  expect(documentPagePath("p", "d", passage)).toBe("/documents/p/d?start=10&end=20&page=2");
});
