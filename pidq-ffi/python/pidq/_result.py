"""Results of queries: values, rows, tables, batches and profiles."""

from __future__ import annotations

import ctypes
import html
import json
import os
import sys
import threading
import warnings
from collections.abc import Iterator, Mapping
from ctypes import c_void_p
from itertools import islice
from typing import Any, Optional, Union, overload

from ._error import QueryWarning
from ._ffi import (
    Slice,
    build_items,
    check,
    deleter,
    lib,
    make,
    stream_capsule,
    take_buffer,
    take_files,
    value_of,
)
from ._handle import ClosableHandle, Owner, raise_not_constructible
from ._json import Writable, c_string

_delete_result = deleter("result")
_delete_batch = deleter("batch")
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
#: Size of ``[]``: no warnings.
_EMPTY_JSON_SIZE = 2


class ResultGuard:
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
