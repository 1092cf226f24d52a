/** Tests of events. */
import { expect, test } from "vitest";
import { eventOf } from "./useEvents";

test("an event shows the data of its CloudEvent", () => {
  const data = '{"id":"e1","time":"2026-11-26T00:00:00Z","data":{"document_id":"d"}}';
  expect(eventOf({ type: "document.ready", data, lastEventId: "7" })).toEqual({
    id: "e1",
    type: "document.ready",
    time: "2026-11-26T00:00:00Z",
    data: '{"document_id":"d"}',
  });
});
