/** Table of events. */
import { Link } from "react-router";
import { eventType } from "../../features/operation/eventTypes";
import { eventPath, eventSubject, type PlatformEvent } from "../../features/operation/platformEvent";
import { type Names, useNames } from "../../features/operation/useNames";
import { Badge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { DataTable, type TableColumn } from "../../ui/DataTable";
import { Time } from "../../ui/Time";

interface EventTableProps {
  events: PlatformEvent[];
  onSelect: (event: PlatformEvent) => void;
}

export function EventTable({ events, onSelect }: EventTableProps) {
  const names = useNames();
  return (
    <DataTable
      label="Events"
      columns={columns(names, onSelect)}
      rows={events}
      rowKey={(event) => event.id}
      maxHeight="calc(100dvh - 250px)"
    />
  );
}

function columns(names: Names, onSelect: (event: PlatformEvent) => void): TableColumn<PlatformEvent>[] {
  return [
    {
      id: "time",
      header: "Time",
      value: (event) => event.time,
      cell: (event) => <Time at={event.time} />,
    },
    {
      id: "type",
      header: "Event",
      value: (event) => eventType(event.type).label,
      cell: ({ type }) => <Badge tone={eventType(type).tone}>{eventType(type).label}</Badge>,
    },
    {
      id: "subject",
      header: "About",
      value: (event) => eventSubject(event, names),
      cell: (event) => <Subject event={event} name={eventSubject(event, names)} />,
    },
    { id: "classification", header: "Classification", value: (event) => event.data.classification },
    { id: "status", header: "State", value: (event) => event.data.status ?? event.data.reason },
    {
      id: "details",
      header: "Details",
      isUnsortable: true,
      align: "end",
      value: () => null,
      cell: (event) => (
        <Button size="small" kind="quiet" onPress={() => onSelect(event)}>
          Details<span className="visually-hidden"> of {eventType(event.type).label}</span>
        </Button>
      ),
    },
  ];
}

function Subject({ event, name }: { event: PlatformEvent; name: string }) {
  const path = eventPath(event);
  return path ? <Link to={path}>{name}</Link> : name;
}
