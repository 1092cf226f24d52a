/** Refreshes what a page shows of a pipeline when the platform reports a change. */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { documentsKey } from "./queries";

const TYPES = [
  "document.queued",
  "document.stage",
  "document.ready",
  "document.failed",
  "document.cancelled",
  "document.deleted",
  "document.reclassified",
  "pipeline.updated",
  "pipeline.deleted",
  "pipeline.reindex.started",
  "pipeline.reindex.completed",
];

/** Events come in bursts: one refresh covers those of this many milliseconds. */
const BURST = 300;

/** Refresh of documents in processing, in milliseconds, with and without events. */
export const PROCESSING_REFRESH = { live: 10_000, polled: 1_500 };

/**
 * Returns whether changes arrive as events; if not, the page has to refresh by itself. `EventSource` reconnects with the id
 * of the last event, so that no event is missed.
 */
export function usePipelineEvents(pipelineId: string): boolean {
  const queries = useQueryClient();
  const [isLive, setLive] = useState(false);
  useEffect(() => {
    const search = new URLSearchParams({ pipeline: pipelineId, type: TYPES.join(",") });
    const source = new EventSource(`/api/events?${search}`);
    let timer: number | undefined;
    const refresh = () => {
      timer ??= window.setTimeout(() => {
        timer = undefined;
        queries.invalidateQueries({ queryKey: documentsKey(pipelineId) });
        queries.invalidateQueries({ queryKey: ["pipelines"] });
        queries.invalidateQueries({ queryKey: ["operations"] });
      }, BURST);
    };
    for (const type of TYPES) source.addEventListener(type, refresh);
    source.onopen = () => setLive(true);
    source.onerror = () => setLive(false);
    return () => {
      source.close();
      window.clearTimeout(timer);
    };
  }, [pipelineId, queries]);
  return isLive;
}
