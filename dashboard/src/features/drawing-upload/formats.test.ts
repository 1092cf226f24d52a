import { expect, test } from "vitest";
import { contentTypeOf, formatName } from "./formats";

test("the content type of a file follows from the ending of its name", () => {
  expect(contentTypeOf("unit.7.xml")).toBe("application/xml");
  expect(contentTypeOf("UNIT.XML")).toBe("application/xml");
  expect(contentTypeOf("unit.graphml")).toBe("application/graphml+xml");
  expect(contentTypeOf("unit.json")).toBe("application/json");
  expect(contentTypeOf("unit.dwg")).toBeNull();
  expect(contentTypeOf("unit")).toBeNull();
  expect(contentTypeOf("xml")).toBeNull();
});

test("a format without a name of its own is shown as the service names it", () => {
  expect(formatName("dexpi")).toBe("DEXPI 2.0 XML");
  expect(formatName("ndjson")).toBe("ndjson");
});
