"""Queries, compiled for one run or for many."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from ctypes import byref, c_void_p
from decimal import Decimal
from functools import lru_cache
from typing import Any, Optional, Union

from ._document import Document, as_document, content_of
from ._ffi import (
    check,
    deleter,
    handle_or_raise,
    lib,
    make,
    slices,
    take_buffer,
    value_of,
)
from ._handle import ClosableHandle, Owner
from ._interrupt import SHORT_LIMITS_ADDRESS, is_out_of_fuel, limit_fuel, make_interruptibly
from ._json import Default, c_string, dumps, plain
from ._limits import Cancel, Limits, call_limits
from ._result import Batch, Result, ResultGuard, RunProfile

_delete_query = deleter("query")
_delete_params = deleter("params")
_run = lib.pidq_query_run
_run_with = lib.pidq_query_run_with

#: Size in bytes up to which parameters are part of a cached query.
_MAX_CACHED_PARAMS = 4096
#: Types of parameters with which a query is compiled once for all values.
_SCALARS = frozenset((str, int, float, bool, type(None)))


class Query(ClosableHandle):
    """A compiled query. It is immutable; any number of threads may run it.

    >>> import pidq
    >>> query = pidq.Query("filter(.kw > $least) | map(.tag)", least=10)
    >>> query([{"tag": "P-101", "kw": 15}, {"tag": "P-102", "kw": 7.5}])
    ['P-101']
    """

    __slots__ = ("_is_long", "_params")

    def __init__(
        self,
        text: Union[str, list[Any]],
        params: Optional[Mapping[str, Any]] = None,
        /,
        *,
        default: Optional[Default] = None,
        **named_params: Any,
    ) -> None:
        self._owner = None
        self._is_long = False
        values_by_name = merged(params, named_params, default)
        if not isinstance(text, (str, list)):
            raise TypeError(f"a query must be a str, or a list in the JSON format, not {type(text).__name__}")
        encoded = _encoded(values_by_name)
        self._params = _params_text(encoded)
        values = _new_params(encoded)
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

    def __call__(self, graph: Union[Document, Any], /, *, limits: Optional[Limits] = None, shared: bool = False) -> Any:
        """Runs the query on a graph, or any Python data, and returns plain Python data.

        With ``shared``, lists and objects of the document are the same Python objects each time, which is many times
        faster for repeated rows. Shared objects must not be modified.
        """
        # Hot: on a small graph, this code dominates the time of a call.
        graph = as_document(graph)
        with ResultGuard(self._run_query(graph, limits)) as result:
            return value_of(result, graph._shared_objects() if shared else None)

    def run(self, graph: Union[Document, Any], /, *, limits: Optional[Limits] = None) -> Result:
        """Runs the query on a graph and returns a result that can be read in several ways."""
        return Result._of(self._run_query(as_document(graph), limits))

    def run_batch(
        self, documents: Iterable[Any], /, *, limits: Optional[Limits] = None, default: Optional[Default] = None
    ) -> Batch:
        """Runs the query on each of several documents: JSON as bytes or str, a graph, or Python data.

        Bytes and buffers of pyarrow are not copied. Only the values that the query can read are loaded, which takes a
        fraction of the time. ``limits`` apply to each document, except the timeout, which is that of the batch.
        ``default`` converts Python objects of other types, as in ``json.dumps``.

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
            contents = [content_of(document, default) for document in _items(documents)]
            parts = slices(contents)
            handle = make_interruptibly(
                lib.pidq_query_run_batch, "batch", stop, self._open(), parts, len(parts), byref(c_limits)
            )
        return Batch._of(handle)

    def _run_query(self, graph: Document, limits: Optional[Limits]) -> int:
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

    def explain(self, graph: Union[Document, Any], /, *, limits: Optional[Limits] = None) -> RunProfile:
        """Runs the query and returns its profile."""
        graph = as_document(graph)
        with call_limits(limits, stop := Cancel()) as c_limits:
            arguments = (self._open(), graph._open(), byref(c_limits))
            buffer = make_interruptibly(lib.pidq_query_explain, "buffer", stop, *arguments)
        return RunProfile(json.loads(take_buffer(buffer)))

    def check(self, graph: Union[Document, Any, None] = None, /) -> list[dict[str, Any]]:
        """Returns warnings without running the query; with a graph, also about fields that do not exist in it.

        >>> import pidq
        >>> pidq.Query("map(.tga)").check([{"tag": "P-101"}])[0]["help"]
        'did you mean `.tag`?'
        """
        target = None if graph is None else as_document(graph)
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
        return isinstance(other, Query) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> tuple[str, str]:
        """Returns what equal queries share: the text, and the values of the parameters as JSON."""
        return str(self), self._params

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickle, (self.to_list(), self._params)


def _run_interruptibly(function: Any, arguments: tuple[Any, ...], limits: Optional[Limits]) -> int:
    with call_limits(limits, stop := Cancel()) as c_limits:
        return make_interruptibly(function, "result", stop, *arguments, byref(c_limits))


def _encoded(values: Mapping[str, Any]) -> dict[str, str]:
    """Returns the values of parameters as JSON."""
    return {name: dumps(value, what=f"the parameter `{name}`") for name, value in values.items()}


def _params_text(encoded: dict[str, str]) -> str:
    """Returns parameters as one JSON object."""
    return "{" + ", ".join([f"{json.dumps(name)}: {value}" for name, value in encoded.items()]) + "}"


def _new_params(encoded: dict[str, str]) -> int:
    """Returns the handle of parameters, which the caller deletes."""
    handle: int = lib.pidq_params_new()
    try:
        for name, value in encoded.items():
            text = value.encode()
            check(lib.pidq_params_set_json(handle, c_string(name), text, len(text)))
    except BaseException:
        _delete_params(handle)
        raise
    return handle


def _items(documents: Iterable[Any]) -> Iterable[Any]:
    """Returns the documents of a batch; a single one in their place is a mistake."""
    if isinstance(documents, (str, bytes, bytearray, memoryview, Mapping, Document)):
        raise TypeError(f"run_batch takes a list of documents, not {type(documents).__name__}")
    return documents


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

    def bind(
        self,
        params: Optional[Mapping[str, Any]] = None,
        /,
        *,
        default: Optional[Default] = None,
        **named_params: Any,
    ) -> Query:
        """Returns the query with a value for each parameter: the argument ``name``, or that key of ``params``.

        A missing value and a name that the query does not have raise ``SyntaxError``. Nothing is compiled, unless the
        language requires a constant, as for ``limit($count)``. ``default`` converts values of other types.
        """
        values = merged(params, named_params, default)
        query = _BoundQuery(self, str(self), values)
        if values.keys() != set(self.parameters):
            # The names are checked before the run.
            query.run(None)
        return query

    def run_many(
        self,
        graph: Union[Document, Any],
        values: Iterable[Mapping[str, Any]],
        /,
        *,
        limits: Optional[Limits] = None,
        shared: bool = False,
        default: Optional[Default] = None,
    ) -> Iterator[Any]:
        """Runs the query on a graph once for each mapping of parameters; yields the results as plain Python data."""
        graph = as_document(graph)
        for params in values:
            yield self.bind(params, default=default)(graph, limits=limits, shared=shared)

    def __reduce__(self) -> tuple[Any, ...]:
        return PreparedQuery, (str(self),)


class _BoundQuery(Query):
    """A prepared query with values of its parameters."""

    __slots__ = ("_encoded", "_is_closed", "_prepared", "_text")

    def __init__(self, prepared: PreparedQuery, text: str, values: dict[str, Any]) -> None:
        self._owner = None
        self._prepared, self._text, self._is_closed = prepared, text, False
        # Converted now: the query is immutable, lists and objects of the caller are not.
        self._encoded = _encoded(values)

    @property
    def closed(self) -> bool:
        """True after ``close``."""
        return self._is_closed

    def close(self) -> None:
        """Frees the memory now. Calls that are running, and results that were returned, are not affected."""
        self._is_closed = True
        super().close()

    def _identity(self) -> tuple[str, str]:
        return str(self), _params_text(self._encoded)

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickle, (self._text, _params_text(self._encoded))

    def _open(self) -> Owner:
        """Compiles the query with its values, for everything except a run."""
        self._check_open()
        if self._owner is None:
            self._owner = _unpickle(self._text, _params_text(self._encoded))._open()
        return self._owner

    def _check_open(self) -> None:
        if self._is_closed:
            raise ValueError("the Query is closed")

    def _run_query(self, graph: Document, limits: Optional[Limits]) -> int:
        self._check_open()
        query, document, values = self._prepared._open(), graph._open(), _new_params(self._encoded)
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
    encoded = _params_text(_encoded(values))
    return compiled(text, encoded) if len(encoded) <= _MAX_CACHED_PARAMS else _unpickle(text, encoded)


def merged(
    params: Optional[Mapping[str, Any]], named_params: dict[str, Any], default: Optional[Default] = None
) -> dict[str, Any]:
    """Returns the parameters of a mapping and of keyword arguments, converted with ``default``."""
    values = {**_mapping(params, named_params), **named_params} if params else named_params
    if default is None:
        return values
    if not callable(default):
        kind = type(default).__name__
        raise TypeError(f"default must be a function, not {kind}: pass a parameter of that name in a mapping")
    return {name: plain(value, default, f"the parameter `{name}`") for name, value in values.items()}


def _mapping(params: Mapping[str, Any], named_params: dict[str, Any]) -> Mapping[str, Any]:
    """Returns a mapping of parameters, none of which is a keyword argument too."""
    if not isinstance(params, Mapping):
        kind = type(params).__name__
        raise TypeError(f"parameters are named: write `name=value`, or pass a mapping of names to values, not {kind}")
    twice = params.keys() & named_params.keys()
    if twice:
        raise TypeError(f"the parameter {min(twice)!r} is given twice")
    return params


def _unpickle(text: Union[str, list[Any]], params: str) -> Query:
    """Restores a query, with all digits of its parameters."""
    return Query(text, json.loads(params, parse_float=Decimal))


@lru_cache(maxsize=256)
def compiled(text: str, params: str = "{}") -> Query:
    """Returns a cached compiled query, or a new one."""
    return _unpickle(text, params)
