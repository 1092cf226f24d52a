"""pidq: a query engine for P&ID graphs, piping and instrumentation diagrams as nodes and edges in JSON.

>>> import pidq
>>> graph = pidq.Graph.from_json('{"nodes": [{"id": "T-1"}, {"id": "P-1"}], "edges": [{"from": "T-1", "to": "P-1"}]}')
>>> graph.query(".nodes | map(.id)")
['T-1', 'P-1']
"""

from ._client import AsyncClient, Client, HttpError, StoredGraph
from ._error import Error, FileError, InputError, LimitError, QueryError, QueryWarning, SyntaxError
from ._ffi import version as __version__
from ._graph import Graph, join, query
from ._limits import Cancel, Limits
from ._query import PreparedQuery, Query
from ._result import Batch, Drawing, Result, RunProfile

__all__ = [
    "AsyncClient",
    "Batch",
    "Cancel",
    "Client",
    "Drawing",
    "Error",
    "FileError",
    "Graph",
    "HttpError",
    "InputError",
    "LimitError",
    "Limits",
    "PreparedQuery",
    "Query",
    "QueryError",
    "QueryWarning",
    "Result",
    "RunProfile",
    "StoredGraph",
    "SyntaxError",
    "__version__",
    "join",
    "query",
]

# Public module path, for error messages and pickles.
for _name in __all__:
    if isinstance(globals()[_name], type):
        globals()[_name].__module__ = __name__
del _name
