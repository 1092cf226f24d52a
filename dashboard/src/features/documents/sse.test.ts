/** Tests of `sse.ts`. */
import { expect, test } from "vitest";
import { parseEvent, serverEvents } from "./sse";

test("an event has a name and data of several lines", () => {
  expect(parseEvent("event: delta\ndata: a\ndata: b")).toEqual({ event: "delta", data: "a\nb" });
  expect(parseEvent(": comment")).toBeNull();
});

test("events are put together across the parts of a stream, and of a character", async () => {
  const bytes = new TextEncoder().encode("event: a\ndata: m³\n\n: ping\n\nevent: b\r\ndata: 2\r\n\r\n");
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
      controller.close();
    },
  });
  const events = [];
  for await (const event of serverEvents(stream)) events.push(event);
  expect(events).toEqual([
    { event: "a", data: "m³" },
    { event: "b", data: "2" },
  ]);
});
