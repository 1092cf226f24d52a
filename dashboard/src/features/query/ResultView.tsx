/** The result of a query as a table, as JSON or as the plan of its run. */
import { Copy, Link as LinkIcon, Workflow } from "lucide-react";
import { type ReactNode, useMemo, useState } from "react";
import { Link } from "react-router";
import { Button, ButtonLink } from "../../ui/Button";
import { copyText } from "../../ui/CopyButton";
import { DataTable, type TableColumn } from "../../ui/DataTable";
import { Empty } from "../../ui/Empty";
import { Tabs } from "../../ui/Tabs";
import { cellOf, columnsOf, isObject, itemOf, type ResultRow, valueText } from "./columns";
import { Downloads } from "./Downloads";
import { PlanTable } from "./PlanTable";
import type { QueryAnswer } from "./service";

export const RESULT_VIEWS = ["table", "json", "plan"] as const;
export type ResultView = (typeof RESULT_VIEWS)[number];

const number = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });

interface AnswerProps {
  graphId: string;
  answer: QueryAnswer;
  view: ResultView;
  onView: (view: ResultView) => void;
}

export function Answer({ graphId, answer, view, onView }: AnswerProps) {
  const rows = answer.result.length;
  const drawing = `/drawings/${encodeURIComponent(graphId)}?highlight=${encodeURIComponent(answer.query)}`;
  return (
    <section className="query-answer" aria-label="Result">
      <div className="row">
        <p className="query-figures grow muted" role="status">
          {answer.kind === "array"
            ? `${number.format(rows)} ${rows === 1 ? "row" : "rows"}`
            : kindText(answer.kind)}
          {` · ${number.format(answer.fuel)} fuel · ${number.format(answer.explanation?.milliseconds ?? answer.milliseconds)} ms`}
        </p>
        <ButtonLink size="small" href={drawing}>
          <Workflow size={15} aria-hidden /> Show on the drawing
        </ButtonLink>
        <Button size="small" onPress={() => copyText(window.location.href)}>
          <LinkIcon size={15} aria-hidden /> Copy the link
        </Button>
        <Downloads graphId={graphId} query={answer.query} />
      </div>
      <Tabs
        label="Views of the result"
        selected={view}
        onSelect={(id) => onView(id as ResultView)}
        tabs={[
          { id: "table", label: "Table", content: <ResultTable graphId={graphId} rows={answer.result} /> },
          {
            id: "json",
            label: "JSON",
            content: <ResultJson result={answer.result} isArray={answer.kind === "array"} />,
          },
          { id: "plan", label: "Plan", content: <PlanTable explanation={answer.explanation} /> },
        ]}
      />
    </section>
  );
}

function kindText(kind: "value" | "none"): string {
  return kind === "value" ? "One value" : "No value";
}

function ResultTable({ graphId, rows }: { graphId: string; rows: unknown[] }) {
  const table = useMemo(
    () => ({ columns: tableColumns(graphId, rows), rows: rows.map((value, index) => ({ index, value })) }),
    [graphId, rows],
  );
  if (rows.length === 0) {
    return (
      <Empty icon={Workflow} title="Nothing on this drawing matches">
        <p>Check the values in the conditions: the editor suggests those of the drawing.</p>
      </Empty>
    );
  }
  return (
    <DataTable label="Rows of the result" {...table} rowKey={(row) => String(row.index)} maxHeight="100%" />
  );
}

function tableColumns(graphId: string, rows: unknown[]): TableColumn<ResultRow>[] {
  const names = columnsOf(rows);
  const linked = names.includes("tag") ? "tag" : "id";
  return names.map((name) => ({
    id: name || "(empty)",
    header: name || "(empty)",
    value: (row) => sortValue(cellOf(row.value, name)),
    cell: (row) => {
      const cell = <Cell value={cellOf(row.value, name)} />;
      const item = name === linked ? itemOf(row.value) : null;
      return item === null ? cell : <ItemCell graphId={graphId} item={item} text={cell} />;
    },
    ...(rows.every((row) => isEndAligned(cellOf(row, name))) ? { align: "end" as const } : {}),
  }));
}

/** The item of a row, at its place on the drawing. */
function ItemCell({ graphId, item, text }: { graphId: string; item: string; text: ReactNode }) {
  return <Link to={`/drawings/${encodeURIComponent(graphId)}?node=${encodeURIComponent(item)}`}>{text}</Link>;
}

function sortValue(value: unknown): string | number {
  return typeof value === "number" ? value : valueText(value);
}

function isEndAligned(value: unknown): boolean {
  return typeof value === "number" || value === null || value === undefined;
}

/** A value in one line; a nested value opens. */
function Cell({ value }: { value: unknown }): ReactNode {
  const text = valueText(value);
  const isNested = isObject(value) || (Array.isArray(value) && value.some(isObject));
  if (!isNested) return text;
  return (
    <details className="query-nested">
      <summary>{text.length > 80 ? `${text.slice(0, 80)}…` : text || "{}"}</summary>
      <pre>{JSON.stringify(value, null, 2).slice(0, 20_000)}</pre>
    </details>
  );
}

const PAGE = 200;

/** The result as JSON, item by item. */
function ResultJson({ result, isArray }: { result: unknown[]; isArray: boolean }) {
  const [shown, setShown] = useState(PAGE);
  const whole = isArray ? result : result[0];
  return (
    <div className="query-json">
      <div className="row">
        <Button size="small" onPress={() => copyText(JSON.stringify(whole ?? null, null, 2))}>
          <Copy size={15} aria-hidden /> Copy
        </Button>
      </div>
      {result.slice(0, shown).map((item, index) => (
        <JsonValue
          // biome-ignore lint/suspicious/noArrayIndexKey: the items of a result have no other identity
          key={index}
          name={isArray ? String(index) : "value"}
          value={item}
          isOpen={result.length < 10}
        />
      ))}
      {result.length > shown && (
        <div className="row">
          <span className="muted">
            {number.format(shown)} of {number.format(result.length)} items
          </span>
          <Button size="small" onPress={() => setShown(shown + PAGE)}>
            Show more
          </Button>
        </div>
      )}
    </div>
  );
}

function JsonValue({ name, value, isOpen = false }: { name: string; value: unknown; isOpen?: boolean }) {
  const [open, setOpen] = useState(isOpen);
  if (typeof value !== "object" || value === null) {
    return (
      <div className="query-json-leaf">
        <span className="muted">{name}: </span>
        <code data-type={typeof value}>{JSON.stringify(value)}</code>
      </div>
    );
  }
  const entries = Object.entries(value);
  return (
    <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span className="muted">{name}: </span>
        {Array.isArray(value) ? `[${entries.length}]` : valueText(value).slice(0, 80)}
      </summary>
      {open && entries.slice(0, PAGE).map(([key, inner]) => <JsonValue key={key} name={key} value={inner} />)}
      {open && entries.length > PAGE && (
        <p className="muted">{number.format(entries.length - PAGE)} more; copy or download the result.</p>
      )}
    </details>
  );
}
