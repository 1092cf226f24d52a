/** The events of the platform, live: those that are retained, then new ones as they occur. */
import { useEffect, useState } from "react";
import { checked } from "../../api/client";
import { serverEvents } from "../documents/sse";
import { type PlatformEvent, parsePlatformEvent, withNewEvents } from "./platformEvent";

/** `connecting` lasts until the first event or heartbeat, with which the service sends the head of the response. */
export type StreamState = "connecting" | "live" | "interrupted";

interface EventFilter {
  /** Types; empty for all. */
  types: string[];
  pipelineId: string | null;
}

/** The number of events that are kept in the page. */
const LIMIT = 1_000;
/** Events come in bursts: one update covers those of this many milliseconds. */
const BURST = 100;
const RECONNECT_AFTER = 3_000;
/** No event has this id. The platform sends all events it retains, as for an id that it has purged. */
const BEFORE_ALL = "0";

export function useEvents({ types, pipelineId }: EventFilter): {
  events: PlatformEvent[];
  state: StreamState;
} {
  const [events, setEvents] = useState<PlatformEvent[]>([]);
  const [state, setState] = useState<StreamState>("connecting");
  const search = searchOf(types, pipelineId);
  useEffect(() => {
    const abort = new AbortController();
    setEvents([]);
    setState("connecting");
    followEvents(search, abort.signal, setState, (arrived) =>
      setEvents((events) => withNewEvents(events, arrived, LIMIT)),
    );
    return () => abort.abort();
  }, [search]);
  return { events, state };
}

function searchOf(types: string[], pipelineId: string | null): string {
  const search = new URLSearchParams();
  if (types.length > 0) search.set("type", types.join(","));
  if (pipelineId) search.set("pipeline", pipelineId);
  return search.toString();
}

/** Follows the events, and reconnects after the last one, until the signal. */
async function followEvents(
  search: string,
  signal: AbortSignal,
  onState: (state: StreamState) => void,
  onEvents: (events: PlatformEvent[]) => void,
): Promise<void> {
  let last = BEFORE_ALL;
  let arrived: PlatformEvent[] = [];
  const flush = () => {
    if (arrived.length > 0 && !signal.aborted) onEvents(arrived);
    arrived = [];
  };
  const timer = window.setInterval(flush, BURST);
  signal.addEventListener("abort", () => window.clearInterval(timer));
  while (!signal.aborted) {
    try {
      const response = await fetch(`/api/events?${search}`, { headers: { "Last-Event-ID": last }, signal });
      const { body } = await checked(response);
      if (!body) return;
      onState("live");
      for await (const { data } of serverEvents(body)) {
        const event = parsePlatformEvent(data);
        if (!event) continue;
        last = event.id;
        arrived.push(event);
      }
    } catch {
      // An interrupted stream: the state says so, and the next attempt continues after the last event.
    }
    if (signal.aborted) return;
    onState("interrupted");
    await new Promise((resolve) => setTimeout(resolve, RECONNECT_AFTER));
  }
}
