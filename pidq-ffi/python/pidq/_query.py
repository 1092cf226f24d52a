"""Queries and their results."""

from __future__ import annotations

import ctypes
import html
import json
import os
import sys
import threading
import warnings
from collections.abc import Iterator, Mapping
from ctypes import byref, c_void_p
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Optional, Union

from ._error import QueryWarning
from ._ffi import Slice, check, deleter, lib, made, make, stream_capsule, take_buffer, take_files, value_of
from ._handle import Handle, refuse_to_make
from ._json import dumps, word
from ._limits import Cancel, Limits, within
from ._watch import SHORT_AT, cut, make_interruptibly, ran_out

if TYPE_CHECKING:
    from ._graph import Graph

_delete_query = deleter("query")
_delete_params = deleter("params")
_delete_result = deleter("result")
_delete_rows = deleter("rows")
_run = lib.pidq_query_run
_warnings = lib.pidq_result_warnings

_HERE = os.path.dirname(__file__)

#: Rows that a notebook shows.
_SHOWN = 20
#: Bytes that are copied sooner than lent: a type for so many takes Python longer.
_SHORT = 1 << 16
#: ``[]``: nothing to warn about.
_NOTHING = 2


class Query(Handle):
    """A compiled query. It does not change; any number of threads may run it.

    >>> import pidq
    >>> query = pidq.Query("filter(.kw > $least) | map(.tag)", least=10)
    >>> query([{"tag": "P-101", "kw": 15}, {"tag": "P-102", "kw": 7.5}])
    ['P-101']
    """

    __slots__ = ("_handle", "_is_long", "_params")

    def __init__(self, text: Union[str, list[Any]], /, **params: Any) -> None:
        self._handle: Optional[int] = None
        self._is_long = False
        if not isinstance(text, (str, list)):
            raise TypeError(f"a query is a text, or a list in JSON format, and no {type(text).__name__}")
        self._params = dumps(params)
        values = lib.pidq_params_new()
        try:
            for name, value in params.items():
                given = dumps(value).encode()
                check(lib.pidq_params_set_json(values, word(name), given, len(given)))
            if isinstance(text, str):
                source, parse = text.encode("utf-8", "surrogatepass"), lib.pidq_query_parse_with
            else:
                source, parse = dumps(text).encode(), lib.pidq_query_from_json
            self._handle = make(parse, source, len(source), values)
        finally:
            _delete_params(values)

    def __call__(self, graph: Union[Graph, Any], /, *, limits: Optional[Limits] = None, shared: bool = False) -> Any:
        """Asks a graph, or any Python data, and gives plain Python data.

        With ``shared``, lists and objects of the document are the same Python objects each time: many times as fast
        where many rows are given again. Nobody may change them then.
        """
        from ._graph import as_graph

        # Hot: a call on a small graph takes as long as what stands here.
        graph = as_graph(graph)
        with _Held(self._ask(graph, limits)) as result:
            return value_of(result, graph._shared_objects() if shared else None)

    def run(self, graph: Union[Graph, Any], /, *, limits: Optional[Limits] = None) -> Result:
        """Asks a graph, and gives a result that can be read in several ways."""
        from ._graph import as_graph

        return Result._of(self._ask(as_graph(graph), limits))

    def _ask(self, graph: Graph, limits: Optional[Limits]) -> int:
        """The handle of a result. Runs short queries at once, and those that turn out to be long once more."""
        if self._is_long or (limits is not None and limits.timeout is not None):
            return self._ask_long(graph, limits)
        out = c_void_p()
        may_be_long = True
        if limits is None:
            error = _run(self._handle, graph._handle, SHORT_AT, byref(out))
        else:
            with within(limits) as given:
                may_be_long = cut(given)
                error = _run(self._handle, graph._handle, byref(given), byref(out))
        if error and may_be_long and ran_out(error):
            self._is_long = True
            return self._ask_long(graph, limits)
        return made(error, out)

    def _ask_long(self, graph: Graph, limits: Optional[Limits]) -> int:
        with within(limits, stop := Cancel()) as given:
            return make_interruptibly(_run, "result", stop, self._handle, graph._handle, byref(given))

    def explain(self, graph: Union[Graph, Any], /, *, limits: Optional[Limits] = None) -> Explanation:
        """Runs the query and tells what its calls did."""
        from ._graph import as_graph

        graph = as_graph(graph)
        with within(limits, stop := Cancel()) as given:
            buffer = make_interruptibly(
                lib.pidq_query_explain, "buffer", stop, self._handle, graph._handle, byref(given)
            )
        return Explanation(json.loads(take_buffer(buffer)))

    def check(self, graph: Union[Graph, Any, None] = None, /) -> list[dict[str, Any]]:
        """Tells what looks like a mistake, without a run; with a graph also fields that nothing has.

        >>> import pidq
        >>> pidq.Query("map(.tga)").check([{"tag": "P-101"}])[0]["help"]
        'did you mean `.tag`?'
        """
        from ._graph import as_graph

        asked = None if graph is None else as_graph(graph)
        buffer = make(lib.pidq_query_check, self._handle, asked._handle if asked else None)
        found: list[dict[str, Any]] = json.loads(take_buffer(buffer))
        return found

    def to_list(self) -> list[Any]:
        """The query in the JSON format.

        >>> import pidq
        >>> pidq.Query(".tags | size()").to_list()
        ['pipe', ['get', 'tags'], ['size']]
        """
        tree: list[Any] = json.loads(lib.pidq_query_tree(self._handle).bytes())
        return tree

    def __str__(self) -> str:
        return str(lib.pidq_query_text(self._handle).text())

    def __repr__(self) -> str:
        return f"Query({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Query) and (str(self), self._params) == (str(other), other._params)

    def __hash__(self) -> int:
        return hash((str(self), self._params))

    def __reduce__(self) -> tuple[Any, ...]:
        return _anew, (self.to_list(), self._params)

    def __del__(self) -> None:
        _delete_query(getattr(self, "_handle", None))


def _anew(tree: list[Any], params: str) -> Query:
    """A query that was pickled."""
    return Query(tree, **json.loads(params))


class _Held:
    """A result that is let go at the end of a block, its warnings told."""

    __slots__ = ("handle",)

    def __init__(self, handle: Optional[int]) -> None:
        self.handle = handle

    def __enter__(self) -> int:
        assert self.handle is not None
        return self.handle

    def __exit__(self, *_: object) -> None:
        found = _warnings(self.handle)
        text = found.bytes() if found.len > _NOTHING else None
        _delete_result(self.handle)
        if text is not None:
            tell(json.loads(text))


def tell(found: list[dict[str, Any]]) -> None:
    """Warns of what looks like a mistake in a query, at the line that asked."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_HERE):
        level, frame = level + 1, frame.f_back
    for one in found:
        help_text = f"; {one['help']}" if one.get("help") else ""
        warnings.warn(f"{one['code']}: {one['message']}{help_text}", QueryWarning, stacklevel=level)


@lru_cache(maxsize=256)
def compiled(text: str, params: str = "{}") -> Query:
    """A query that was compiled before, or a new one."""
    return Query(text, **json.loads(params))


class Result(Handle):
    """What a query gave: Python data, JSON, rows, columns, files. Threads that read it wait for each other.

    >>> import pidq
    >>> result = pidq.Query("sort(.kw)").run([{"tag": "P-101", "kw": 15}, {"tag": "P-102", "kw": 7.5}])
    >>> len(result), result.value()[0]
    (2, {'tag': 'P-102', 'kw': 7.5})
    >>> [row["tag"] for row in result]
    ['P-102', 'P-101']
    """

    __slots__ = ("_handle", "_reading")

    _handle: Optional[int]
    _reading: Any

    def __init__(self, *_: object, **__: object) -> None:
        self._handle = None
        refuse_to_make("Result", "Query.run and Graph.run give one")

    @classmethod
    def _of(cls, handle: int) -> Result:
        result = cls.__new__(cls)
        result._handle = handle
        # The library has a result read by one thread at a time. One and the same may come back in: a finalizer.
        result._reading = threading.RLock()
        return result

    def value(self) -> Any:
        """The result as plain Python data."""
        with self._reading:
            return value_of(self._held())

    def json(self) -> str:
        """The result as JSON text; what passed through the query keeps its digits."""
        return self.json_bytes().decode()

    def json_bytes(self) -> bytes:
        """The result as JSON in UTF-8."""
        return bytes(self._json().bytes())

    def json_view(self) -> memoryview:
        """The result as JSON in UTF-8, without a copy where it is long. The view holds on to the result."""
        text = self._json()
        if text.len <= _SHORT:
            return memoryview(text.bytes())
        kind: Any = type("_Json", (ctypes.c_char * text.len,), {})
        lent = kind.from_address(text.data)
        lent._result = self
        return memoryview(lent).cast("B").toreadonly()

    def _json(self) -> Slice:
        with self._reading:
            text: Slice = lib.pidq_result_json(self._held())
            if not text.data:
                check(lib.pidq_result_write(self._held(), _ignore, None))
            return text

    @property
    def fuel(self) -> int:
        """The steps that the run took."""
        return int(lib.pidq_result_fuel(self._held()))

    @property
    def warnings(self) -> list[dict[str, Any]]:
        """What looks like a mistake in the query."""
        with self._reading:
            text = _warnings(self._held())
        found: list[dict[str, Any]] = json.loads(text.bytes())
        return found

    def to_arrow(self) -> Any:
        """The result as a table of pyarrow, which takes the columns over without copying them."""
        import pyarrow  # type: ignore[import-untyped, unused-ignore]

        return pyarrow.table(self)

    def to_polars(self) -> Any:
        """The result as a data frame of Polars."""
        import polars

        return polars.DataFrame(self)

    def to_pandas(self) -> Any:
        """The result as a data frame of pandas."""
        import pandas

        try:
            return self.to_arrow().to_pandas()
        except ImportError:
            return pandas.DataFrame(self._rows())

    def _rows(self) -> list[Any]:
        value = self.value()
        return value if isinstance(value, list) else [value]

    def export(self, format: str, path: Union[str, os.PathLike[str], None] = None) -> dict[str, bytes]:
        """The result in a format, such as ``csv`` or ``xlsx``: files by name. With a path they are also written."""
        with self._reading:
            files = take_files(make(lib.pidq_result_export, self._held(), word(format)))
        save(files, path)
        return files

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        with self._reading:
            return stream_capsule(self._held())

    def __iter__(self) -> Iterator[Any]:
        """The rows one after the other: only one is made at a time."""
        rows, row = make(lib.pidq_rows_new, self._held()), Slice()
        try:
            while True:
                with self._reading:
                    check(lib.pidq_rows_next(rows, byref(row)))
                if not row.data:
                    return
                yield json.loads(row.bytes())
        finally:
            _delete_rows(rows)

    def __len__(self) -> int:
        return int(lib.pidq_result_count(self._held()))

    def __repr__(self) -> str:
        return f"Result({len(self)} rows, {self.fuel} fuel)"

    def _repr_html_(self) -> str:
        return table_html(list(islice(self, _SHOWN)), len(self))

    def _held(self) -> int:
        assert self._handle is not None
        return self._handle

    def __del__(self) -> None:
        _delete_result(getattr(self, "_handle", None))


_Write = ctypes.CFUNCTYPE(ctypes.c_bool, c_void_p, c_void_p, ctypes.c_size_t)
lib.pidq_result_write.argtypes, lib.pidq_result_write.restype = [c_void_p, _Write, c_void_p], c_void_p


def _accept(user: object, data: object, length: object) -> bool:
    return True


#: Takes all pieces and keeps none: for what only the error is asked of.
_ignore = _Write(_accept)


class Explanation(Mapping[str, Any]):
    """What the calls of a query did: ``fuel``, ``rows``, ``steps``, ``warnings``; printed, it is a table."""

    def __init__(self, told: dict[str, Any]) -> None:
        self._text: str = told.pop("text")
        self._told = told

    def __getitem__(self, key: str) -> Any:
        return self._told[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._told)

    def __len__(self) -> int:
        return len(self._told)

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return self._text


class Drawing(str):
    """A drawing as SVG text, which notebooks show."""

    __slots__ = ()

    def _repr_svg_(self) -> str:
        return str(self)

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes the drawing to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self)


def save(files: dict[str, bytes], path: Union[str, os.PathLike[str], None]) -> None:
    """Writes the files of a format: one to the path, several into a folder of that name."""
    if path is None:
        return
    if len(files) > 1:
        os.makedirs(path, exist_ok=True)
    for name, content in files.items():
        place = os.path.join(path, name) if len(files) > 1 else path
        with open(place, "wb") as file:
            file.write(content)


def table_html(rows: list[Any], count: int) -> str:
    """The first rows as an HTML table."""
    records = [row if isinstance(row, dict) else {"value": row} for row in rows[:_SHOWN]]
    names = list(dict.fromkeys(name for record in records for name in record))
    head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
    body = "".join(
        "<tr>" + "".join(f"<td>{_cell(record, name)}</td>" for name in names) + "</tr>" for record in records
    )
    more = f"<p>{len(records)} of {count} rows</p>" if count > len(records) else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _cell(record: dict[str, Any], name: str) -> str:
    value = record.get(name)
    if value is None:
        return ""
    return html.escape(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
