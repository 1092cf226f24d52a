"""Graphs: documents that are queried, usually drawings."""

from __future__ import annotations

import ctypes
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from ctypes import c_void_p
from typing import Any, Optional, Union, cast

from ._document import Document, as_document
from ._error import FileError, raise_file_error
from ._ffi import CDiffOptions, CDrawOptions, lib, make, slices, take_buffer, take_files
from ._handle import Owner, raise_not_constructible
from ._interrupt import make_interruptibly
from ._json import Default, Readable, Writable, c_string, dumps
from ._limits import Cancel, Limits, call_limits
from ._query import PreparedQuery, Query, bound, compiled, merged
from ._result import Drawing, Result, RunProfile, save, table_html

Bytes = Union[bytes, bytearray, memoryview]
#: A file: its path, or an object that is open for reading.
File = Union[str, "os.PathLike[str]", Readable]
Source = Union[File, Bytes, "list[Any]", "tuple[Any, ...]", "Mapping[str, Any]"]

#: Number of nodes up to which a notebook draws a graph.
_MAX_DRAWN_NODES = 300
#: Number of nodes that a notebook lists.
_LISTED_NODES = 20


class Graph(Document):
    """An immutable document. Any number of threads may use it. Leaving a ``with`` block closes it.

    >>> import pidq
    >>> graph = pidq.Graph.from_json('{"nodes": [{"id": "P-101", "kw": 15}, {"id": "V-7"}], "edges": []}')
    >>> graph.query(".nodes | filter(.kw > $least) | map(.id)", least=10)
    ['P-101']
    """

    __slots__ = ()

    def __init__(self, *_: object, **__: object) -> None:
        self._owner = None
        raise_not_constructible("Graph", "use Graph.from_json or Graph.from_file")

    @classmethod
    def from_json(
        cls, source: Source, *, topology: Optional[Mapping[str, Any]] = None, default: Optional[Default] = None
    ) -> Graph:
        """Reads JSON: bytes, a str that begins with ``{`` or ``[``, an open file or its path, or Python data.

        ``topology`` configures the field names and classes of nodes and edges, if they are not the default ones.
        ``default`` converts Python objects of other types, as in ``json.dumps``.
        """
        return cls._parse(_json_of(source, default), None if topology is None else dumps(dict(topology)).encode())

    @classmethod
    def from_file(cls, file: File) -> Graph:
        """Reads a file, given as its path or open: JSON, Proteus XML, DEXPI 2.0 XML or GraphML.

        >>> import io
        >>> import pidq
        >>> pidq.Graph.from_file(io.BytesIO(b'{"nodes": [{"id": "P-1"}], "edges": []}'))
        Graph(1 nodes, 0 edges)
        """
        if _is_open_file(file):
            content = _content(file)
            return cls._from_handle(make(lib.pidq_graph_read, content, len(content)))
        path = cast("Union[str, os.PathLike[str]]", file)
        name = os.fsencode(path)
        if b"\0" in name:
            raise ValueError(f"unexpected NUL character in the path {path!r}")
        try:
            return cls._from_handle(make(lib.pidq_graph_open, name))
        except FileError:
            _check_readable(path)
            raise

    @classmethod
    def open(cls, path: Union[str, os.PathLike[str]]) -> Graph:
        """Opens the file at a path, as ``from_file`` does: JSON, Proteus XML, DEXPI 2.0 XML or GraphML.

        >>> import pathlib
        >>> import tempfile
        >>> import pidq
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "plant.json")
        ...     _ = path.write_text('{"nodes": [{"id": "P-1"}], "edges": []}')
        ...     pidq.Graph.open(path)
        Graph(1 nodes, 0 edges)
        """
        if not isinstance(path, (str, os.PathLike)):
            raise TypeError(
                f"a path must be a str or an os.PathLike, not {type(path).__name__}; from_file reads open files"
            )
        return cls.from_file(path)

    @classmethod
    def from_format(cls, format: str, *sources: Union[File, Bytes]) -> Graph:
        """Imports a drawing in a format from its files, given as bytes, as paths or open.

        Findings are in ``.pid_graph.metadata.diagnostics``.
        """
        parts = [_content(source) for source in sources]
        return cls._from_handle(make(lib.pidq_graph_import, c_string(format), slices(parts), len(parts)))

    @classmethod
    def from_proteus(cls, source: Union[File, Bytes]) -> Graph:
        """Imports Proteus XML (DEXPI), given as bytes, as a path or open."""
        return cls.from_format("proteus", source)

    @classmethod
    def from_networkx(cls, graph: Any) -> Graph:
        """Converts a NetworkX graph; the names of its nodes become their ids.

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
        params: Optional[Mapping[str, Any]] = None,
        /,
        *,
        limits: Optional[Limits] = None,
        shared: bool = False,
        default: Optional[Default] = None,
        **named_params: Any,
    ) -> Any:
        """Runs a query and returns plain Python data. ``$name`` is the argument ``name``, or that key of ``params``.

        ``default`` converts values of other types, as in ``json.dumps``.

        Compiled queries are cached. With ``shared``, lists and objects of the document are the same Python objects each
        time, which is many times faster for repeated rows. Shared objects must not be modified.
        """
        return _compiled(text, params, named_params, default)(self, limits=limits, shared=shared)

    def run(
        self,
        text: Union[str, list[Any], Query],
        params: Optional[Mapping[str, Any]] = None,
        /,
        *,
        limits: Optional[Limits] = None,
        default: Optional[Default] = None,
        **named_params: Any,
    ) -> Result:
        """Runs a query and returns a result that can be read as JSON, as rows or as columns."""
        return _compiled(text, params, named_params, default).run(self, limits=limits)

    def explain(
        self,
        text: Union[str, list[Any], Query],
        params: Optional[Mapping[str, Any]] = None,
        /,
        *,
        limits: Optional[Limits] = None,
        default: Optional[Default] = None,
        **named_params: Any,
    ) -> RunProfile:
        """Runs a query and returns its profile."""
        return _compiled(text, params, named_params, default).explain(self, limits=limits)

    def to_networkx(self) -> Any:
        """Converts the graph to a directed NetworkX multigraph, with the fields of nodes and edges."""
        import networkx

        data = json.loads(self.export("node-link")["graph.json"])
        result: Any = networkx.MultiDiGraph()
        # Not passed as keyword arguments, since the names are those of the document.
        result.graph.update(data.get("graph", {}))
        result.add_nodes_from((node.pop("id"), node) for node in data["nodes"])
        for edge in data.get("edges", data.get("links", [])):
            start, end, key = edge.pop("source"), edge.pop("target"), edge.pop("key", None)
            key = result.add_edge(start, end, key if isinstance(key, (str, int, float)) else None)
            result.edges[start, end, key].update(edge)
        return result

    def to_dataframe(
        self,
        what: Union[str, list[Any], Query] = "nodes",
        params: Optional[Mapping[str, Any]] = None,
        *,
        library: str = "pandas",
        limits: Optional[Limits] = None,
        default: Optional[Default] = None,
        **named_params: Any,
    ) -> Any:
        """Returns nodes, edges, or the result of a query, as a ``pandas`` or ``polars`` data frame.

        ``$name`` is the argument ``name``, or that key of ``params``, as in ``query``.
        """
        if library not in ("pandas", "polars"):
            raise ValueError(f"library must be 'pandas' or 'polars', not {library!r}")
        result = _compiled(_list_query(what), params, named_params, default).run(self, limits=limits)
        return result.to_polars() if library == "polars" else result.to_pandas()

    def to_arrow(
        self,
        what: Union[str, list[Any], Query] = "nodes",
        params: Optional[Mapping[str, Any]] = None,
        *,
        limits: Optional[Limits] = None,
        default: Optional[Default] = None,
        **named_params: Any,
    ) -> Any:
        """Returns nodes, edges, or the result of a query, as a pyarrow table; parameters as in ``to_dataframe``."""
        return _compiled(_list_query(what), params, named_params, default).run(self, limits=limits).to_arrow()

    def draw(
        self,
        *,
        highlight: Union[str, Query, Result, None] = None,
        select: Union[str, Query, Result, None] = None,
        dark: bool = False,
        title: Optional[str] = None,
    ) -> Drawing:
        """Draws the graph, at its own positions or with automatic layout.

        ``highlight`` marks the nodes and edges of a query result; ``select`` draws only the nodes of one.
        """
        marked, only = self._to_result(highlight), self._to_result(select)
        with ExitStack() as reading:
            for result in (marked, only):
                if result is not None:
                    reading.enter_context(result._reading)
            options = CDrawOptions(
                ctypes.sizeof(CDrawOptions),
                marked._open().handle if marked is not None else None,
                only._open().handle if only is not None else None,
                c_string(title) if title is not None else None,
                int(dark),
            )
            return Drawing(take_buffer(make(lib.pidq_graph_draw, self._open(), ctypes.byref(options))))

    def diff(
        self,
        newer: Graph,
        *,
        identity: Optional[str] = None,
        ignore: Iterable[str] = (),
        tolerance: float = 0.0,
        limits: Optional[Limits] = None,
    ) -> dict[str, Any]:
        """Returns the changes from this revision to a newer one."""
        c_strings = (c_string(identity) if identity else None, c_string(",".join(ignore)))
        with call_limits(limits, stop := Cancel()) as c_limits:
            options = CDiffOptions(ctypes.sizeof(CDiffOptions), *c_strings, tolerance, ctypes.pointer(c_limits))
            arguments = (self._open(), _owner_of(newer), ctypes.byref(options))
            text = take_buffer(make_interruptibly(lib.pidq_graph_diff, "buffer", stop, *arguments))
        changes: dict[str, Any] = json.loads(text)
        return changes

    def export(self, format: str, file: Union[str, os.PathLike[str], Writable, None] = None) -> dict[str, bytes]:
        """Exports the graph in a format such as ``graphml``. Returns files by name.

        With a path, or a file that is open in binary mode, also writes them.
        """
        files = take_files(make(lib.pidq_graph_export, self._open(), c_string(format)))
        save(files, file)
        return files

    def json_bytes(self) -> bytes:
        """Returns the document as JSON in UTF-8, as it was read."""
        return compiled("get()").run(self, limits=_UNLIMITED_OUTPUT).json_bytes()

    @property
    def size(self) -> int:
        """The memory size of the graph in bytes, without the text of the document."""
        return int(lib.pidq_graph_size(self._open()))

    def _to_result(self, what: Union[str, Query, Result, None]) -> Optional[Result]:
        return what if what is None or isinstance(what, Result) else self.run(what)

    def _count(self) -> Optional[tuple[int, int]]:
        counts = compiled("{nodes: nodes() | size(), edges: edges() | size()}")
        try:
            found = counts(self)
        except Exception:  # A document without a graph.
            return None
        return found["nodes"], found["edges"]

    def __repr__(self) -> str:
        if self.closed:
            return "Graph(closed)"
        counts = self._count()
        return f"Graph({counts[0]} nodes, {counts[1]} edges)" if counts else "Graph(no nodes)"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """Returns the notebook view: a drawing if the graph is small, and the first nodes."""
        bundle, counts = {"text/plain": repr(self)}, self._count()
        if counts is None:
            return bundle
        first = compiled(f"nodes() | limit({_LISTED_NODES})")(self)
        bundle["text/html"] = table_html(first, counts[0])
        if 0 < counts[0] <= _MAX_DRAWN_NODES:
            bundle["image/svg+xml"] = self.draw()
        return bundle

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self)._parse, (self.json_bytes(), self._topology)


_LIST_QUERIES = {"nodes": "nodes()", "edges": "edges()"}


def _list_query(what: Union[str, list[Any], Query]) -> Union[str, list[Any], Query]:
    """Returns the query of ``nodes`` or ``edges``; any other query unchanged."""
    return _LIST_QUERIES.get(what, what) if isinstance(what, str) else what


#: Limits for reading the whole document.
_UNLIMITED_OUTPUT = Limits(output=1 << 40)


def join(*sheets: Graph, limits: Optional[Limits] = None) -> Graph:
    """Joins several sheets at their off-page connectors into one graph.

    Unmatched connectors are listed in ``.pid_graph.metadata.joined``.
    """
    owners = [_owner_of(sheet) for sheet in sheets]
    handles = (c_void_p * len(owners))(*(owner.handle for owner in owners))
    with call_limits(limits, stop := Cancel()) as c_limits:
        arguments = (handles, len(sheets), ctypes.byref(c_limits))
        return Graph._from_handle(make_interruptibly(lib.pidq_graph_join_with, "graph", stop, *arguments))


def query(
    data: Any,
    text: Union[str, list[Any], Query],
    params: Optional[Mapping[str, Any]] = None,
    /,
    *,
    limits: Optional[Limits] = None,
    default: Optional[Default] = None,
    **named_params: Any,
) -> Any:
    """Runs a query on any Python data. ``default`` converts objects of other types, as in ``json.dumps``, also those of
    parameters.

    >>> import pidq
    >>> pidq.query({"tags": ["P-101", "V-7"]}, ".tags | size()")
    2
    """
    return _compiled(text, params, named_params, default)(as_document(data, default), limits=limits)


def _owner_of(graph: Graph) -> Owner:
    if not isinstance(graph, Graph):
        raise TypeError(f"expected a pidq.Graph, not {type(graph).__name__}")
    return graph._open()


def _compiled(
    text: Union[str, list[Any], Query],
    params: Optional[Mapping[str, Any]],
    named_params: dict[str, Any],
    default: Optional[Default] = None,
) -> Query:
    if params or default is not None:
        named_params = merged(params, named_params, default)
    return _compiled_query(text, named_params)


def _compiled_query(text: Union[str, list[Any], Query], params: dict[str, Any]) -> Query:
    if isinstance(text, str):
        return bound(text, params) if params else compiled(text)
    if isinstance(text, PreparedQuery):
        return text.bind(params)
    if not isinstance(text, Query):
        return Query(text, params)
    if params:
        raise TypeError("a compiled query already has its parameters: Query.prepare compiles one for any parameters")
    return text


def _json_of(source: Source, default: Optional[Default]) -> bytes:
    if isinstance(source, str):
        # The library rejects a byte order mark; it does not start a path.
        return source.encode() if source.lstrip("\ufeff \t\r\n").startswith(("{", "[")) else _content(source)
    if isinstance(source, (list, tuple, Mapping)):
        return dumps(source, default).encode()
    return _content(source)


def _content(source: Union[File, Bytes]) -> bytes:
    """Returns the content of a file, which is open or given by its path; bytes are returned unchanged."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return bytes(source)
    if _is_open_file(source):
        content = cast(Readable, source).read()
        return content.encode() if isinstance(content, str) else bytes(content)
    # `fspath` rejects integers, which `open` would take as file descriptors.
    path = os.fspath(cast("Union[str, os.PathLike[str]]", source))
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise_file_error(path, error)


def _check_readable(path: Union[str, os.PathLike[str]]) -> None:
    """Raises the error of a file that cannot be opened. The library says why in its message only."""
    try:
        with open(path, "rb"):
            pass
    except OSError as error:
        raise_file_error(path, error)


def _is_open_file(source: Any) -> bool:
    return not isinstance(source, (str, os.PathLike)) and callable(getattr(source, "read", None))


def _edges(graph: Any) -> Iterator[tuple[Any, Any, dict[str, Any]]]:
    """Yields the edges of a NetworkX graph; those of a multigraph with their key if it is a str."""
    if not graph.is_multigraph():
        yield from graph.edges(data=True)
        return
    for start, end, key, fields in graph.edges(keys=True, data=True):
        yield start, end, {"key": key, **fields} if isinstance(key, str) else fields


def _plain(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the fields that can be converted to JSON."""
    plain = {}
    for name, value in fields.items():
        try:
            dumps(value)
        except (TypeError, ValueError):
            continue
        plain[str(name)] = value
    return plain
