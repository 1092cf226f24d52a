/** The page "Audit": who changed what, newest first. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type AuditEntry, auditQuery } from "../../features/operation/queries";
import { Badge } from "../../ui/Badge";
import { DataTable, type TableColumn } from "../../ui/DataTable";
import { SearchField } from "../../ui/fields";
import { Page } from "../../ui/Page";
import { QueryState } from "../../ui/QueryState";
import { Time } from "../../ui/Time";

const COLUMNS: TableColumn<AuditEntry>[] = [
  { id: "time", header: "Time", value: (entry) => entry.time, cell: (entry) => <Time at={entry.time} /> },
  { id: "actor", header: "Actor", value: (entry) => entry.actor },
  { id: "action", header: "Action", value: (entry) => entry.action },
  {
    id: "result",
    header: "Result",
    value: (entry) => entry.result,
    cell: (entry) => <Badge tone={entry.result === "done" ? "success" : "warning"}>{entry.result}</Badge>,
  },
  { id: "source", header: "Address", value: (entry) => entry.source },
  { id: "resource", header: "Resource", value: (entry) => entry.resource },
];

export default function AuditPage() {
  const audit = useQuery(auditQuery);
  const [filter, setFilter] = useState("");
  return (
    <Page
      title="Audit"
      description="The last 200 changes of the document platform, and requests that were refused."
    >
      <SearchField label="Find an entry" value={filter} onChange={setFilter} />
      <QueryState query={audit} label="Audit" />
      {audit.data?.length === 0 && <p className="muted">Nothing was changed yet.</p>}
      {audit.data && audit.data.length > 0 && (
        <DataTable
          label="Audit"
          columns={COLUMNS}
          rows={audit.data}
          rowKey={(entry) => entry.id}
          filter={filter}
        />
      )}
    </Page>
  );
}
