/** The stored drawing, and what of the file was lost, changed or found invalid. */
import { useMemo } from "react";
import { Link } from "react-router";
import { Badge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { DataTable, type TableColumn } from "../../ui/DataTable";
import { formatCount } from "../../ui/format";
import { formatName } from "./formats";
import type { PutResult } from "./useDrawingUpload";

type Row = PutResult["findings"][number] & { index: number };

const number = new Intl.NumberFormat();

/** Items of a finding that are shown as links. */
const SHOWN_ITEMS = 3;

const columnsOf = (graphId: string): TableColumn<Row>[] => [
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
  {
    id: "ids",
    header: "Items",
    value: (row) => row.ids.join(", "),
    cell: (row) => <Items graphId={graphId} ids={row.ids} />,
  },
];

/** The items of a finding, at their places on the drawing. */
function Items({ graphId, ids }: { graphId: string; ids: string[] }) {
  return (
    <span className="finding-items">
      {ids.slice(0, SHOWN_ITEMS).map((id) => (
        <Link
          key={id}
          to={`/drawings/${encodeURIComponent(graphId)}?node=${encodeURIComponent(id)}`}
          title={id}
        >
          {id}
        </Link>
      ))}
      {ids.length > SHOWN_ITEMS && (
        <span className="muted">and {number.format(ids.length - SHOWN_ITEMS)} more</span>
      )}
    </span>
  );
}

export function UploadResult({ result, onClose }: { result: PutResult; onClose: () => void }) {
  const warnings = result.findings.filter((row) => row.severity === "warning").length;
  const columns = useMemo(() => columnsOf(result.job_id), [result.job_id]);
  const rows = result.findings.map((finding, index) => ({ ...finding, index }));
  return (
    <section className="stack" aria-label="Result of the upload">
      <p>
        <Link to={`/drawings/${encodeURIComponent(result.job_id)}`}>{result.job_id}</Link> is stored as
        version {result.change_version}, read as {formatName(result.format)}: {number.format(result.nodes)}{" "}
        nodes, {number.format(result.edges)} edges. {summary(rows.length, warnings)}
      </p>
      <DataTable
        label="Findings of the import"
        columns={columns}
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

/** Counts the findings, and those that need a look. */
function summary(findings: number, warnings: number): string {
  const all = formatCount(findings, "finding");
  if (warnings === 0) return `The import has ${all}, no warning.`;
  return `The import has ${all}; ${formatCount(warnings, "warning")}: what was changed, or contradicts itself in the file.`;
}
