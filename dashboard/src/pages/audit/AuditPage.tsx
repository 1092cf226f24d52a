/** The page "Audit": who changed what, newest first. */
import { useQuery } from "@tanstack/react-query";
import { ClipboardList } from "lucide-react";
import { useState } from "react";
import { Link, useSearchParams } from "react-router";
import { type AuditEntry, auditQuery } from "../../features/operation/queries";
import { useActors } from "../../features/operation/useActors";
import { type Names, useNames } from "../../features/operation/useNames";
import { Badge } from "../../ui/Badge";
import { DataTable, type TableColumn } from "../../ui/DataTable";
import { Empty } from "../../ui/Empty";
import { SearchField, Select } from "../../ui/fields";
import { formatNumber } from "../../ui/format";
import { Page } from "../../ui/Page";
import { QueryState } from "../../ui/QueryState";
import { Time } from "../../ui/Time";
import { auditResource } from "./auditResource";
import { PERIODS, periodOf } from "./periods";

/** The actor of entries of a platform that does not ask who calls it. */
const UNKNOWN_ACTOR = "anyone";

export default function AuditPage() {
  const [search, setSearch] = useSearchParams();
  const period = periodOf(search.get("period"));
  const audit = useQuery(auditQuery(period.range(new Date())));
  const names = useNames();
  const actorOf = useActors();
  const [filter, setFilter] = useState("");
  const entries = audit.data?.data;
  return (
    <Page
      title="Audit"
      description="Changes of the document platform, and requests that were refused, newest first."
    >
      <div className="row">
        <SearchField label="Find an entry" value={filter} onChange={setFilter} />
        <Select
          label="Period"
          isLabelHidden
          choices={PERIODS}
          value={period.id}
          onChange={(period) => setSearch({ period }, { replace: true })}
        />
        {audit.data?.next_cursor && (
          <span className="muted">The newest {formatNumber(audit.data.data.length)} entries</span>
        )}
      </div>
      {entries?.some((entry) => entry.actor === UNKNOWN_ACTOR) && (
        <p className="muted">
          Entries of <strong>{UNKNOWN_ACTOR}</strong> come from requests on this machine without a token. With
          a master key in PIDQ_APP_MASTER_KEY, the document platform requires one.
        </p>
      )}
      <QueryState query={audit} label="Audit" />
      {entries?.length === 0 && (
        <Empty icon={ClipboardList} title="No entries">
          <p>Changes of pipelines, documents, keys and webhooks appear here.</p>
        </Empty>
      )}
      {entries && entries.length > 0 && (
        <DataTable
          label="Audit"
          columns={columns(names, actorOf)}
          rows={entries}
          rowKey={(entry) => entry.id}
          filter={filter}
        />
      )}
    </Page>
  );
}

function columns(names: Names, actorOf: (actor: string) => string): TableColumn<AuditEntry>[] {
  return [
    { id: "time", header: "Time", value: (entry) => entry.time, cell: (entry) => <Time at={entry.time} /> },
    {
      id: "actor",
      header: "Actor",
      value: (entry) => actorOf(entry.actor),
      cell: (entry) => <span title={entry.actor}>{actorOf(entry.actor)}</span>,
    },
    { id: "action", header: "Action", value: (entry) => entry.action },
    {
      id: "result",
      header: "Result",
      value: (entry) => entry.result,
      cell: (entry) => <Badge tone={entry.result === "done" ? "success" : "warning"}>{entry.result}</Badge>,
    },
    {
      id: "resource",
      header: "Resource",
      value: (entry) => `${auditResource(entry.resource, names, actorOf).label} ${entry.resource}`,
      cell: (entry) => <Resource entry={entry} names={names} actorOf={actorOf} />,
    },
    { id: "source", header: "Address", value: (entry) => entry.source },
  ];
}

interface ResourceProps {
  entry: AuditEntry;
  names: Names;
  actorOf: (actor: string) => string;
}

function Resource({ entry, names, actorOf }: ResourceProps) {
  const { label, path } = auditResource(entry.resource, names, actorOf);
  if (path === null) return <code>{label}</code>;
  return (
    <Link to={path} title={entry.resource}>
      {label}
    </Link>
  );
}
