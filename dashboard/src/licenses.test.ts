import { expect, test } from "vitest";
import { packageLicenses } from "../licenses";

test("the packages that are shipped are listed by name, those of development and of Node.js are not", () => {
  const lock = {
    "": { version: "0.1.0", license: "MIT" },
    "node_modules/b": { version: "2.0.0", license: "MIT" },
    "node_modules/@scope/a": { version: "1.0.0" },
    "node_modules/b/node_modules/c": { version: "3.0.0", license: "ISC" },
    "node_modules/tool": { version: "1.0.0", license: "MIT", dev: true },
    "node_modules/native": { version: "1.0.0", license: "MIT", optional: true },
  };
  const texts: Record<string, string> = { "node_modules/b": "Copyright B" };
  expect(packageLicenses(lock, (path) => texts[path] ?? null)).toEqual([
    { name: "@scope/a", version: "1.0.0", license: "unknown", text: null },
    { name: "b", version: "2.0.0", license: "MIT", text: "Copyright B" },
    { name: "c", version: "3.0.0", license: "ISC", text: null },
  ]);
});
