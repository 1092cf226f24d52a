/** The page "Events": what happens on the document platform, as it happens. */
import { Pause, Play, ScrollText } from "lucide-react";
import { useState } from "react";
import { Time } from "../../features/operation/Time";
import { Badge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { DataTable, type TableColumn } from "../../ui/DataTable";
import { Empty } from "../../ui/Empty";
import { SearchField } from "../../ui/fields";
import { Page } from "../../ui/Page";
import { type PlatformEvent, useEvents } from "./useEvents";

const COLUMNS: TableColumn<PlatformEvent>[] = [
  { id: "time", header: "Time", value: (event) => event.time, cell: (event) => <Time at={event.time} /> },
  {
    id: "type",
    header: "Type",
    value: (event) => event.type,
    cell: (event) => <Badge tone={event.type.endsWith("failed") ? "danger" : "neutral"}>{event.type}</Badge>,
  },
  {
    id: "data",
    header: "Data",
    value: (event) => event.data,
    cell: (event) => <code>{event.data}</code>,
  },
];

export default function EventsPage() {
  const [isPaused, setPaused] = useState(false);
  const [filter, setFilter] = useState("");
  const { events, isLive } = useEvents(isPaused);
  return (
    <Page
      title="Events"
      description="What happens on the document platform, newest first, since this page was opened."
      actions={
        <>
          <Badge tone={isLive ? "success" : "warning"}>
            {isPaused ? "paused" : isLive ? "live" : "connecting"}
          </Badge>
          <Button onPress={() => setPaused(!isPaused)}>
            {isPaused ? <Play size={15} aria-hidden /> : <Pause size={15} aria-hidden />}
            {isPaused ? "Continue" : "Pause"}
          </Button>
        </>
      }
    >
      <SearchField label="Find an event" value={filter} onChange={setFilter} />
      {events.length === 0 ? (
        <Empty icon={ScrollText} title="No events yet">
          <p>Upload a document or ask a question: its events appear here.</p>
        </Empty>
      ) : (
        <DataTable
          label="Events"
          columns={COLUMNS}
          rows={events}
          rowKey={(event) => event.id}
          filter={filter}
        />
      )}
    </Page>
  );
}
