/** What an upload has stored, and what of the file was lost, changed or found invalid. */
import { Link } from "react-router";
import type { Schemas } from "../../api/client";
import { Badge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { DataTable, type TableColumn } from "../../ui/DataTable";
import { formatName } from "./formats";

type PutResult = Schemas["PutResult"];
type Row = PutResult["findings"][number] & { index: number };

const number = new Intl.NumberFormat();

const COLUMNS: TableColumn<Row>[] = [
  {
    id: "severity",
    header: "Severity",
    value: (row) => row.severity,
    cell: (row) => <Badge tone={row.severity === "warning" ? "warning" : "neutral"}>{row.severity}</Badge>,
  },
  { id: "code", header: "Code", value: (row) => row.code, cell: (row) => <code>{row.code}</code> },
  {
    id: "message",
    header: "Finding",
    value: (row) => row.message,
    cell: (row) => <span title={row.message}>{row.message}</span>,
  },
  {
    id: "count",
    header: "Count",
    align: "end",
    value: (row) => row.count,
    cell: (row) => number.format(row.count),
  },
  { id: "ids", header: "Items", value: (row) => row.ids.join(", ") },
];

export function UploadResult({ result, onClose }: { result: PutResult; onClose: () => void }) {
  const warnings = result.findings.filter((row) => row.severity === "warning").length;
  const rows = result.findings.map((finding, index) => ({ ...finding, index }));
  return (
    <section className="stack" aria-label="Result of the upload">
      <p>
        <Link to={`/drawings/${encodeURIComponent(result.job_id)}`}>{result.job_id}</Link> is stored as
        version {result.change_version}, read as {formatName(result.format)}: {number.format(result.nodes)}{" "}
        nodes, {number.format(result.edges)} edges. Findings: {number.format(rows.length)}; warnings among
        them, imported with changes or contradictory in the file: {number.format(warnings)}.
      </p>
      <DataTable
        label="Findings of the import"
        columns={COLUMNS}
        rows={rows}
        rowKey={(row) => String(row.index)}
      />
      <div>
        <Button size="small" onPress={onClose}>
          Close
        </Button>
      </div>
    </section>
  );
}
