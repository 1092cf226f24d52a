// Parses Cypher statements with Neo4j's own language support: one JSON array of texts as input, one line per error.
const fs = require("node:fs");
const { lintCypherQuery } = require("@neo4j-cypher/language-support");

const texts = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
for (const text of texts) {
  const result = lintCypherQuery(text, {});
  // Severity 1 is an error; a warning about the product of two patterns is expected, since both have an index.
  for (const found of (result.diagnostics ?? result).filter((found) => found.severity === 1)) {
    console.log(`line ${found.range.start.line + 1}: ${found.message.slice(0, 200)}: ${JSON.stringify(text.slice(0, 300))}`);
  }
}
console.log(`parsed ${texts.length}`);
