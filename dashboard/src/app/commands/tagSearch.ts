/** Search of tags in all drawings, which the service does. */
import { checked } from "../../api/client";

export interface FoundTag {
  graph: string;
  node: string;
  tag: string;
  type: string;
}

/** A line of the response: the result on one drawing, or why there is none. */
interface BatchRow {
  job_id: string;
  result?: { id: string; tag: string; type: string | null }[];
  error?: unknown;
}

export interface TagSearch {
  tags: FoundTag[];
  /** The drawings that could not be searched. */
  failed: string[];
}

/** The number of tags of one drawing, and of all. */
const LIMIT = { drawing: 8, all: 24 };

/** Tags are found whether they are written with blanks and hyphens or not. */
const QUERY = `.pid_graph.nodes
  | filter(contains(replace(replace(lower(string(coalesce(.tag, ""))), "-", ""), " ", ""), $text))
  | limit(${LIMIT.drawing})
  | map({id: .id, tag: .tag, type: coalesce(.node_classification, .node_type)})`;

/** The tags that contain a text. The service sends one line per drawing; reading ends when there are enough. */
export async function searchTags(text: string, signal: AbortSignal): Promise<TagSearch> {
  const response = await fetch("/graph", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({
      graphs: { prefix: "" },
      query: QUERY,
      params: { text: text.toLowerCase().replace(/[\s-]/g, "") },
    }),
    signal,
  });
  const { body } = await checked(response);
  return body === null ? { tags: [], failed: [] } : tagsIn(linesOf(body));
}

export async function tagsIn(lines: AsyncIterable<string>): Promise<TagSearch> {
  const found: TagSearch = { tags: [], failed: [] };
  for await (const line of lines) {
    const row = JSON.parse(line) as BatchRow;
    if (row.error !== undefined) found.failed.push(row.job_id);
    found.tags.push(...tagsOf(row));
    if (found.tags.length >= LIMIT.all) break;
  }
  return { tags: found.tags.slice(0, LIMIT.all), failed: found.failed };
}

function tagsOf(row: BatchRow): FoundTag[] {
  return (row.result ?? []).map(({ id, tag, type }) => ({
    graph: row.job_id,
    node: id,
    tag,
    type: type ?? "item",
  }));
}

/** The lines of a stream; leaving the loop cancels it. */
export async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
    .getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      const lines = (rest + (value ?? "")).split("\n");
      rest = done ? "" : (lines.pop() ?? "");
      yield* lines.filter((line) => line.trim() !== "");
      if (done) return;
    }
  } finally {
    await reader.cancel();
  }
}
