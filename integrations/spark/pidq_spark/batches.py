"""Queries on the drawings of Arrow record batches: the part that runs in the executors, and needs no Spark.

A drawing that cannot be queried becomes a row with an error. Memory is bounded by the input batch, some megabytes of
decompressed drawings or one drawing, and the output batch.
"""

from __future__ import annotations

import dataclasses
import json
import struct
import zlib
from collections.abc import Iterable, Iterator
from typing import Any, Optional, Union

import pidq
import pyarrow as pa
import pyarrow.compute as pc

#: The column with the error of a drawing; null in rows with results.
ERROR = pa.field("error", pa.struct([("code", pa.string()), ("message", pa.string())]))

#: Number of bytes and of rows from which an output batch is handed on.
_BATCH_BYTES = 8 << 20
_BATCH_ROWS = 65_536

#: Number of decompressed bytes from which no more drawings are added to a call of the library, and maximum number of
#: drawings.
_CALL_BYTES = 8 << 20
_CALL_DRAWINGS = 256

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"


class DrawingError(Exception):
    """A drawing that cannot be queried, for a reason other than those of pidq."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


@dataclasses.dataclass(frozen=True)
class DrawingQuery:
    """A query on each drawing of a column. Called with record batches, it yields record batches.

    >>> import pyarrow as pa
    >>> run = DrawingQuery(".nodes | map({tag})", pa.schema([("tag", pa.string())]))
    >>> batch = pa.record_batch({"drawing": ["A"], "graph": ['{"nodes": [{"tag": "P-1"}], "edges": []}']})
    >>> [batch.to_pylist() for batch in run([batch])]
    [[{'drawing': 'A', 'tag': 'P-1', 'error': None}]]
    """

    #: The query. Its result is a list of objects, one for each row; any other result is a column ``value``.
    text: str
    #: The columns of the result. Columns that a result lacks are null, and columns beyond these are dropped.
    schema: pa.Schema
    #: The column that identifies the drawing.
    id: str = "drawing"
    #: The column with the drawing: JSON as text or bytes, optionally compressed with gzip or zstd.
    graph: str = "graph"
    #: A column with the parameters of the query for this drawing, as a JSON object.
    params: Optional[str] = None
    #: ``column``: a failed drawing is a row with an error; ``skip``: it has no row; ``fail``: the first one raises.
    errors: str = "column"
    #: The limits of the query on each drawing.
    limits: Optional[pidq.Limits] = None
    #: Maximum number of bytes of a drawing, after decompression.
    max_bytes: int = 256 << 20

    def __post_init__(self) -> None:
        if self.errors not in ("column", "skip", "fail"):
            raise ValueError(f"errors must be 'column', 'skip' or 'fail', not {self.errors!r}")
        names = [self.id, *self.schema.names]
        if self.errors == "column":
            names.append(ERROR.name)
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated:
            raise ValueError(f"the column {repeated[0]!r} exists twice: rename it in the query or in the data frame")
        if self.params is None:
            # A query that does not compile fails here, and not once for each drawing.
            pidq.Query(self.text)

    def output_schema(self, id_type: pa.DataType) -> pa.Schema:
        """Returns the columns of the output, for a type of the column that identifies the drawing."""
        fields = [pa.field(self.id, id_type), *self.schema]
        return pa.schema([*fields, ERROR] if self.errors == "column" else fields)

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yields the rows of the drawings of some batches."""
        pending: list[pa.RecordBatch] = []
        size = rows = 0
        rows_of = self._rows if self._is_per_drawing() else self._joined_rows
        for batch in batches:
            for row in rows_of(batch):
                pending.append(row)
                size, rows = size + row.nbytes, rows + row.num_rows
                if size >= _BATCH_BYTES or rows >= _BATCH_ROWS:
                    yield from _merged(pending)
                    pending, size, rows = [], 0, 0
        yield from _merged(pending)

    def tables(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
        """Yields the result of each drawing with its own column types; failed drawings are left out."""
        for batch in batches:
            for at in range(batch.num_rows):
                try:
                    yield self._run(batch, at)
                except (pidq.Error, DrawingError):
                    continue

    def _is_per_drawing(self) -> bool:
        """Returns true if drawings have parameters or a timeout of their own, and are queried one by one."""
        has_timeout = self.limits is not None and self.limits.timeout is not None
        return self.params is not None or has_timeout or not self.schema.names

    def _joined_rows(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Yields the rows of several drawings at a time, with their ids and errors: those of `_rows`."""
        query = pidq.Query(self.text)
        for first, documents, problems in _calls(batch.column(self.graph), self.max_bytes):
            done = 0
            while done < len(documents):
                results = query.run_batch(documents[done:], limits=self.limits)
                start, done = first + done, done + results.count
                errors = {start + failure["document"]: failure["error"] for failure in results.failures}
                errors |= {at: problem for at, problem in problems.items() if start <= at < first + done}
                if errors and self.errors == "fail":
                    self._run(batch, min(errors))
                try:
                    yield self._joined(batch.column(self.id), start, results.to_arrow(), errors)
                except DrawingError:
                    # A value of some drawing does not fit its column: only that drawing fails.
                    yield from self._rows(batch, range(start, first + done))

    def _joined(self, ids: pa.Array, start: int, table: pa.Table, errors: dict[int, Any]) -> pa.RecordBatch:
        """Returns the rows of some drawings, of which the first has the number `start` in the batch."""
        drawings = pc.add(table.column(0).combine_chunks(), start)
        columns = [_column(table.select(range(1, table.num_columns)), field, len(drawings)) for field in self.schema]
        columns = [ids.take(drawings), *columns]
        if self.errors == "column":
            columns.append(_errors(drawings, errors))
        rows = pa.record_batch(columns, schema=self.output_schema(ids.type))
        if errors and self.errors == "skip":
            return rows.filter(pc.invert(pc.is_in(drawings, pa.array(list(errors), pa.int64()))))
        return rows

    def _rows(self, batch: pa.RecordBatch, selected: Optional[range] = None) -> Iterator[pa.RecordBatch]:
        """Yields the rows of each drawing, with its id and error."""
        identifiers = batch.column(self.id)
        schema = self.output_schema(identifiers.type)
        for at in selected or range(batch.num_rows):
            identifier = identifiers[at]
            try:
                columns = _columns(self._run(batch, at), self.schema)
                error = None
            except (pidq.Error, DrawingError) as problem:
                if self.errors == "fail":
                    raise
                if self.errors == "skip":
                    continue
                columns = [pa.nulls(1, field.type) for field in self.schema]
                error = {"code": problem.code, "message": problem.message}
            count = len(columns[0]) if columns else 0
            columns = [pa.repeat(identifier, count), *columns]
            if self.errors == "column":
                columns.append(pa.nulls(count, ERROR.type) if error is None else pa.array([error], ERROR.type))
            yield pa.record_batch(columns, schema=schema)

    def _run(self, batch: pa.RecordBatch, at: int) -> pa.Table:
        """Returns the result of the query on one drawing."""
        document = _document(next(_texts(batch.column(self.graph).slice(at, 1))), self.max_bytes)
        graph = pidq.Graph.from_json(document if isinstance(document, bytes) else document.to_pybytes())
        params = {} if self.params is None else _params(batch.column(self.params)[at].as_py())
        return graph.run(self.text, limits=self.limits, **params).to_arrow()


def infer_schema(query: DrawingQuery, batches: Iterable[pa.RecordBatch]) -> pa.Schema:
    """Returns the columns of the results of some drawings. Columns that are null everywhere are strings."""
    schemas = [table.schema for table in query.tables(batches)]
    if not any(len(schema) for schema in schemas):
        raise ValueError("the query has no rows in the first drawings: state the schema of its columns")
    schema = pa.unify_schemas(schemas, promote_options="permissive")
    return pa.schema([field.with_type(pa.string()) if pa.types.is_null(field.type) else field for field in schema])


def _params(text: Optional[str]) -> dict[str, Any]:
    """Returns the parameters of a query: a JSON object, or none."""
    try:
        params = json.loads(text or "{}")
    except ValueError as error:
        raise DrawingError("params_invalid", f"the parameters are not JSON: {error}") from error
    if not isinstance(params, dict):
        raise DrawingError("params_invalid", "the parameters are not a JSON object")
    return params


def _calls(graphs: pa.Array, max_bytes: int) -> Iterator[tuple[int, list[Any], dict[int, Any]]]:
    """Yields some drawings at a time: the number of the first, their texts, and the errors of those without a text."""
    first, size = 0, 0
    documents: list[Any] = []
    problems: dict[int, Any] = {}
    for at, text in enumerate(_texts(graphs)):
        try:
            document = _document(text, max_bytes)
        except DrawingError as problem:
            problems[at] = {"code": problem.code, "message": problem.message}
            document = b""
        documents.append(document)
        size += len(document) if isinstance(document, bytes) else 0
        if size >= _CALL_BYTES or len(documents) >= _CALL_DRAWINGS:
            yield first, documents, problems
            first, size, documents, problems = at + 1, 0, [], {}
    if documents:
        yield first, documents, problems


def _errors(drawings: pa.Array, errors: dict[int, Any]) -> pa.Array:
    """Returns the column with the error of each row, from the errors by drawing."""
    if not errors:
        return pa.nulls(len(drawings), ERROR.type)
    return pa.array([errors.get(at) for at in drawings.to_pylist()], ERROR.type)


#: Types of columns whose values are contiguous, with the format of their offsets.
_OFFSETS = {pa.string(): "i", pa.binary(): "i", pa.large_string(): "q", pa.large_binary(): "q"}


def _texts(graphs: pa.Array) -> Iterator[Optional[pa.Buffer]]:
    """Yields the bytes of each drawing; `None` if it is null. They are not copied, which scalars of Arrow do."""
    code = _OFFSETS.get(graphs.type)
    if code is None or len(graphs) == 0:
        for value in graphs:
            yield value.as_buffer() if value.is_valid else None
        return
    _, offsets, data = graphs.buffers()
    end = graphs.offset + len(graphs) + 1
    starts = memoryview(offsets)[: end * struct.calcsize(code)].cast(code)[graphs.offset :]
    for is_valid, start, stop in zip(graphs.is_valid().to_pylist(), starts, starts[1:], strict=False):
        yield (data or _EMPTY).slice(start, stop - start) if is_valid else None


_EMPTY = pa.py_buffer(b"")


def _document(buffer: Optional[pa.Buffer], max_bytes: int) -> Union[bytes, pa.Buffer]:
    """Returns the JSON text of a drawing, decompressed; without a copy if it was not compressed."""
    if buffer is None:
        raise DrawingError("no_drawing", "the column of the drawing is null")
    start = buffer.slice(0, min(4, buffer.size)).to_pybytes()
    codec = "gzip" if start.startswith(_GZIP) else "zstd" if start == _ZSTD else None
    if codec is None:
        text = buffer if buffer.size <= max_bytes else None
    else:
        text = _decompressed(buffer, codec, max_bytes)
    if text is None:
        raise DrawingError("drawing_too_large", f"the drawing is larger than {max_bytes} bytes")
    return text


def _decompressed(buffer: pa.Buffer, codec: str, max_bytes: int) -> Optional[bytes]:
    """Returns the content of a compressed buffer; `None` if it is larger than allowed."""
    try:
        with pa.CompressedInputStream(pa.BufferReader(buffer), codec) as stream:
            text = stream.read(max_bytes + 1)
    except (OSError, ValueError, zlib.error) as error:
        raise DrawingError("decompression_failed", f"{codec}: {error}") from error
    return text if len(text) <= max_bytes else None


def _columns(table: pa.Table, schema: pa.Schema) -> list[pa.Array]:
    """Returns the columns of a schema, converted to its types."""
    if table.num_columns == 0:
        return [pa.array([], field.type) for field in schema]
    return [_column(table, field, table.num_rows) for field in schema]


def _column(table: pa.Table, field: pa.Field, rows: int) -> pa.Array:
    at = table.schema.get_field_index(field.name)
    if at < 0:
        return pa.nulls(rows, field.type)
    column = table.column(at).combine_chunks()
    if column.type == field.type:
        return column
    try:
        if pa.types.is_nested(field.type) and pa.types.is_string(column.type):
            # Lists and objects are JSON text.
            return pa.array([None if text is None else json.loads(text) for text in column.to_pylist()], field.type)
        return column.cast(field.type)
    except (pa.ArrowException, ValueError, TypeError) as error:
        message = f"the column {field.name!r} cannot be converted to {field.type}: {error}"
        raise DrawingError("column_type", message) from error


def _merged(batches: list[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    if batches:
        yield from pa.Table.from_batches(batches).combine_chunks().to_batches(max_chunksize=_BATCH_ROWS)
