/** Events of the platform: CloudEvents with ids and states, without content. */
import { documentPagePath, pipelinePath } from "../documents/links";
import type { Names } from "./useNames";

export interface PlatformEvent {
  id: string;
  type: string;
  time: string;
  subject?: string;
  data: EventData;
}

interface EventData {
  pipeline_id?: string;
  document_id?: string;
  webhook_id?: string;
  classification?: string;
  status?: string;
  filename?: string;
  reason?: string;
  [field: string]: unknown;
}

/** Parses the data of a server-sent event; null if it is no event of the platform, such as a problem. */
export function parsePlatformEvent(text: string): PlatformEvent | null {
  let event: unknown;
  try {
    event = JSON.parse(text);
  } catch {
    return null;
  }
  return isPlatformEvent(event) ? event : null;
}

function isPlatformEvent(event: unknown): event is PlatformEvent {
  if (typeof event !== "object" || event === null) return false;
  const { id, type, time, data } = event as Record<string, unknown>;
  const isNamed = typeof id === "string" && typeof type === "string" && typeof time === "string";
  return isNamed && typeof data === "object" && data !== null;
}

/** The page about what an event is about; null if that no longer exists or has no page. */
export function eventPath({ type, data }: PlatformEvent): string | null {
  if (type.startsWith("license.")) return "/license";
  if (type.startsWith("webhook.")) return data.webhook_id ? `/webhooks/${data.webhook_id}` : "/webhooks";
  if (!data.pipeline_id || type === "pipeline.deleted") return null;
  if (type.startsWith("query.")) return `/ask/${encodeURIComponent(data.pipeline_id)}`;
  if (data.document_id && type !== "document.deleted")
    return documentPagePath(data.pipeline_id, data.document_id);
  return pipelinePath(data.pipeline_id);
}

/** Names what an event is about: `P-101 manual.pdf in Unit 100`. */
export function eventSubject({ type, data }: PlatformEvent, names: Names): string {
  if (type.startsWith("license.")) return "License";
  if (type.startsWith("webhook.")) return "Webhook";
  const pipeline = data.pipeline_id ? names.pipeline(data.pipeline_id) : "";
  if (!data.document_id) return pipeline;
  return `${data.filename ?? names.document(data.document_id)} in ${pipeline}`;
}

/** The newest events first, without duplicates, at most `limit`. */
export function withNewEvents(
  events: PlatformEvent[],
  arrived: PlatformEvent[],
  limit: number,
): PlatformEvent[] {
  const known = new Set(events.map((event) => event.id));
  const fresh = arrived.filter((event) => !known.has(event.id) && known.add(event.id));
  return [...fresh.reverse(), ...events].slice(0, limit);
}
