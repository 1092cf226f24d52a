// Parses Mermaid charts with Mermaid itself: one JSON array of texts as input, one line per chart that it rejects.
import fs from "node:fs";
import { JSDOM } from "jsdom";

const dom = new JSDOM("<!DOCTYPE html><body></body>");
globalThis.window = dom.window;
globalThis.document = dom.window.document;
const { default: mermaid } = await import("mermaid");

const texts = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
for (const text of texts) {
  try {
    const { diagramType } = await mermaid.parse(text);
    if (!diagramType.startsWith("flowchart")) console.log(`a chart is a ${diagramType}`);
  } catch (error) {
    console.log(`${String(error).split("\n")[0]}: ${JSON.stringify(text.slice(0, 300))}`);
  }
}
console.log(`parsed ${texts.length}`);
