/** The events of the document platform, by server-sent events. */
import { useEffect, useState } from "react";

export interface PlatformEvent {
  id: string;
  type: string;
  time: string;
  /** The data of the event, as JSON. */
  data: string;
}

const TYPES = [
  "pipeline.created",
  "pipeline.updated",
  "pipeline.deleted",
  "pipeline.reindex.started",
  "pipeline.reindex.completed",
  "document.queued",
  "document.stage",
  "document.ready",
  "document.failed",
  "document.cancelled",
  "document.deleted",
  "document.reclassified",
  "query.completed",
  "query.failed",
  "webhook.disabled",
  "license.changed",
];

/** The number of events that are kept. */
const KEPT = 500;

export function useEvents(isPaused: boolean): { events: PlatformEvent[]; isLive: boolean } {
  const [events, setEvents] = useState<PlatformEvent[]>([]);
  const [isLive, setLive] = useState(false);
  useEffect(() => {
    if (isPaused) return;
    const source = new EventSource("/api/events");
    const add = (message: MessageEvent<string>) => {
      const event = eventOf(message);
      setEvents((before) => [event, ...before.filter((other) => other.id !== event.id)].slice(0, KEPT));
    };
    for (const type of TYPES) source.addEventListener(type, add);
    source.onopen = () => setLive(true);
    source.onerror = () => setLive(false);
    return () => {
      source.close();
      setLive(false);
    };
  }, [isPaused]);
  return { events, isLive };
}

/** An event from a message, whose data is a CloudEvent. */
export function eventOf({
  type,
  data,
  lastEventId,
}: {
  type: string;
  data: string;
  lastEventId: string;
}): PlatformEvent {
  const fields = JSON.parse(data) as { id?: string; time?: string; data?: unknown };
  return {
    id: fields.id ?? lastEventId,
    type,
    time: fields.time ?? new Date().toISOString(),
    data: JSON.stringify(fields.data ?? fields),
  };
}
