/** Tests of `span.ts`. */
import { describe, expect, it } from "vitest";
import { applyFix, editorOffset, findingOfProblem, findingOfWarning } from "./span";

describe("places in a query", () => {
  it("converts bytes to code units", () => {
    expect(editorOffset('"ü" | x', 7)).toBe(6);
    expect(editorOffset('"😀" | x', 9)).toBe(7);
  });

  it("replaces the text that a problem suggests", () => {
    const text = '"😀" | length()';
    const problem = {
      status: 422,
      code: "unknown-function",
      title: "Unknown function",
      span: { start: 9, end: 15 },
      suggestions: [{ text: "size", span: { start: 9, end: 15 } }],
    };
    const finding = findingOfProblem(text, problem as never);
    expect(finding && applyFix(text, finding.fixes[0] as never)).toBe('"😀" | size()');
  });

  it("replaces a tag that is not found", () => {
    const text = 'isolate("P-101") | .barriers';
    const problem = {
      status: 422,
      code: "query-evaluation",
      title: "No node",
      span: { start: 0, end: 16 },
      suggestions: [{ text: "P-101A", span: null }],
    };
    const finding = findingOfProblem(text, problem as never);
    expect(finding && applyFix(text, finding.fixes[0] as never)).toBe('isolate("P-101A") | .barriers');
  });

  it("replaces a field that no object has", () => {
    const text = "nodes() | map(.tga)";
    const warning = {
      code: "PQW01",
      message: "",
      span: { start: 15, end: 18 },
      help: "did you mean `.tag`?",
    };
    const finding = findingOfWarning(text, warning);
    expect(applyFix(text, finding.fixes[0] as never)).toBe("nodes() | map(.tag)");
  });
});
