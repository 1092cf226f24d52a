"""Documents, which are drawings most of the time."""

from __future__ import annotations

import ctypes
import json
import os
from collections.abc import Iterable, Mapping
from ctypes import c_void_p
from typing import Any, Optional, Union

from ._ffi import CDiffOptions, CDrawOptions, Shared, deleter, lib, make, slices, take_buffer, take_files
from ._limits import Cancel, Limits, within
from ._query import Drawing, Explanation, Query, Result, compiled, save, table_html
from ._watch import make_interruptibly

_delete_graph = deleter("graph")

Source = Union[str, bytes, bytearray, memoryview, "os.PathLike[str]", "list[Any]", "dict[str, Any]"]

#: Nodes that a notebook draws by itself.
_DRAWN = 300
#: Nodes of which a notebook shows the first.
_LISTED = 20


class Graph:
    """A document, read once and then only asked. It does not change; any number of threads may use it.

    >>> import pidq
    >>> graph = pidq.Graph.from_json('{"nodes": [{"id": "P-101", "kw": 15}, {"id": "V-7"}], "edges": []}')
    >>> graph.query(".nodes | filter(.kw > $least) | map(.id)", least=10)
    ['P-101']
    """

    __slots__ = ("__weakref__", "_handle", "_shared")

    def __init__(self, handle: int) -> None:
        self._handle: Optional[int] = handle
        self._shared: Optional[Shared] = None

    @classmethod
    def from_json(cls, source: Source, *, topology: Optional[Mapping[str, Any]] = None) -> Graph:
        """Reads JSON: bytes, a text that begins with ``{`` or ``[``, the path of a file, or Python data.

        ``topology`` names the fields of nodes and edges and the words for their classes, where they are not the usual.
        """
        text = _json_of(source)
        if topology is None:
            return cls(make(lib.pidq_graph_parse, text, len(text)))
        words = json.dumps(topology).encode()
        return cls(make(lib.pidq_graph_parse_with, text, len(text), words, len(words)))

    @classmethod
    def from_file(cls, path: Union[str, os.PathLike[str]]) -> Graph:
        """Reads a file: JSON, or a drawing of another program (Proteus XML, GraphML)."""
        return cls(make(lib.pidq_graph_open, os.fsencode(path)))

    @classmethod
    def from_format(cls, format: str, *sources: Union[bytes, str, os.PathLike[str]]) -> Graph:
        """Imports a drawing of a format from its files, given as bytes or paths.

        What did not come through as it was stands in ``.pid_graph.metadata.diagnostics``.
        """
        parts = [source if isinstance(source, bytes) else _file(source) for source in sources]
        return cls(make(lib.pidq_graph_import, format.encode(), slices(parts), len(parts)))

    @classmethod
    def from_proteus(cls, source: Union[bytes, str, os.PathLike[str]]) -> Graph:
        """Imports Proteus XML (DEXPI), given as bytes or as a path."""
        return cls.from_format("proteus", source)

    @classmethod
    def from_networkx(cls, graph: Any) -> Graph:
        """Takes over a graph of NetworkX; the names of its nodes become their ids.

        >>> import networkx
        >>> graph = Graph.from_networkx(networkx.path_graph(3))
        >>> graph.query("edges() | size()")
        2
        """
        nodes = [{**fields, "id": name} for name, fields in graph.nodes(data=True)]
        edges = [{**fields, "source": start, "target": end} for start, end, fields in graph.edges(data=True)]
        return cls.from_json({"pid_graph": {"nodes": nodes, "edges": edges, "metadata": _plain(graph.graph)}})

    def query(
        self, text: Union[str, Query], /, *, limits: Optional[Limits] = None, shared: bool = False, **params: Any
    ) -> Any:
        """Asks the graph, and gives plain Python data. ``$name`` is the argument ``name``.

        Texts that were asked before are not compiled again. With ``shared``, lists and objects of the document are the
        same Python objects each time: many times as fast where many rows are given again. Nobody may change them then.
        """
        return _compiled(text, params)(self, limits=limits, shared=shared)

    def run(self, text: Union[str, Query], /, *, limits: Optional[Limits] = None, **params: Any) -> Result:
        """Asks the graph, and gives a result that can be read as JSON, as rows or as columns."""
        return _compiled(text, params).run(self, limits=limits)

    def explain(self, text: Union[str, Query], /, *, limits: Optional[Limits] = None, **params: Any) -> Explanation:
        """Runs a query and tells what its calls did."""
        return _compiled(text, params).explain(self, limits=limits)

    def to_networkx(self) -> Any:
        """The graph as a directed multigraph of NetworkX, with the fields of nodes and edges."""
        import networkx

        data = json.loads(self.export("node-link")["graph.json"])
        result: Any = networkx.MultiDiGraph(**data.get("graph", {}))
        result.add_nodes_from((node.pop("id"), node) for node in data["nodes"])
        for edge in data.get("edges", data.get("links", [])):
            result.add_edge(edge.pop("source"), edge.pop("target"), edge.pop("key", None), **edge)
        return result

    def to_dataframe(self, what: str = "nodes", *, library: str = "pandas") -> Any:
        """Nodes, edges, or what a query gives, as a data frame of ``pandas`` or ``polars``."""
        result = self.run(_LISTS.get(what, what))
        if library == "polars":
            return result.to_polars()
        if library == "pandas":
            return result.to_pandas()
        raise ValueError(f"library is 'pandas' or 'polars', not {library!r}")

    def to_arrow(self, what: str = "nodes") -> Any:
        """Nodes, edges, or what a query gives, as a table of pyarrow."""
        return self.run(_LISTS.get(what, what)).to_arrow()

    def draw(
        self,
        *,
        highlight: Union[str, Query, Result, None] = None,
        select: Union[str, Query, Result, None] = None,
        dark: bool = False,
        title: Optional[str] = None,
    ) -> Drawing:
        """The graph as a drawing, at its own positions or laid out; what queries give is marked, or drawn alone."""
        marked, only = self._asked(highlight), self._asked(select)
        options = CDrawOptions(
            ctypes.sizeof(CDrawOptions),
            marked._handle if marked else None,
            only._handle if only else None,
            title.encode() if title is not None else None,
            int(dark),
        )
        return Drawing(take_buffer(make(lib.pidq_graph_draw, self._handle, ctypes.byref(options))))

    def diff(
        self,
        newer: Graph,
        *,
        identity: Optional[str] = None,
        ignore: Iterable[str] = (),
        tolerance: float = 0.0,
        limits: Optional[Limits] = None,
    ) -> dict[str, Any]:
        """What changed from this revision to a newer one."""
        words = (identity.encode() if identity else None, ",".join(ignore).encode())
        with within(limits, stop := Cancel()) as given:
            options = CDiffOptions(ctypes.sizeof(CDiffOptions), *words, tolerance, ctypes.pointer(given))
            arguments = (self._handle, newer._handle, ctypes.byref(options))
            text = take_buffer(make_interruptibly(lib.pidq_graph_diff, "buffer", stop, *arguments))
        changes: dict[str, Any] = json.loads(text)
        return changes

    def export(self, format: str, path: Union[str, os.PathLike[str], None] = None) -> dict[str, bytes]:
        """The graph in a format, such as ``graphml`` or ``xlsx``: files by name. With a path they are also written."""
        files = take_files(make(lib.pidq_graph_export, self._handle, format.encode()))
        save(files, path)
        return files

    def _shared_objects(self) -> Shared:
        if self._shared is None:
            self._shared = Shared(self._handle)
        return self._shared

    @property
    def size(self) -> int:
        """Bytes of memory that the graph takes, without the text of the document."""
        return int(lib.pidq_graph_size(self._handle))

    def _asked(self, what: Union[str, Query, Result, None]) -> Optional[Result]:
        return what if what is None or isinstance(what, Result) else self.run(what)

    def _count(self) -> Optional[tuple[int, int]]:
        counts = compiled("{nodes: nodes() | size(), edges: edges() | size()}")
        try:
            found = counts(self)
        except Exception:  # A document without a graph.
            return None
        return found["nodes"], found["edges"]

    def __repr__(self) -> str:
        counts = self._count()
        return f"Graph({counts[0]} nodes, {counts[1]} edges)" if counts else "Graph(no nodes)"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """What a notebook shows: the drawing where it is small, else the first nodes."""
        bundle, counts = {"text/plain": repr(self)}, self._count()
        if counts is None:
            return bundle
        first = compiled(f"nodes() | limit({_LISTED})")(self)
        bundle["text/html"] = table_html(first, counts[0])
        if 0 < counts[0] <= _DRAWN:
            bundle["image/svg+xml"] = self.draw()
        return bundle

    def __del__(self) -> None:
        _delete_graph(self._handle)


_LISTS = {"nodes": "nodes()", "edges": "edges()"}


def join(*sheets: Graph, limits: Optional[Limits] = None) -> Graph:
    """Several sheets as one graph, joined at their off-page connectors.

    What could not be matched stands in ``.pid_graph.metadata.joined``.
    """
    handles = (c_void_p * len(sheets))(*(sheet._handle for sheet in sheets))
    with within(limits, stop := Cancel()) as given:
        arguments = (handles, len(sheets), ctypes.byref(given))
        return Graph(make_interruptibly(lib.pidq_graph_join_with, "graph", stop, *arguments))


def query(data: Any, text: Union[str, Query], /, *, limits: Optional[Limits] = None, **params: Any) -> Any:
    """Asks any Python data once.

    >>> import pidq
    >>> pidq.query({"tags": ["P-101", "V-7"]}, ".tags | size()")
    2
    """
    return _compiled(text, params)(data, limits=limits)


def as_graph(data: Any) -> Graph:
    """A graph as it is; any other Python data read as JSON."""
    return data if isinstance(data, Graph) else Graph.from_json(json.dumps(data).encode())


def _compiled(text: Union[str, Query], params: dict[str, Any]) -> Query:
    if isinstance(text, str):
        return compiled(text, json.dumps(params)) if params else compiled(text)
    if params:
        raise TypeError("a compiled query has its parameters already")
    return text


def _json_of(source: Source) -> bytes:
    if isinstance(source, str):
        return source.encode() if source.lstrip().startswith(("{", "[")) else _file(source)
    if isinstance(source, (bytes, bytearray, memoryview)):
        return bytes(source)
    if isinstance(source, (list, dict)):
        return json.dumps(source).encode()
    return _file(source)


def _file(path: Union[str, os.PathLike[str]]) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _plain(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that JSON has a place for."""
    plain = {}
    for name, value in fields.items():
        try:
            json.dumps(value)
        except (TypeError, ValueError):
            continue
        plain[str(name)] = value
    return plain
