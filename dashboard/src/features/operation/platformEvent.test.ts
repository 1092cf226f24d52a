/** Tests of events. */
import { expect, test } from "vitest";
import {
  eventPath,
  eventSubject,
  type PlatformEvent,
  parsePlatformEvent,
  withNewEvents,
} from "./platformEvent";

const event = (type: string, data: PlatformEvent["data"], id = "1"): PlatformEvent => ({
  id,
  type,
  time: "2026-01-01T00:00:00Z",
  data,
});
const document = { pipeline_id: "p", document_id: "abcdef-123456" };

test.each([
  ["document.ready", document, "/documents/p/abcdef-123456"],
  ["document.deleted", document, "/documents/p"],
  ["pipeline.updated", { pipeline_id: "p" }, "/documents/p"],
  ["pipeline.deleted", { pipeline_id: "p" }, null],
  ["query.completed", { pipeline_id: "p", query_id: "q" }, "/ask/p"],
  ["webhook.disabled", { webhook_id: "w" }, "/webhooks/w"],
  ["license.changed", {}, "/license"],
])("%s leads to its page", (type, data, path) => expect(eventPath(event(type, data))).toBe(path));

test("a document is named by the event if it has the name", () => {
  const names = { pipeline: () => "Unit 100", document: () => "known.pdf" };
  expect(eventSubject(event("document.ready", document), names)).toBe("known.pdf in Unit 100");
  const named = { ...document, filename: "manual.pdf" };
  expect(eventSubject(event("document.ready", named), names)).toBe("manual.pdf in Unit 100");
});

test("a problem in the stream is no event", () => {
  expect(parsePlatformEvent('{"code":"unauthorized","status":401}')).toBeNull();
  expect(parsePlatformEvent("{")).toBeNull();
  expect(parsePlatformEvent(JSON.stringify(event("document.ready", document)))).toMatchObject({ id: "1" });
});

test("an event that arrives twice is listed once, and the newest are kept", () => {
  const events = ["1", "2", "3"].map((id) => event("document.ready", {}, id));
  const listed = withNewEvents([], events, 10);
  expect(listed.map(({ id }) => id)).toEqual(["3", "2", "1"]);
  const more = withNewEvents(listed, [event("x", {}, "3"), event("x", {}, "4"), event("x", {}, "4")], 3);
  expect(more.map(({ id }) => id)).toEqual(["4", "3", "2"]);
});
