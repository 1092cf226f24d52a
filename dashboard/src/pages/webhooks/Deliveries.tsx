/** The deliveries of a webhook, with their states and times of retries. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { useSearchParams } from "react-router";
import { eventType } from "../../features/operation/eventTypes";
import { Badge, type Tone } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { DataTable, type TableColumn } from "../../ui/DataTable";
import { Select } from "../../ui/fields";
import { QueryState } from "../../ui/QueryState";
import { Time } from "../../ui/Time";
import { type Delivery, type DeliveryState, deliveriesQuery } from "./queries";

const STATES: { state: DeliveryState; label: string; tone: Tone }[] = [
  { state: "waiting", label: "Waiting", tone: "close" },
  { state: "delivered", label: "Delivered", tone: "success" },
  { state: "failed", label: "Failed", tone: "danger" },
  { state: "dropped", label: "Dropped", tone: "warning" },
];

export function Deliveries({ webhookId }: { webhookId: string }) {
  const [search, setSearch] = useSearchParams();
  const state = STATES.find((row) => row.state === search.get("state"))?.state ?? null;
  const deliveries = useInfiniteQuery(deliveriesQuery(webhookId, state));
  const rows = deliveries.data?.pages.flatMap((page) => page.data) ?? [];
  return (
    <section className="stack" aria-label="Deliveries">
      <div className="row">
        <h2 className="grow">Deliveries</h2>
        <Select
          label="State of the deliveries"
          isLabelHidden
          choices={[
            { id: "all", label: "All states" },
            ...STATES.map((row) => ({ id: row.state, label: row.label })),
          ]}
          value={state ?? "all"}
          onChange={(id) => setSearch(id === "all" ? {} : { state: id }, { replace: true })}
        />
      </div>
      <QueryState query={deliveries} label="Deliveries" />
      {deliveries.data && rows.length === 0 && (
        <p className="muted">There are none. They appear with the next event that the webhook receives.</p>
      )}
      {rows.length > 0 && (
        <DataTable
          label="Deliveries"
          columns={COLUMNS}
          rows={rows}
          rowKey={(delivery) => delivery.event_id}
        />
      )}
      {deliveries.hasNextPage && (
        <div>
          <Button onPress={() => deliveries.fetchNextPage()} isDisabled={deliveries.isFetchingNextPage}>
            Load older deliveries
          </Button>
        </div>
      )}
    </section>
  );
}

const COLUMNS: TableColumn<Delivery>[] = [
  { id: "type", header: "Event", value: ({ type }) => eventType(type).label },
  {
    id: "state",
    header: "State",
    value: ({ state }) => state,
    cell: ({ state }) => {
      const row = STATES.find((row) => row.state === state);
      return <Badge tone={row?.tone ?? "neutral"}>{row?.label ?? state}</Badge>;
    },
  },
  { id: "attempts", header: "Attempts", align: "end", value: ({ attempts }) => attempts },
  {
    id: "last",
    header: "Last attempt",
    value: (delivery) => delivery.last_attempt_at,
    cell: ({ last_attempt_at: time }) => time && <Time at={time} />,
  },
  {
    id: "next",
    header: "Next attempt",
    value: (delivery) => delivery.next_attempt_at,
    cell: ({ next_attempt_at: time }) => time && <Time at={time} />,
  },
  {
    id: "result",
    header: "Result",
    value: ({ last_status, error }) => [last_status, error].filter((part) => part !== null).join(" "),
  },
];
