/** The page "Audit": who changed what, newest first. */
import { useQuery } from "@tanstack/react-query";
import { ClipboardList } from "lucide-react";
import { useState } from "react";
import { Link } from "react-router";
import { type AuditEntry, auditQuery } from "../../features/operation/queries";
import { type Names, useNames } from "../../features/operation/useNames";
import { Badge } from "../../ui/Badge";
import { DataTable, type TableColumn } from "../../ui/DataTable";
import { Empty } from "../../ui/Empty";
import { SearchField } from "../../ui/fields";
import { Page } from "../../ui/Page";
import { QueryState } from "../../ui/QueryState";
import { Time } from "../../ui/Time";
import { auditResource } from "./auditResource";

export default function AuditPage() {
  const audit = useQuery(auditQuery);
  const names = useNames();
  const [filter, setFilter] = useState("");
  return (
    <Page
      title="Audit"
      description="The last 200 changes of the document platform, and requests that were refused."
    >
      <SearchField label="Find an entry" value={filter} onChange={setFilter} />
      <QueryState query={audit} label="Audit" />
      {audit.data?.length === 0 && (
        <Empty icon={ClipboardList} title="No entries">
          <p>Changes of pipelines, documents, keys and webhooks appear here.</p>
        </Empty>
      )}
      {audit.data && audit.data.length > 0 && (
        <DataTable
          label="Audit"
          columns={columns(names)}
          rows={audit.data}
          rowKey={(entry) => entry.id}
          filter={filter}
        />
      )}
    </Page>
  );
}

function columns(names: Names): TableColumn<AuditEntry>[] {
  return [
    { id: "time", header: "Time", value: (entry) => entry.time, cell: (entry) => <Time at={entry.time} /> },
    { id: "actor", header: "Actor", value: (entry) => entry.actor },
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
      value: (entry) => `${auditResource(entry.resource, names).label} ${entry.resource}`,
      cell: (entry) => <Resource entry={entry} names={names} />,
    },
    { id: "source", header: "Address", value: (entry) => entry.source },
  ];
}

function Resource({ entry, names }: { entry: AuditEntry; names: Names }) {
  const { label, path } = auditResource(entry.resource, names);
  if (path === null) return <code>{label}</code>;
  return (
    <Link to={path} title={entry.resource}>
      {label}
    </Link>
  );
}
