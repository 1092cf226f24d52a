"""pidq on fleets of drawings: queries, walks across drawings and a catalog of items, in Spark or without it.

`query`, `boundary`, `stitch`, `expand` and `catalog` work on data frames of Spark. `DrawingQuery` does the work in the
executors; it takes Arrow record batches, so that programs without Spark use it as well.
"""

from .batches import DrawingQuery
from .frames import boundary, catalog, expand, query, stitch
from .network import Network, Walk

__all__ = ["DrawingQuery", "Network", "Walk", "boundary", "catalog", "expand", "query", "stitch"]
