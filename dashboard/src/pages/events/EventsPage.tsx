/** The page "Events": what happens in the document platform, as it happens. */
import { useQuery } from "@tanstack/react-query";
import { Pause, Play, ScrollText } from "lucide-react";
import { useState } from "react";
import { useSearchParams } from "react-router";
import { pipelinesQuery } from "../../features/documents/queries";
import { EVENT_TYPES } from "../../features/operation/eventTypes";
import type { PlatformEvent } from "../../features/operation/platformEvent";
import { StreamBadge } from "../../features/operation/StreamBadge";
import { useEvents } from "../../features/operation/useEvents";
import { Button } from "../../ui/Button";
import { Empty } from "../../ui/Empty";
import { Select } from "../../ui/fields";
import { Page } from "../../ui/Page";
import { EventDialog } from "./EventDialog";
import { EventTable } from "./EventTable";
import "./events.css";

const ALL = "all";
/** The choice of what needs a person. */
const FAILURES = "failures";
const FAILURE_TYPES = EVENT_TYPES.filter((row) => row.tone === "danger").map((row) => row.type);

export default function EventsPage() {
  const [search, setSearch] = useSearchParams();
  const type = search.get("type") ?? ALL;
  const pipelineId = search.get("pipeline");
  const { events, state } = useEvents({ types: typesOf(type), pipelineId });
  const [held, setHeld] = useState<PlatformEvent[] | null>(null);
  const set = (name: string, value: string | null) => {
    const next = new URLSearchParams(search);
    if (value === null || value === ALL) next.delete(name);
    else next.set(name, value);
    setHeld(null);
    setSearch(next, { replace: true });
  };
  const shown = held ?? events;
  const newCount = held === null ? 0 : countAfter(events, held);
  return (
    <Page
      title="Events"
      description="What happens in the document platform, newest first."
      actions={
        <>
          <StreamBadge state={state} />
          <Button onPress={() => setHeld(held === null ? events : null)}>
            {held === null ? <Pause size={15} aria-hidden /> : <Play size={15} aria-hidden />}
            {held === null ? "Pause" : "Continue"}
            {newCount > 0 && ` (${newCount} new)`}
          </Button>
        </>
      }
    >
      <Filters
        type={type}
        pipelineId={pipelineId}
        onType={(type) => set("type", type)}
        onPipeline={(id) => set("pipeline", id)}
      />
      {shown.length > 0 && <EventTable events={shown} onSelect={(event) => set("event", event.id)} />}
      {shown.length === 0 && state !== "interrupted" && (
        <Empty icon={ScrollText} title="No events">
          <p>They appear here when documents are uploaded, questions are asked or pipelines change.</p>
        </Empty>
      )}
      <EventDialog
        event={events.find((event) => event.id === search.get("event")) ?? null}
        onClose={() => set("event", null)}
      />
    </Page>
  );
}

interface FiltersProps {
  type: string;
  pipelineId: string | null;
  onType: (type: string) => void;
  onPipeline: (id: string) => void;
}

function Filters({ type, pipelineId, onType, onPipeline }: FiltersProps) {
  const pipelines = useQuery(pipelinesQuery);
  const types = EVENT_TYPES.map((row) => ({ id: row.type, label: row.label }));
  const names = pipelines.data?.map(({ id, name }) => ({ id, label: name })) ?? [];
  return (
    <div className="event-filters">
      <Select
        label="Type"
        choices={[{ id: ALL, label: "All types" }, { id: FAILURES, label: "Failures" }, ...types]}
        value={type}
        onChange={onType}
      />
      <Select
        label="Pipeline"
        choices={[{ id: ALL, label: "All pipelines" }, ...names]}
        value={pipelineId ?? ALL}
        onChange={onPipeline}
      />
    </div>
  );
}

function typesOf(type: string): string[] {
  if (type === ALL) return [];
  return type === FAILURES ? FAILURE_TYPES : [type];
}

/** The number of events that arrived after the newest of those that are held. */
function countAfter(events: PlatformEvent[], held: PlatformEvent[]): number {
  const index = events.findIndex((event) => event.id === held[0]?.id);
  return index === -1 ? events.length : index;
}
