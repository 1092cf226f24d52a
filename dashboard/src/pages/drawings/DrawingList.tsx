/** The list of drawings. */
import { useQuery } from "@tanstack/react-query";
import { Workflow } from "lucide-react";
import { useState } from "react";
import { Link } from "react-router";
import { type GraphRow, graphsQuery } from "../../features/drawing/queries";
import { UploadDrawing } from "../../features/drawing-upload/UploadDrawing";
import { DataTable, type TableColumn } from "../../ui/DataTable";
import { Empty } from "../../ui/Empty";
import { SearchField } from "../../ui/fields";
import { Page } from "../../ui/Page";
import { QueryState } from "../../ui/QueryState";
import { Time } from "../../ui/Time";

const number = new Intl.NumberFormat();

const COLUMNS: TableColumn<GraphRow>[] = [
  {
    id: "name",
    header: "Drawing",
    value: (row) => row.drawing_name ?? row.job_id,
    cell: (row) => (
      <Link to={`/drawings/${encodeURIComponent(row.job_id)}`}>{row.drawing_name ?? row.job_id}</Link>
    ),
  },
  { id: "id", header: "Id", value: (row) => row.job_id, cell: (row) => <code>{row.job_id}</code> },
  {
    id: "nodes",
    header: "Nodes",
    align: "end",
    value: (row) => row.nodes,
    cell: (row) => number.format(row.nodes),
  },
  {
    id: "edges",
    header: "Edges",
    align: "end",
    value: (row) => row.edges,
    cell: (row) => number.format(row.edges),
  },
  { id: "version", header: "Version", align: "end", value: (row) => row.change_version },
  {
    id: "updated",
    header: "Updated",
    value: (row) => row.updated_on,
    cell: (row) => <Time at={row.updated_on} />,
  },
];

export function DrawingList() {
  const graphs = useQuery(graphsQuery);
  const [filter, setFilter] = useState("");
  return (
    <Page title="Drawings" description="P&ID drawings as graphs: open one to trace, isolate and compare.">
      <UploadDrawing />
      <QueryState query={graphs} label="Drawings" />
      {graphs.data?.length === 0 && (
        <Empty icon={Workflow} title="There are no drawings yet">
          <p className="muted">Upload a drawing to start.</p>
        </Empty>
      )}
      {graphs.data && graphs.data.length > 0 && (
        <>
          <SearchField label="Find a drawing" value={filter} onChange={setFilter} />
          <DataTable
            label="Drawings"
            columns={COLUMNS}
            rows={graphs.data}
            rowKey={(row) => row.job_id}
            filter={filter}
          />
        </>
      )}
    </Page>
  );
}
