/** A table that sorts by a click on a column; only the rows in view are in the document. */
import {
  createColumnHelper,
  createSortedRowModel,
  type Row,
  rowSortingFeature,
  sortFns,
  tableFeatures,
  useTable,
} from "@tanstack/react-table";
import { useVirtualizer, type Virtualizer } from "@tanstack/react-virtual";
import { ArrowDown, ArrowUp } from "lucide-react";
import { type ReactNode, useMemo, useRef } from "react";
import { rowFilter } from "./rowFilter";
import { usePrinting } from "./usePrinting";

export interface TableColumn<T> {
  id: string;
  header: string;
  /** The value that the table sorts and filters by. */
  value: (row: T) => string | number | boolean | null | undefined;
  /** Further words that the filter finds a row by. */
  words?: (row: T) => string;
  /** Content of the cell, if not the value. */
  cell?: (row: T) => ReactNode;
  align?: "end";
  isUnsortable?: boolean;
  /** Sentences, which wrap where the values of other columns do not. */
  isWide?: boolean;
}

interface DataTableProps<T> {
  /** Accessible name. */
  label: string;
  columns: TableColumn<T>[];
  rows: T[];
  rowKey: (row: T) => string;
  /** Shows the rows that contain these words, in any order. */
  filter?: string;
  selectedKey?: string | null;
  onSelect?: (row: T) => void;
  /** Height in pixels after which the table scrolls by itself. */
  maxHeight?: number | string;
}

const features = tableFeatures({
  rowSortingFeature,
  sortedRowModel: createSortedRowModel(),
  sortFns,
});

const ROW_HEIGHT = 34;

export function DataTable<T extends object>(props: DataTableProps<T>) {
  const { label, columns, rows, rowKey, filter = "", selectedKey, onSelect, maxHeight = 560 } = props;
  const scrollRef = useRef<HTMLDivElement>(null);
  const definitions = useMemo(() => columnDefinitions(columns), [columns]);
  const matching = useMemo(() => rowsWith(filter, rows, columns), [filter, rows, columns]);
  const table = useTable({
    features,
    columns: definitions,
    data: matching,
    getRowId: rowKey,
  });
  const visible = table.getRowModel().rows;
  const virtual = useVirtualizer({
    count: visible.length,
    getScrollElement: () => scrollRef.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 12,
  });
  const isPrinting = usePrinting();
  const items = isPrinting ? visible.map((_, index) => ({ index })) : virtual.getVirtualItems();
  const { before, after } = isPrinting ? { before: 0, after: 0 } : outOfView(virtual);

  const tableRow = (row: Row<typeof features, T>, index: number) => (
    <tr
      key={row.id}
      data-index={index}
      ref={virtual.measureElement}
      data-clickable={onSelect ? true : undefined}
      data-selected={row.id === selectedKey || undefined}
      aria-rowindex={index + 2}
      tabIndex={onSelect ? 0 : undefined}
      onClick={() => onSelect?.(row.original)}
      onKeyDown={(event) =>
        event.key === "Enter" && event.target === event.currentTarget && onSelect?.(row.original)
      }
    >
      {columns.map((column) => (
        <td
          key={column.id}
          data-align={column.align}
          data-wide={column.isWide || undefined}
          data-column={column.id}
          data-label={column.isUnsortable ? undefined : column.header}
        >
          {column.cell ? column.cell(row.original) : valueText(column.value(row.original))}
        </td>
      ))}
    </tr>
  );

  return (
    <div
      className="table-frame"
      ref={scrollRef}
      style={{ maxHeight }}
      tabIndex={0}
      role="region"
      aria-label={label}
    >
      <table className="table data-table" aria-rowcount={visible.length + 1}>
        <thead>
          <tr>
            {table.getFlatHeaders().map((header, index) => (
              <th
                key={header.id}
                scope="col"
                data-column={columns[index]?.id}
                data-align={columns[index]?.align}
                aria-sort={ariaSort(header.column.getIsSorted())}
              >
                {columns[index]?.isUnsortable ? (
                  <span>{columns[index]?.header}</span>
                ) : (
                  <button type="button" onClick={header.column.getToggleSortingHandler()}>
                    {columns[index]?.header}
                    {header.column.getIsSorted() === "asc" && <ArrowUp size={13} aria-hidden />}
                    {header.column.getIsSorted() === "desc" && <ArrowDown size={13} aria-hidden />}
                  </button>
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {before > 0 && <Spacer height={before} columns={columns.length} />}
          {items.map((item) => {
            const row = visible[item.index];
            return row && tableRow(row, item.index);
          })}
          {after > 0 && <Spacer height={after} columns={columns.length} />}
        </tbody>
      </table>
      {visible.length === 0 && filter !== "" && (
        <p className="table-nothing muted" role="status">
          No row contains “{filter}”.
        </p>
      )}
    </div>
  );
}

function rowsWith<T>(filter: string, rows: T[], columns: TableColumn<T>[]): T[] {
  const matches = rowFilter(filter);
  return rows.filter((row) =>
    matches(columns.flatMap((column) => [valueText(column.value(row)), column.words?.(row) ?? ""])),
  );
}

function columnDefinitions<T extends object>(columns: TableColumn<T>[]) {
  const helper = createColumnHelper<typeof features, T>();
  return helper.columns(
    columns.map((column) =>
      helper.accessor((row: T) => column.value(row) ?? undefined, {
        id: column.id,
        header: column.header,
        enableSorting: column.isUnsortable !== true,
        sortFn: "alphanumeric",
        sortUndefined: "last",
      }),
    ),
  );
}

/** Heights of the rows before and after those in view. */
function outOfView(virtual: Virtualizer<HTMLDivElement, Element>): { before: number; after: number } {
  const items = virtual.getVirtualItems();
  return { before: items[0]?.start ?? 0, after: virtual.getTotalSize() - (items.at(-1)?.end ?? 0) };
}

/** Row in place of the rows that are out of view. */
function Spacer({ height, columns }: { height: number; columns: number }) {
  return (
    <tr aria-hidden>
      <td colSpan={columns} style={{ height, padding: 0 }} />
    </tr>
  );
}

function valueText(value: string | number | boolean | null | undefined): string {
  if (value === true) return "yes";
  if (value === false) return "no";
  return value === null || value === undefined ? "" : String(value);
}

function ariaSort(sorted: false | "asc" | "desc"): "ascending" | "descending" | "none" {
  if (sorted === "asc") return "ascending";
  return sorted === "desc" ? "descending" : "none";
}
