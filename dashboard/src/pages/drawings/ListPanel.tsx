/** Lists of a drawing, one row per list: the query, and the columns of its result. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";
import { gapText } from "../../features/drawing/loop";
import { classOf, type DrawingGraph } from "../../features/drawing/model";
import { type DrawingScope, graphsQuery, resultQuery } from "../../features/drawing/queries";
import { DataTable } from "../../ui/DataTable";
import { SearchField } from "../../ui/fields";
import { Loading } from "../../ui/Loading";
import { ProblemMessage } from "../../ui/ProblemMessage";
import { SaveCsvButton } from "../../ui/SaveCsvButton";
import { sheetNamed } from "./usePartners";

type Row = Record<string, unknown>;

interface List {
  id: string;
  label: string;
  query: string;
  columns: [field: string, header: string, text?: (value: unknown) => string][];
  /** The item of the drawing that a row is about. */
  item: (row: Row) => unknown;
  /** Rows with a lower rank come first. */
  rank?: (row: Row) => number;
}

/** The most severe findings first; unknown severities at the end. */
const SEVERITIES = ["info", "warning", "error"];

const className = (name: unknown) => (typeof name === "string" ? classOf({ node_classification: name }) : "");
const words = (value: unknown) => cellText(value).replaceAll("_", " ");

/** Abbreviations of fail actions in drawings. */
const FAIL_LABELS: Record<string, string> = { open: "FO", closed: "FC", last: "FL", locked: "FL" };

export const LISTS: List[] = [
  {
    id: "lines",
    label: "Lines",
    query: "lineList()",
    columns: [
      ["line", "Line"],
      ["nominal_diameter", "DN"],
      ["from", "From"],
      ["to", "To"],
    ],
    item: (row) => row.line,
  },
  {
    id: "equipment",
    label: "Equipment",
    query: "equipmentList() | map(merge(., {service: node(.id).service}))",
    columns: [
      ["tag", "Tag"],
      ["service", "Service"],
      ["class", "Class", className],
      ["nozzles", "Nozzles"],
      ["lines", "Lines"],
    ],
    item: (row) => row.id,
  },
  {
    id: "valves",
    label: "Valves",
    query: "valveList()",
    columns: [
      ["tag", "Tag"],
      ["class", "Class", className],
      ["size", "DN"],
      ["normal_position", "Position", words],
      ["fail_action", "Fails", words],
      ["line", "Line"],
    ],
    item: (row) => row.id,
  },
  {
    id: "instruments",
    label: "Instruments",
    query: "instrumentIndex()",
    columns: [
      ["tag", "Tag"],
      ["variable", "Variable"],
      ["loop", "Loop"],
      ["attached_to", "Attached to"],
      ["line", "Line"],
    ],
    item: (row) => row.id,
  },
  {
    id: "loops",
    label: "Loops",
    query: `loops() | map({
      loop: .loop, id: .node.id, kind: .kind, fail_action: .fail_action, gap: .gap,
      functions: .functions | map(.tag), final_elements: .final_elements | map(.tag)
    })`,
    columns: [
      ["loop", "Loop"],
      ["kind", "Kind", words],
      ["final_elements", "Final elements"],
      ["fail_action", "Fails", words],
      ["gap", "Gap", (gap) => gapText(gap as string | null)],
      ["functions", "Controllers"],
    ],
    item: (row) => row.id ?? row.loop,
  },
  {
    id: "findings",
    label: "Findings",
    query: "validate()",
    columns: [
      ["severity", "Severity"],
      // A narrow panel cuts the last columns off.
      ["ids", "Items"],
      ["message", "Finding"],
      ["code", "Rule"],
    ],
    item: (row) => (row.ids as unknown[] | undefined)?.[0],
    rank: (row) => -SEVERITIES.indexOf(String(row.severity)),
  },
  {
    id: "sheets",
    label: "Sheets",
    query: "offPageList()",
    columns: [
      ["tag", "Connector"],
      ["direction", "Flow"],
      ["drawing", "Sheet"],
      ["label", "Label"],
    ],
    item: (row) => row.id,
  },
];

interface ListPanelProps {
  list: List;
  scope: DrawingScope;
  graph: DrawingGraph;
  selected: string | null;
  onSelect: (id: string) => void;
}

export function ListPanel({ list, scope, graph, selected, onSelect }: ListPanelProps) {
  const result = useQuery(resultQuery(scope, list.query));
  const [filter, setFilter] = useState("");
  if (result.isPending) return <Loading label={list.label} />;
  if (result.isError) return <ProblemMessage error={result.error} onRetry={() => result.refetch()} />;
  const { rank = () => 0 } = list;
  const rows = result.data
    .map((row, index): Row & { key: string } => ({ ...(row as Row), key: String(index) }))
    .sort((a, b) => rank(a) - rank(b));
  if (rows.length === 0) return <p className="muted">The drawing has none.</p>;
  const selectedRow = rows.find((row) => list.item(row) === selected);
  const columns = list.columns.map(([field, header, text = cellText]) => ({
    id: field,
    header,
    value: (row: Row) => text(row[field]),
    isWide: field === "message",
    ...(field === "fail_action" && { words: (row: Row) => failWords(row[field]) }),
    ...(field === "drawing" && { cell: (row: Row) => <SheetLink name={cellText(row.drawing)} /> }),
  }));
  return (
    <div className="stack">
      <div className="row list-head">
        <SearchField label={`Filter ${list.label.toLowerCase()}`} value={filter} onChange={setFilter} />
        <SaveCsvButton name={`${list.label} ${scope.id}`} rows={() => listRows(list, rows)} />
      </div>
      <DataTable
        label={list.label}
        columns={columns}
        rows={rows}
        rowKey={(row) => row.key}
        filter={filter}
        selectedKey={selectedRow?.key ?? null}
        onSelect={(row) => {
          const id = String(list.item(row) ?? "");
          if (graph.nodeById.has(id) || graph.edgeById.has(id)) onSelect(id);
        }}
      />
    </div>
  );
}

function listRows({ columns }: List, rows: Row[]): string[][] {
  const cells = (row: Row) => columns.map(([field, , text = cellText]) => text(row[field]));
  return [columns.map(([, header]) => header), ...rows.map(cells)];
}

/** Search words for fail actions. */
function failWords(action: unknown): string {
  const name = words(action);
  return name === "" ? "" : `fails ${name} ${FAIL_LABELS[name] ?? ""}`;
}

/** The drawing of the other sheet, as a link if it is stored. */
function SheetLink({ name }: { name: string }) {
  const sheet = sheetNamed(useQuery(graphsQuery).data ?? [], name);
  return sheet ? <Link to={`/drawings/${encodeURIComponent(sheet.job_id)}`}>{name}</Link> : name;
}

function cellText(value: unknown): string {
  if (Array.isArray(value)) return value.map(cellText).join(", ");
  if (value === null || value === undefined) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
