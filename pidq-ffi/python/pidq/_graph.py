"""Documents, which are drawings most of the time."""

from __future__ import annotations

import ctypes
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from ctypes import c_void_p
from typing import Any, Optional, Union

from ._ffi import CDiffOptions, CDrawOptions, Shared, deleter, lib, make, slices, take_buffer, take_files
from ._handle import Handle, refuse_to_make
from ._json import dumps, word
from ._limits import Cancel, Limits, within
from ._query import Drawing, Explanation, Query, Result, compiled, save, table_html
from ._watch import make_interruptibly

_delete_graph = deleter("graph")

Source = Union[str, bytes, bytearray, memoryview, "os.PathLike[str]", "list[Any]", "dict[str, Any]"]

#: Nodes that a notebook draws by itself.
_DRAWN = 300
#: Nodes of which a notebook shows the first.
_LISTED = 20


class Graph(Handle):
    """A document, read once and then only asked. It does not change; any number of threads may use it.

    >>> import pidq
    >>> graph = pidq.Graph.from_json('{"nodes": [{"id": "P-101", "kw": 15}, {"id": "V-7"}], "edges": []}')
    >>> graph.query(".nodes | filter(.kw > $least) | map(.id)", least=10)
    ['P-101']
    """

    __slots__ = ("__weakref__", "_handle", "_shared", "_topology")

    _handle: Optional[int]
    _shared: Optional[Shared]
    _topology: Optional[bytes]

    def __init__(self, *_: object, **__: object) -> None:
        self._handle = None
        refuse_to_make("Graph", "Graph.from_json and Graph.from_file read one")

    @classmethod
    def _of(cls, handle: int, topology: Optional[bytes] = None) -> Graph:
        graph = cls.__new__(cls)
        graph._handle = handle
        graph._shared = None
        graph._topology = topology
        return graph

    @classmethod
    def _read(cls, text: bytes, topology: Optional[bytes] = None) -> Graph:
        if topology is None:
            return cls._of(make(lib.pidq_graph_parse, text, len(text)))
        return cls._of(make(lib.pidq_graph_parse_with, text, len(text), topology, len(topology)), topology)

    @classmethod
    def from_json(cls, source: Source, *, topology: Optional[Mapping[str, Any]] = None) -> Graph:
        """Reads JSON: bytes, a text that begins with ``{`` or ``[``, the path of a file, or Python data.

        ``topology`` names the fields of nodes and edges and the words for their classes, where they are not the usual.
        """
        return cls._read(_json_of(source), None if topology is None else dumps(dict(topology)).encode())

    @classmethod
    def from_file(cls, path: Union[str, os.PathLike[str]]) -> Graph:
        """Reads a file: JSON, or a drawing of another program (Proteus XML, GraphML)."""
        name = os.fsencode(path)
        if b"\0" in name:
            raise ValueError(f"a NUL character in the path {path!r}")
        return cls._of(make(lib.pidq_graph_open, name))

    @classmethod
    def from_format(cls, format: str, *sources: Union[bytes, str, os.PathLike[str]]) -> Graph:
        """Imports a drawing of a format from its files, given as bytes or paths.

        What did not come through as it was stands in ``.pid_graph.metadata.diagnostics``.
        """
        parts = [source if isinstance(source, bytes) else _file(source) for source in sources]
        return cls._of(make(lib.pidq_graph_import, word(format), slices(parts), len(parts)))

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
        edges = [{**fields, "source": start, "target": end} for start, end, fields in _edges(graph)]
        return cls.from_json({"pid_graph": {"nodes": nodes, "edges": edges, "metadata": _plain(graph.graph)}})

    def query(
        self,
        text: Union[str, list[Any], Query],
        /,
        *,
        limits: Optional[Limits] = None,
        shared: bool = False,
        **params: Any,
    ) -> Any:
        """Asks the graph, and gives plain Python data. ``$name`` is the argument ``name``.

        Texts that were asked before are not compiled again. With ``shared``, lists and objects of the document are the
        same Python objects each time: many times as fast where many rows are given again. Nobody may change them then.
        """
        return _compiled(text, params)(self, limits=limits, shared=shared)

    def run(self, text: Union[str, list[Any], Query], /, *, limits: Optional[Limits] = None, **params: Any) -> Result:
        """Asks the graph, and gives a result that can be read as JSON, as rows or as columns."""
        return _compiled(text, params).run(self, limits=limits)

    def explain(
        self, text: Union[str, list[Any], Query], /, *, limits: Optional[Limits] = None, **params: Any
    ) -> Explanation:
        """Runs a query and tells what its calls did."""
        return _compiled(text, params).explain(self, limits=limits)

    def to_networkx(self) -> Any:
        """The graph as a directed multigraph of NetworkX, with the fields of nodes and edges."""
        import networkx

        data = json.loads(self.export("node-link")["graph.json"])
        result: Any = networkx.MultiDiGraph()
        # None of these as arguments by name: the names are those of the document.
        result.graph.update(data.get("graph", {}))
        result.add_nodes_from((node.pop("id"), node) for node in data["nodes"])
        for edge in data.get("edges", data.get("links", [])):
            start, end, key = edge.pop("source"), edge.pop("target"), edge.pop("key", None)
            key = result.add_edge(start, end, key if isinstance(key, (str, int, float)) else None)
            result.edges[start, end, key].update(edge)
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
            word(title) if title is not None else None,
            int(dark),
        )
        with ExitStack() as reading:
            for result in (marked, only):
                if result is not None:
                    reading.enter_context(result._reading)
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
        words = (word(identity) if identity else None, word(",".join(ignore)))
        with within(limits, stop := Cancel()) as given:
            options = CDiffOptions(ctypes.sizeof(CDiffOptions), *words, tolerance, ctypes.pointer(given))
            arguments = (self._handle, _handle_of(newer), ctypes.byref(options))
            text = take_buffer(make_interruptibly(lib.pidq_graph_diff, "buffer", stop, *arguments))
        changes: dict[str, Any] = json.loads(text)
        return changes

    def export(self, format: str, path: Union[str, os.PathLike[str], None] = None) -> dict[str, bytes]:
        """The graph in a format, such as ``graphml`` or ``xlsx``: files by name. With a path they are also written."""
        files = take_files(make(lib.pidq_graph_export, self._handle, word(format)))
        save(files, path)
        return files

    def json_bytes(self) -> bytes:
        """The document as JSON in UTF-8, as it was read."""
        return compiled("get()").run(self, limits=_ALL).json_bytes()

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

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self)._read, (self.json_bytes(), self._topology)

    def __del__(self) -> None:
        _delete_graph(getattr(self, "_handle", None))


_LISTS = {"nodes": "nodes()", "edges": "edges()"}

#: Bytes of JSON for the values of a query that is kept.
_LONGEST_KEPT = 4096

#: The whole document, however long.
_ALL = Limits(output=1 << 40)


def join(*sheets: Graph, limits: Optional[Limits] = None) -> Graph:
    """Several sheets as one graph, joined at their off-page connectors.

    What could not be matched stands in ``.pid_graph.metadata.joined``.
    """
    handles = (c_void_p * len(sheets))(*map(_handle_of, sheets))
    with within(limits, stop := Cancel()) as given:
        arguments = (handles, len(sheets), ctypes.byref(given))
        return Graph._of(make_interruptibly(lib.pidq_graph_join_with, "graph", stop, *arguments))


def query(data: Any, text: Union[str, list[Any], Query], /, *, limits: Optional[Limits] = None, **params: Any) -> Any:
    """Asks any Python data once.

    >>> import pidq
    >>> pidq.query({"tags": ["P-101", "V-7"]}, ".tags | size()")
    2
    """
    return _compiled(text, params)(data, limits=limits)


def as_graph(data: Any) -> Graph:
    """A graph as it is; any other Python data read as JSON."""
    return data if isinstance(data, Graph) else Graph.from_json(dumps(data).encode())


def _compiled_with(text: str, params: dict[str, Any]) -> Query:
    """Not kept where the values are long: there may be hundreds of queries that are kept."""
    given = dumps(params)
    return compiled(text, given) if len(given) <= _LONGEST_KEPT else compiled.__wrapped__(text, given)


def _handle_of(graph: Graph) -> Optional[int]:
    if not isinstance(graph, Graph):
        raise TypeError(f"a pidq.Graph is needed here, and no {type(graph).__name__}")
    return graph._handle


def _compiled(text: Union[str, list[Any], Query], params: dict[str, Any]) -> Query:
    if isinstance(text, str):
        return _compiled_with(text, params) if params else compiled(text)
    if not isinstance(text, Query):
        return Query(text, **params)
    if params:
        raise TypeError("a compiled query has its parameters already")
    return text


def _json_of(source: Source) -> bytes:
    if isinstance(source, str):
        # A mark of the byte order is the library's to refuse: no file is called so.
        return source.encode() if source.lstrip("\ufeff \t\r\n").startswith(("{", "[")) else _file(source)
    if isinstance(source, (bytes, bytearray, memoryview)):
        return bytes(source)
    if isinstance(source, (list, dict)):
        return dumps(source).encode()
    return _file(source)


def _file(path: Union[str, os.PathLike[str]]) -> bytes:
    # Not a number: `open` takes it for a file that somebody else has open.
    with open(os.fspath(path), "rb") as file:
        return file.read()


def _edges(graph: Any) -> Iterator[tuple[Any, Any, dict[str, Any]]]:
    """The edges of a graph of NetworkX; those of several between two nodes have a key, which may be a name."""
    if not graph.is_multigraph():
        yield from graph.edges(data=True)
        return
    for start, end, key, fields in graph.edges(keys=True, data=True):
        yield start, end, {"key": key, **fields} if isinstance(key, str) else fields


def _plain(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that JSON has a place for."""
    plain = {}
    for name, value in fields.items():
        try:
            dumps(value)
        except (TypeError, ValueError):
            continue
        plain[str(name)] = value
    return plain
