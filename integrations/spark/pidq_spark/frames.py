"""Spark data frames: queries on each drawing, and walks across drawings."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Optional, Union

import pidq
import pyarrow as pa

from . import item_catalog
from .batches import ERROR, DrawingQuery, infer_schema
from .network import BOUNDARY_SCHEMA, EXITS_SCHEMA, TRACE_SCHEMA, Network, Walk
from .network import stitch as _stitch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

#: Columns of a result: DDL (`"tag string, size double"`), the types of Spark, or those of Arrow.
Schema = Union[str, "StructType", pa.Schema]

#: Number of drawings from which the columns of a result are inferred.
_INFERRED_DRAWINGS = 8


def query(
    frame: DataFrame,
    text: str,
    schema: Optional[Schema] = None,
    *,
    id: str = "drawing",
    graph: str = "graph",
    params: Optional[str] = None,
    errors: str = "column",
    limits: Optional[pidq.Limits] = None,
    max_bytes: int = 256 << 20,
) -> DataFrame:
    """Runs a query on each drawing of a data frame. Returns the rows of the results with the id of their drawing.

    ``id`` and ``graph`` are the columns with the id of a drawing and with its JSON, as text or bytes, optionally
    compressed with gzip or zstd. ``params`` is a column with the parameters of the query for the drawing, as a JSON
    object. Without ``schema``, the columns are inferred from the first drawings; fields that only later drawings have
    are left out.

    A drawing that fails is a row whose column ``error`` has the code and the message; with ``errors="skip"``, it has no
    row, and with ``errors="fail"``, the job fails. ``limits`` and ``max_bytes`` apply to each drawing.
    """
    options: dict[str, Any] = {"id": id, "graph": graph, "params": params, "limits": limits, "max_bytes": max_bytes}
    used = frame.select(id, graph, *([params] if params else []))
    if schema is None:
        sample = used.limit(_INFERRED_DRAWINGS).toArrow().to_batches()
        columns = infer_schema(DrawingQuery(text, pa.schema([]), **options), sample)
    else:
        columns = _to_arrow_schema(frame, schema)
    return _map(used, DrawingQuery(text, columns, errors=errors, **options))


def boundary(frame: DataFrame, walk: Walk = Walk(), **options: Any) -> DataFrame:
    """Returns one row for each drawing: its off-page connectors with those that each reaches, and the reduced drawing.

    ``options`` are those of `query`. The result depends only on the drawing: store it, and compute it again for
    drawings that have changed.
    """
    return query(frame, walk.boundary_query(), BOUNDARY_SCHEMA, **options)


def stitch(boundaries: DataFrame, walk: Walk = Walk()) -> Network:
    """Returns the boundary graph of a fleet from the rows of `boundary` with the same walk. Runs in the driver.

    The drawings that failed are in its attribute `failed`.
    """
    identifier = boundaries.columns[0]
    rows = boundaries.select(identifier, "connectors", "stub").sort(identifier).toLocalIterator(prefetchPartitions=True)
    return _stitch(((row[0], row[1] and [entry.asDict() for entry in row[1]], row[2]) for row in rows), walk)


def expand(
    frame: DataFrame,
    network: Network,
    drawing: Any,
    start: str,
    *,
    id: str = "drawing",
    **options: Any,
) -> DataFrame:
    """Returns the items that a walk reaches across drawings, from an item (its id or tag) of a drawing.

    Only the drawing of the start and the drawings that the walk enters are read: two passes, over one drawing and over
    these. A row has the drawing, the id and the tag of an item. A drawing that fails is a row with an error, and the
    walk may be incomplete behind it, as it is behind the drawings in `network.failed`.
    """
    from pyspark.sql import functions

    spark, walk = frame.sparkSession, network.walk
    options |= {"id": id, "params": _PARAMS}
    first = frame.where(functions.col(id) == drawing).withColumn(_PARAMS, functions.lit(json.dumps({"start": start})))
    exits = query(first, walk.exits_query(), EXITS_SCHEMA, **options, errors="fail").collect()
    entries = network.entries((drawing, row["item"]) for row in exits)
    entries.setdefault(drawing, [])
    params = [
        (entered, json.dumps({"start": start if entered == drawing else None, "entries": connectors}))
        for entered, connectors in entries.items()
    ]
    entered = spark.createDataFrame(params, [id, _PARAMS])
    touched = frame.join(functions.broadcast(entered), id)
    return query(touched, walk.trace_query(), TRACE_SCHEMA, **options)


def catalog(frame: DataFrame, **options: Any) -> DataFrame:
    """Returns one row for each item of each drawing, with the columns of `pidq_spark.item_catalog.SCHEMA`."""
    return query(frame, item_catalog.QUERY, item_catalog.SCHEMA, **options)


#: Name of the column with parameters that `expand` adds.
_PARAMS = "pidq_params"


def _map(frame: DataFrame, job: DrawingQuery) -> DataFrame:
    from pyspark.sql.pandas.types import from_arrow_schema
    from pyspark.sql.types import StructType

    columns = [frame.schema[job.id], *from_arrow_schema(job.schema)]
    if job.errors == "column":
        columns += from_arrow_schema(pa.schema([ERROR]))
    return frame.mapInArrow(job, StructType(columns))


def _to_arrow_schema(frame: DataFrame, schema: Schema) -> pa.Schema:
    from pyspark.sql.pandas.types import to_arrow_schema
    from pyspark.sql.types import StructType

    if isinstance(schema, pa.Schema):
        return schema
    if isinstance(schema, str):
        # Parsed by Spark, in the session of the data frame.
        schema = frame.sparkSession.createDataFrame([], schema).schema
    assert isinstance(schema, StructType)
    return to_arrow_schema(schema)
