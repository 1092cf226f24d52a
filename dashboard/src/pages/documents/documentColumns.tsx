/** The columns of the table of documents. */
import { Link } from "react-router";
import { documentPagePath } from "../../features/documents/links";
import type { PlatformDocument } from "../../features/documents/queries";
import { StatusBadge } from "../../features/documents/StatusBadge";
import { STATUSES } from "../../features/documents/status";
import type { TableColumn } from "../../ui/DataTable";
import { formatBytes, formatNumber } from "../../ui/format";
import { Time } from "../../ui/Time";
import { DocumentMenu } from "./DocumentMenu";
import type { DocumentAction } from "./documentAction";
import type { useDocumentActions } from "./useDocumentActions";

interface ColumnContext {
  pipelineId: string;
  actions: ReturnType<typeof useDocumentActions>;
  selected: ReadonlySet<string>;
  onSelect: (id: string, isSelected: boolean) => void;
  onAction: (action: DocumentAction) => void;
}

export function documentColumns(context: ColumnContext): TableColumn<PlatformDocument>[] {
  return [
    {
      id: "selected",
      header: "",
      isUnsortable: true,
      value: () => null,
      cell: (row) => (
        <input
          type="checkbox"
          className="row-checkbox"
          aria-label={`Select ${row.filename}`}
          checked={context.selected.has(row.id)}
          onChange={(event) => context.onSelect(row.id, event.target.checked)}
        />
      ),
    },
    {
      id: "filename",
      header: "Name",
      value: (row) => row.filename,
      cell: (row) => (
        <Link className="document-name" to={documentPagePath(context.pipelineId, row.id)}>
          {row.filename}
        </Link>
      ),
    },
    {
      id: "status",
      header: "Status",
      value: (row) => STATUSES[row.status].label,
      cell: (row) => <DocumentState document={row} />,
    },
    { id: "classification", header: "Classification", value: (row) => row.classification },
    numberColumn("size", "Size", (row) => row.size, formatBytes),
    numberColumn("pages", "Pages", (row) => row.page_count, formatNumber),
    numberColumn("chunks", "Chunks", (row) => row.chunk_count, formatNumber),
    {
      id: "updated",
      header: "Updated",
      value: (row) => row.updated_at,
      cell: (row) => <Time at={row.updated_at} />,
    },
    {
      id: "actions",
      header: "",
      isUnsortable: true,
      value: () => null,
      align: "end",
      cell: (row) => <DocumentMenu document={row} actions={context.actions} onAction={context.onAction} />,
    },
  ];
}

function numberColumn(
  id: string,
  header: string,
  value: (row: PlatformDocument) => number | null,
  format: (value: number) => string,
): TableColumn<PlatformDocument> {
  return {
    id,
    header,
    align: "end",
    value,
    cell: (row) => {
      const number = value(row);
      return number === null ? "" : format(number);
    },
  };
}

function DocumentState({ document }: { document: PlatformDocument }) {
  return (
    <div className="document-state">
      <StatusBadge document={document} />
      {document.error && document.status !== "ready" && (
        <small className="muted">{document.error.message}</small>
      )}
      {document.searchable && document.status === "failed" && (
        <small className="muted">The previous revision is still searchable.</small>
      )}
    </div>
  );
}
