"""Catalog of the items of a fleet: one row for each item, in Parquet files that any engine queries.

It answers most questions about a fleet without opening a drawing. `pidq-catalog build` writes it on one machine, and
the function `catalog` of the package in Spark.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
from collections.abc import Iterable, Iterator
from typing import Any, Optional

import pidq
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from .batches import DrawingQuery

#: Columns of the catalog, after the one that identifies the drawing.
SCHEMA = pa.schema(
    [
        ("sheet", pa.string()),
        ("revision", pa.string()),
        ("item", pa.string()),
        ("tag", pa.string()),
        ("kind", pa.string()),
        ("class", pa.string()),
        ("role", pa.string()),
        ("line", pa.string()),
        ("size", pa.string()),
        ("fluid", pa.string()),
        ("piping_class", pa.string()),
        ("service", pa.string()),
        ("normal_position", pa.string()),
        ("design_pressure", pa.string()),
        ("design_temperature", pa.string()),
        ("material", pa.string()),
        ("x", pa.float64()),
        ("y", pa.float64()),
    ]
)

#: The rows of a drawing. Kind, class, line and size are those of the lists, which interpret the drawing; what
#: no list states is the field of the item with a default name.
QUERY = """
let({
  metadata: graph().metadata,
  listed: [
    equipmentList() | map({id: .id, kind: "equipment", class: .class, line: .lines}),
    nozzleList() | map({id: .id, kind: "nozzle", line: .line, size: .size}),
    valveList() | map({
      id: .id, kind: "valve", class: .class, role: .role, line: .line, size: .size, normal_position: .normal_position
    }),
    instrumentIndex() | map({id: .id, kind: "instrument", class: .class, role: .variable, line: .line}),
    offPageList() | map({id: .id, kind: "connector", role: .direction, line: .line})
  ] | flatten() | keyBy(string(.id))
}, nodes() | map(let({listed: lookup($listed, string(.id))}, {
  sheet: coalesce($metadata.drawing_number, $metadata.drawing_name),
  revision: coalesce($metadata.revision, $metadata.change_version),
  item: string(.id),
  tag: coalesce(.qualified_tag, .tag, .tag_name, .tag_number),
  kind: coalesce($listed.kind, if(.node_type == "pid_component", "component", .node_type), "component"),
  class: coalesce($listed.class, .node_classification, .component_class, .class),
  role: $listed.role,
  line: coalesce($listed.line, .line, .line_number),
  size: coalesce($listed.size, .nominal_diameter, attr("nominal_diameter")),
  fluid: coalesce(.fluid_code, .fluid, attr("fluid_code")),
  piping_class: coalesce(.piping_class, .spec, attr("piping_class")),
  service: coalesce(.service, attr("service")),
  normal_position: coalesce($listed.normal_position, .normal_position),
  design_pressure: coalesce(.design_pressure, attr("design_pressure")),
  design_temperature: coalesce(.design_temperature, attr("design_temperature")),
  material: coalesce(.material, attr("material")),
  x: toNumber(coalesce(.orig_x, .position.x, .x)),
  y: toNumber(coalesce(.orig_y, .position.y, .y))
})))
"""

#: Number of rows of a row group. Its statistics let engines skip it.
_ROW_GROUP = 128 << 10

_FILES_PER_BATCH = 16


def build(
    sources: Iterable[str],
    output: str,
    *,
    id: str = "drawing",
    graph: str = "graph",
    processes: Optional[int] = None,
    limits: Optional[pidq.Limits] = None,
) -> tuple[int, list[dict[str, Any]]]:
    """Writes the catalog of some drawings; returns the number of items, and the drawings that failed with their errors.

    ``sources`` are files of JSON, which have the path as their id, and Parquet files with the columns ``id`` and
    ``graph``. ``processes`` work in parallel, one for each processor by default. The output replaces a file at once.
    """
    job = DrawingQuery(QUERY, SCHEMA, id=id, graph=graph, limits=limits)
    schema = job.output_schema(pa.string())
    written = schema.remove(schema.get_field_index("error"))
    count, failed = 0, []
    partial = f"{output}.partial"
    try:
        # Drawings are read before they are sent to a process, so that memory does not grow with their number.
        with _pool(processes) as run, pq.ParquetWriter(partial, written, compression="zstd") as writer:
            for table in run(_Task(job, schema), _batches(sources, id, graph)):
                is_item = pc.is_null(table.column("error"))
                failed += table.filter(pc.invert(is_item)).select([id, "error"]).to_pylist()
                items = table.filter(is_item).select(written.names)
                count += items.num_rows
                writer.write_table(items, row_group_size=_ROW_GROUP)
        os.replace(partial, output)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.remove(partial)
        raise
    return count, failed


class _Task:
    """The rows of one batch of drawings, as a table. Sent to other processes."""

    def __init__(self, job: DrawingQuery, schema: pa.Schema) -> None:
        self.job, self.schema = job, schema

    def __call__(self, batch: pa.RecordBatch) -> pa.Table:
        return pa.Table.from_batches(self.job([batch]), self.schema)


@contextlib.contextmanager
def _pool(processes: Optional[int]) -> Iterator[Any]:
    """Yields a function like `map`, which keeps the order and reads no more input than is in work."""
    count = processes or os.cpu_count() or 1
    if count == 1:
        yield map
        return
    # `spawn`: forking is not safe once pyarrow has threads.
    with multiprocessing.get_context("spawn").Pool(count) as pool:
        yield lambda work, batches: _bounded_map(pool, work, batches, 2 * count)


def _bounded_map(pool: Any, work: Any, batches: Iterable[pa.RecordBatch], limit: int) -> Iterator[pa.Table]:
    waiting: list[Any] = []
    for batch in batches:
        waiting.append(pool.apply_async(work, (batch,)))
        if len(waiting) >= limit:
            yield waiting.pop(0).get()
    for result in waiting:
        yield result.get()


def _batches(sources: Iterable[str], id: str, graph: str) -> Iterator[pa.RecordBatch]:
    """Yields the drawings of some files, a few at a time."""
    files: list[str] = []
    for source in sources:
        if not source.endswith(".parquet"):
            files.append(source)
            if len(files) == _FILES_PER_BATCH:
                yield _file_batch(files, id, graph)
                files = []
            continue
        with pq.ParquetFile(source) as file:
            for batch in file.iter_batches(batch_size=_FILES_PER_BATCH, columns=[id, graph]):
                yield batch.set_column(0, id, batch.column(id).cast(pa.string()))
    if files:
        yield _file_batch(files, id, graph)


def _file_batch(files: list[str], id: str, graph: str) -> pa.RecordBatch:
    texts = []
    for name in files:
        with open(name, "rb") as file:
            texts.append(file.read())
    return pa.record_batch({id: pa.array(files, pa.string()), graph: pa.array(texts, pa.large_binary())})
