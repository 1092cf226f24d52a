/** Server-sent events in the body of a response to a POST, which `EventSource` cannot send. */

export interface ServerEvent {
  event: string;
  data: string;
}

/** The events of a stream, as they arrive. */
export async function* serverEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const reader = body
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
    .getReader();
  let buffer = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      buffer += value ?? "";
      const blocks = buffer.split(/\r?\n\r?\n/);
      buffer = blocks.pop() ?? "";
      for (const block of blocks) {
        const event = parseEvent(block);
        if (event) yield event;
      }
      if (done) return;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** Parses one event; null for comments, which keep the connection open. */
export function parseEvent(block: string): ServerEvent | null {
  let event = "message";
  const data: string[] = [];
  for (const line of block.split(/\r?\n/)) {
    const [, field, value] = line.match(/^([^:]*):? ?(.*)$/) ?? [];
    if (field === "event") event = value ?? "";
    if (field === "data") data.push(value ?? "");
  }
  return data.length > 0 ? { event, data: data.join("\n") } : null;
}
