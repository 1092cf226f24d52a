"""Queries and their results."""

from __future__ import annotations

import ctypes
import html
import json
import os
import sys
import threading
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from ctypes import byref, c_void_p
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Optional, Union, overload

from ._error import QueryWarning
from ._ffi import (
    Slice,
    build_items,
    check,
    deleter,
    handle_or_raise,
    lib,
    make,
    slices,
    stream_capsule,
    take_buffer,
    take_files,
    value_of,
)
from ._handle import ClosableHandle, Owner, raise_not_constructible
from ._interrupt import SHORT_LIMITS_ADDRESS, is_out_of_fuel, limit_fuel, make_interruptibly
from ._json import Writable, c_string, dumps
from ._limits import Cancel, Limits, call_limits

if TYPE_CHECKING:
    from ._graph import Graph

_delete_query = deleter("query")
_delete_params = deleter("params")
_delete_result = deleter("result")
_delete_batch = deleter("batch")
_run = lib.pidq_query_run
_run_with = lib.pidq_query_run_with
_warnings = lib.pidq_result_warnings

_HERE = os.path.dirname(__file__)

#: Rows that a loop over a result builds at a time, after the first ones.
_BLOCK_ROWS = 256
#: Step of a slice up to which the rows between are built too.
_MAX_BUILT_STEP = 8

#: Rows that a notebook displays.
_TABLE_ROWS = 20
#: Size in bytes up to which JSON is copied: creating a ctypes array type takes longer.
_COPY_SIZE = 1 << 16
#: Size in bytes up to which parameters are part of a cached query.
_MAX_CACHED_PARAMS = 4096
#: Types of parameters with which a query is compiled once for all values.
_SCALARS = frozenset((str, int, float, bool, type(None)))
#: Size of ``[]``: no warnings.
_EMPTY_JSON_SIZE = 2


class Query(ClosableHandle):
    """A compiled query. It is immutable; any number of threads may run it.

    >>> import pidq
    >>> query = pidq.Query("filter(.kw > $least) | map(.tag)", least=10)
    >>> query([{"tag": "P-101", "kw": 15}, {"tag": "P-102", "kw": 7.5}])
    ['P-101']
    """

    __slots__ = ("_is_long", "_params")

    def __init__(
        self, text: Union[str, list[Any]], params: Optional[Mapping[str, Any]] = None, /, **named_params: Any
    ) -> None:
        self._owner = None
        self._is_long = False
        values_by_name = merged(params, named_params) if params else named_params
        if not isinstance(text, (str, list)):
            raise TypeError(f"a query must be a str, or a list in the JSON format, not {type(text).__name__}")
        self._params = dumps(values_by_name)
        values = _new_params(values_by_name)
        try:
            if isinstance(text, str):
                source, parse = text.encode("utf-8", "surrogatepass"), lib.pidq_query_parse_with
            else:
                source, parse = dumps(text).encode(), lib.pidq_query_from_json
            self._owner = Owner(make(parse, source, len(source), values), _delete_query)
        finally:
            _delete_params(values)

    @staticmethod
    def prepare(text: str) -> PreparedQuery:
        """Compiles a query once for many runs with different values of its parameters.

        >>> import pidq
        >>> pidq.Query.prepare("$a + $b").bind(a=1, b=2)(None)
        3
        """
        return PreparedQuery(text)

    def __call__(self, graph: Union[Graph, Any], /, *, limits: Optional[Limits] = None, shared: bool = False) -> Any:
        """Runs the query on a graph, or any Python data, and returns plain Python data.

        With ``shared``, lists and objects of the document are the same Python objects each time, which is many times
        faster for repeated rows. Shared objects must not be modified.
        """
        from ._graph import as_graph

        # Hot: on a small graph, this code dominates the time of a call.
        graph = as_graph(graph)
        with _ResultGuard(self._run_query(graph, limits)) as result:
            return value_of(result, graph._shared_objects() if shared else None)

    def run(self, graph: Union[Graph, Any], /, *, limits: Optional[Limits] = None) -> Result:
        """Runs the query on a graph and returns a result that can be read in several ways."""
        from ._graph import as_graph

        return Result._of(self._run_query(as_graph(graph), limits))

    def run_batch(self, documents: Sequence[Any], /, *, limits: Optional[Limits] = None) -> Batch:
        """Runs the query on each of several documents: JSON as bytes, or as buffers of pyarrow, which are not copied.

        Only the values that the query can read are loaded, which takes a fraction of the time. ``limits`` apply to each
        document, except the timeout, which is that of the batch.

        A batch ends before a document in which a column has another type than before, and after many rows: run the
        documents from ``batch.count`` on in another one.

        >>> import pidq
        >>> batch = pidq.Query("map(.tag)").run_batch([b'[{"tag": "P-101"}]', b"[", b'[{"tag": "V-7"}]'])
        >>> batch.count, [(failure["document"], failure["error"]["code"]) for failure in batch.failures]
        (3, [(1, 'PQ5001')])
        >>> batch.to_arrow().to_pydict()
        {'document': [0, 1, 2], 'value': ['P-101', None, 'V-7']}
        """
        with call_limits(limits, stop := Cancel()) as c_limits:
            parts = slices(documents)
            handle = make_interruptibly(
                lib.pidq_query_run_batch, "batch", stop, self._open(), parts, len(parts), byref(c_limits)
            )
        return Batch._of(handle)

    def _run_query(self, graph: Graph, limits: Optional[Limits]) -> int:
        """Returns the handle of a result."""
        # The owners keep the handles alive during the run.
        query, document = self._open(), graph._open()
        return self._run_limited(_run, (query._as_parameter_, document._as_parameter_), limits)

    def _run_limited(self, function: Any, arguments: tuple[Any, ...], limits: Optional[Limits]) -> int:
        """Runs short queries directly, and restarts those that turn out to be long."""
        if self._is_long or (limits is not None and limits.timeout is not None):
            return _run_interruptibly(function, arguments, limits)
        out = c_void_p()
        may_be_long = True
        if limits is None:
            error = function(*arguments, SHORT_LIMITS_ADDRESS, byref(out))
        else:
            with call_limits(limits) as c_limits:
                may_be_long = limit_fuel(c_limits)
                error = function(*arguments, byref(c_limits), byref(out))
        if error and may_be_long and is_out_of_fuel(error):
            self._is_long = True
            return _run_interruptibly(function, arguments, limits)
        return handle_or_raise(error, out)

    def explain(self, graph: Union[Graph, Any], /, *, limits: Optional[Limits] = None) -> RunProfile:
        """Runs the query and returns its profile."""
        from ._graph import as_graph

        graph = as_graph(graph)
        with call_limits(limits, stop := Cancel()) as c_limits:
            arguments = (self._open(), graph._open(), byref(c_limits))
            buffer = make_interruptibly(lib.pidq_query_explain, "buffer", stop, *arguments)
        return RunProfile(json.loads(take_buffer(buffer)))

    def check(self, graph: Union[Graph, Any, None] = None, /) -> list[dict[str, Any]]:
        """Returns warnings without running the query; with a graph, also about fields that do not exist in it.

        >>> import pidq
        >>> pidq.Query("map(.tga)").check([{"tag": "P-101"}])[0]["help"]
        'did you mean `.tag`?'
        """
        from ._graph import as_graph

        target = None if graph is None else as_graph(graph)
        buffer = make(lib.pidq_query_check, self._open(), None if target is None else target._open())
        found: list[dict[str, Any]] = json.loads(take_buffer(buffer))
        return found

    def to_list(self) -> list[Any]:
        """Returns the query in the JSON format.

        >>> import pidq
        >>> pidq.Query(".tags | size()").to_list()
        ['pipe', ['get', 'tags'], ['size']]
        """
        owner = self._open()
        tree: list[Any] = json.loads(lib.pidq_query_tree(owner).bytes())
        return tree

    def __str__(self) -> str:
        owner = self._open()
        return str(lib.pidq_query_text(owner).text())

    def __repr__(self) -> str:
        return "Query(closed)" if self.closed else f"Query({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Query) and (str(self), self._params) == (str(other), other._params)

    def __hash__(self) -> int:
        return hash((str(self), self._params))

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickle, (self.to_list(), self._params)


def _run_interruptibly(function: Any, arguments: tuple[Any, ...], limits: Optional[Limits]) -> int:
    with call_limits(limits, stop := Cancel()) as c_limits:
        return make_interruptibly(function, "result", stop, *arguments, byref(c_limits))


def _new_params(values: Mapping[str, Any]) -> int:
    """Returns the handle of parameters, which the caller deletes."""
    handle: int = lib.pidq_params_new()
    try:
        for name, value in values.items():
            encoded = dumps(value).encode()
            check(lib.pidq_params_set_json(handle, c_string(name), encoded, len(encoded)))
    except BaseException:
        _delete_params(handle)
        raise
    return handle


class PreparedQuery(Query):
    """A query that is compiled once and run with different values of its parameters. Any number of threads may use it.

    Every ``$name`` that the query does not bind itself is a parameter.

    >>> import pidq
    >>> query = pidq.Query.prepare("filter(.kw > $least) | map(.tag)")
    >>> query.parameters
    ['least']
    >>> pumps = pidq.Graph.from_json([{"tag": "P-101", "kw": 15}, {"tag": "P-102", "kw": 7.5}])
    >>> query.bind(least=10)(pumps)
    ['P-101']
    >>> list(query.run_many(pumps, [{"least": 5}, {"least": 20}]))
    [['P-101', 'P-102'], []]
    """

    __slots__ = ("_is_usable", "_last_hash")

    def __init__(self, text: str) -> None:
        self._owner, self._is_long, self._params = None, False, ""
        if not isinstance(text, str):
            raise TypeError(f"a query to prepare must be a str, not {type(text).__name__}")
        source = text.encode("utf-8", "surrogatepass")
        self._owner = Owner(make(lib.pidq_query_prepare, source, len(source)), _delete_query)
        #: ``None`` until values have been compiled with the query.
        self._is_usable: Optional[bool] = None
        #: Hash of the values of the last run.
        self._last_hash: Optional[int] = None

    @property
    def parameters(self) -> list[str]:
        """The names of the parameters, in the order of their first use."""
        owner = self._open()
        names: list[str] = json.loads(lib.pidq_query_parameters(owner).bytes())
        return names

    def bind(self, params: Optional[Mapping[str, Any]] = None, /, **named_params: Any) -> Query:
        """Returns the query with a value for each parameter: the argument ``name``, or that key of ``params``.

        A missing value and a name that the query does not have raise ``SyntaxError``. Nothing is compiled, unless the
        language requires a constant, as for ``limit($count)``.
        """
        values = merged(params, named_params) if params else named_params
        query = _BoundQuery(self, str(self), values)
        if values.keys() != set(self.parameters):
            # The names are checked before the run.
            query.run(None)
        return query

    def run_many(
        self,
        graph: Union[Graph, Any],
        values: Iterable[Mapping[str, Any]],
        /,
        *,
        limits: Optional[Limits] = None,
        shared: bool = False,
    ) -> Iterator[Any]:
        """Runs the query on a graph once for each mapping of parameters; yields the results as plain Python data."""
        from ._graph import as_graph

        graph = as_graph(graph)
        for params in values:
            yield self.bind(params)(graph, limits=limits, shared=shared)

    def __reduce__(self) -> tuple[Any, ...]:
        return PreparedQuery, (str(self),)


class _BoundQuery(Query):
    """A prepared query with values of its parameters."""

    __slots__ = ("_prepared", "_text", "_values")

    def __init__(self, prepared: PreparedQuery, text: str, values: dict[str, Any]) -> None:
        self._owner = None
        self._prepared, self._text, self._values = prepared, text, values

    def __reduce__(self) -> tuple[Any, ...]:
        return Query, (self._text, self._values)

    def _open(self) -> Owner:
        """Compiles the query with its values, for everything except a run."""
        if self._owner is None:
            self._owner = Query(self._text, self._values)._open()
        return self._owner

    def _run_query(self, graph: Graph, limits: Optional[Limits]) -> int:
        query, document, values = self._prepared._open(), graph._open(), _new_params(self._values)
        try:
            arguments = (query._as_parameter_, document._as_parameter_, values)
            return self._prepared._run_limited(_run_with, arguments, limits)
        finally:
            _delete_params(values)


@lru_cache(maxsize=256)
def _prepared(text: str, _types: tuple[tuple[str, type], ...]) -> PreparedQuery:
    """Returns a cached prepared query for values of some types."""
    return PreparedQuery(text)


def bound(text: str, values: dict[str, Any]) -> Query:
    """Returns a query that runs with values of its parameters; it is compiled once for all values of the same types."""
    types = tuple([(name, type(value)) for name, value in values.items()])
    if not all(kind in _SCALARS for _, kind in types):
        return _compiled_with(text, values)
    prepared = _prepared(text, types)
    values_hash = hash(tuple(values.values()))
    if prepared._is_usable and values_hash != prepared._last_hash:
        prepared._last_hash = values_hash
        return _BoundQuery(prepared, text, values)
    # Values that come again are compiled with the query: then they need not be set for each run.
    query = _compiled_with(text, values)
    if prepared._is_usable is None:
        # Warnings about the types of values, and about parameters without use, belong to a compiled query only.
        prepared._is_usable = not query.check()
    return query


def _compiled_with(text: str, values: dict[str, Any]) -> Query:
    """Returns a compiled query; cached unless its parameters are large, since hundreds may be cached."""
    encoded = dumps(values)
    return compiled(text, encoded) if len(encoded) <= _MAX_CACHED_PARAMS else compiled.__wrapped__(text, encoded)


def merged(params: Mapping[str, Any], named_params: dict[str, Any]) -> dict[str, Any]:
    """Returns the parameters of a mapping and of keyword arguments."""
    if not isinstance(params, Mapping):
        kind = type(params).__name__
        raise TypeError(f"parameters are named: write `name=value`, or pass a mapping of names to values, not {kind}")
    twice = params.keys() & named_params.keys()
    if twice:
        raise TypeError(f"the parameter {min(twice)!r} is given twice")
    return {**params, **named_params}


def _unpickle(tree: list[Any], params: str) -> Query:
    """Restores a pickled query."""
    return Query(tree, json.loads(params))


class _ResultGuard:
    """Context manager that deletes a result at the end of a block and issues its warnings."""

    __slots__ = ("handle",)

    def __init__(self, handle: Optional[int]) -> None:
        self.handle = handle

    def __enter__(self) -> int:
        assert self.handle is not None
        return self.handle

    def __exit__(self, *_: object) -> None:
        found = _warnings(self.handle)
        text = found.bytes() if found.len > _EMPTY_JSON_SIZE else None
        _delete_result(self.handle)
        if text is not None:
            issue_warnings(json.loads(text))


def issue_warnings(found: list[dict[str, Any]]) -> None:
    """Issues the warnings of a query, attributed to the line of the caller."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_HERE):
        level, frame = level + 1, frame.f_back
    for warning in found:
        help_text = f"; {warning['help']}" if warning.get("help") else ""
        warnings.warn(f"{warning['code']}: {warning['message']}{help_text}", QueryWarning, stacklevel=level)


@lru_cache(maxsize=256)
def compiled(text: str, params: str = "{}") -> Query:
    """Returns a cached compiled query, or a new one."""
    return Query(text, json.loads(params))


class Result(ClosableHandle):
    """The result of a query as Python data, JSON, rows, columns or files. Concurrent reads are serialized.

    The rows are the items of a list; any other value is one row. Leaving a ``with`` block closes the result.

    >>> import pidq
    >>> result = pidq.Query("sort(.kw)").run([{"tag": "P-101", "kw": 15}, {"tag": "P-102", "kw": 7.5}])
    >>> len(result), result[0]
    (2, {'tag': 'P-102', 'kw': 7.5})
    >>> [row["tag"] for row in result], result[-1:]
    (['P-102', 'P-101'], [{'tag': 'P-101', 'kw': 15}])
    """

    __slots__ = ("_reading",)

    _reading: Any

    def __init__(self, *_: object, **__: object) -> None:
        self._owner = None
        raise_not_constructible("Result", "Query.run and Graph.run return one")

    @classmethod
    def _of(cls, handle: int) -> Result:
        result = cls.__new__(cls)
        result._owner = Owner(handle, _delete_result)
        # The library allows one thread at a time to read a result. The lock is reentrant because of finalizers.
        result._reading = threading.RLock()
        return result

    def value(self) -> Any:
        """Returns the result as plain Python data."""
        with self._reading:
            return value_of(self._open().handle)

    @property
    def columns(self) -> list[str]:
        """The names of the columns: the keys of its rows, in the order of their first use; ``value`` for other rows.

        >>> import pidq
        >>> pidq.Query("get()").run([{"tag": "P-101"}, {"tag": "P-102", "kw": 7.5}]).columns
        ['tag', 'kw']
        """
        with self._reading:
            names: list[str] = json.loads(take_buffer(make(lib.pidq_result_columns, self._open())))
        return names

    def close(self) -> None:
        """Frees the memory now. Values, views and columns that were returned are not affected."""
        with self._reading:
            super().close()

    def json(self) -> str:
        """Returns the result as JSON text; unchanged numbers keep their digits."""
        return self.json_bytes().decode()

    def json_bytes(self) -> bytes:
        """Returns the result as JSON in UTF-8."""
        with self._reading:
            return bytes(self._json().bytes())

    def json_view(self) -> memoryview:
        """Returns the result as JSON in UTF-8, without a copy if it is long. The view keeps the result alive."""
        with self._reading:
            text, owner = self._json(), self._open()
        if text.len <= _COPY_SIZE:
            return memoryview(text.bytes())
        kind: Any = type("_Json", (ctypes.c_char * text.len,), {})
        view = kind.from_address(text.data)
        view._owner = owner
        return memoryview(view).cast("B").toreadonly()

    def _json(self) -> Slice:
        """Returns the JSON, which is valid until the result is closed. The caller holds the lock."""
        text: Slice = lib.pidq_result_json(self._open())
        if not text.data:
            check(lib.pidq_result_write(self._open(), _ignore, None))
        return text

    @property
    def fuel(self) -> int:
        """The fuel that the run used."""
        return int(lib.pidq_result_fuel(self._open()))

    @property
    def warnings(self) -> list[dict[str, Any]]:
        """The warnings of the run."""
        with self._reading:
            found: list[dict[str, Any]] = json.loads(_warnings(self._open()).bytes())
        return found

    def to_arrow(self) -> Any:
        """Returns the result as a pyarrow table, without copying the columns."""
        import pyarrow  # type: ignore[import-untyped, unused-ignore]

        return pyarrow.table(self)

    def to_polars(self) -> Any:
        """Returns the result as a Polars data frame."""
        import polars

        return polars.DataFrame(self)

    def to_pandas(self) -> Any:
        """Returns the result as a pandas data frame."""
        import pandas

        try:
            return self.to_arrow().to_pandas()
        except ImportError:
            return pandas.DataFrame(self._rows())

    def _rows(self) -> list[Any]:
        value = self.value()
        return value if isinstance(value, list) else [value]

    def export(self, format: str, file: Union[str, os.PathLike[str], Writable, None] = None) -> dict[str, bytes]:
        """Exports the result in a format such as ``csv``. Returns files by name.

        With a path, or a file that is open in binary mode, also writes them.
        """
        with self._reading:
            files = take_files(make(lib.pidq_result_export, self._open(), c_string(format)))
        save(files, file)
        return files

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        with self._reading:
            return stream_capsule(self._open().handle)

    def __iter__(self) -> Iterator[Any]:
        """Yields the rows; only some are built at a time."""
        return self._blocks(self._open())

    def _blocks(self, owner: Owner) -> Iterator[Any]:
        # The owner keeps the rows, so that closing the result does not end a loop.
        start, size = 0, 1
        while True:
            with self._reading:
                rows = build_items(owner.handle, start, size)
            if not rows:
                return
            yield from rows
            start, size = start + len(rows), min(2 * size, _BLOCK_ROWS)

    @overload
    def __getitem__(self, index: int, /) -> Any: ...

    @overload
    def __getitem__(self, index: slice, /) -> list[Any]: ...

    def __getitem__(self, index: Union[int, slice], /) -> Any:
        """Returns a row, or a list of rows; only these are built."""
        with self._reading:
            owner, count = self._open(), len(self)
            if isinstance(index, slice):
                return _slice_rows(owner.handle, range(count)[index])
            try:
                at = range(count)[index]
            except TypeError:
                hint = f"; a field of an object is value()[{index!r}]" if isinstance(index, str) else ""
                raise TypeError(f"the index of a row is an int or a slice, not {type(index).__name__}{hint}") from None
            except IndexError:
                raise IndexError(f"the result has {count} rows, and no row {index}") from None
            return build_items(owner.handle, at, 1)[0]

    def __len__(self) -> int:
        return int(lib.pidq_result_count(self._open()))

    def __repr__(self) -> str:
        return "Result(closed)" if self.closed else f"Result({len(self)} rows, {self.fuel} fuel)"

    def _repr_html_(self) -> str:
        return table_html(list(islice(self, _TABLE_ROWS)), len(self))


def _slice_rows(result: int, rows: range) -> list[Any]:
    """Returns some rows of a result; all of them, and those between, are built."""
    if not rows:
        return []
    first, last = min(rows[0], rows[-1]), max(rows[0], rows[-1])
    if abs(rows.step) <= _MAX_BUILT_STEP:
        return build_items(result, first, last + 1 - first)[:: rows.step]
    return [build_items(result, at, 1)[0] for at in rows]


class Batch(ClosableHandle):
    """The results of a query on several documents as columns. `Query.run_batch` returns one."""

    __slots__ = ()

    def __init__(self, *_: object, **__: object) -> None:
        self._owner = None
        raise_not_constructible("Batch", "Query.run_batch returns one")

    @classmethod
    def _of(cls, handle: int) -> Batch:
        batch = cls.__new__(cls)
        batch._owner = Owner(handle, _delete_batch)
        return batch

    @property
    def count(self) -> int:
        """The number of documents."""
        return int(lib.pidq_batch_count(self._open()))

    @property
    def failures(self) -> list[dict[str, Any]]:
        """The documents that failed: ``document``, its number from 0, and ``error`` with ``code`` and ``message``."""
        owner = self._open()
        found: list[dict[str, Any]] = json.loads(lib.pidq_batch_failures(owner).bytes())
        return found

    def to_arrow(self) -> Any:
        """Returns the results as a pyarrow table, without copying the columns; once per batch.

        The first column, ``document``, is the number of the document of each row. A document that failed has one row,
        in which all other columns are null.
        """
        import pyarrow

        return pyarrow.table(self)

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        owner = self._open()
        return stream_capsule(owner.handle, lib.pidq_batch_arrow)


_Write = ctypes.CFUNCTYPE(ctypes.c_bool, c_void_p, c_void_p, ctypes.c_size_t)
lib.pidq_result_write.argtypes, lib.pidq_result_write.restype = [c_void_p, _Write, c_void_p], c_void_p


def _accept(user: object, data: object, length: object) -> bool:
    return True


#: Discards all chunks; used to get only the error.
_ignore = _Write(_accept)


class RunProfile(Mapping[str, Any]):
    """The profile of a run: ``fuel``, ``rows``, ``steps``, ``warnings``. Its text form is a table."""

    def __init__(self, profile: dict[str, Any]) -> None:
        self._text: str = profile.pop("text")
        self._profile = profile

    def __getitem__(self, key: str) -> Any:
        return self._profile[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._profile)

    def __len__(self) -> int:
        return len(self._profile)

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return self._text


class Drawing(str):
    """A drawing as SVG text, which notebooks display."""

    __slots__ = ()

    def _repr_svg_(self) -> str:
        return str(self)

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes the drawing to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self)


def save(files: dict[str, bytes], target: Union[str, os.PathLike[str], Writable, None]) -> None:
    """Writes exported files: a single file to the path or open file, several into a directory of that name."""
    if target is None:
        return
    if not isinstance(target, (str, os.PathLike)):
        if len(files) > 1:
            raise ValueError(f"the export has several files, {', '.join(files)}: give the path of a directory")
        target.write(next(iter(files.values())))
        return
    path: Union[str, os.PathLike[str]] = target
    if len(files) > 1:
        os.makedirs(path, exist_ok=True)
    for name, content in files.items():
        place = os.path.join(path, name) if len(files) > 1 else path
        with open(place, "wb") as file:
            file.write(content)


def table_html(rows: list[Any], count: int) -> str:
    """Returns the first rows as an HTML table."""
    records = [row if isinstance(row, dict) else {"value": row} for row in rows[:_TABLE_ROWS]]
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
