"""Conversion of Python data to JSON."""

from __future__ import annotations

import dataclasses
import datetime
import json
import math
import re
import secrets
import uuid
from collections.abc import Mapping
from decimal import Decimal
from enum import Enum
from typing import Any, Callable, NoReturn, Optional, Protocol, Union

from ._error import InputError

Default = Callable[[Any], Any]

#: Types of pandas for a missing value.
_MISSING_TYPES = frozenset(("NAType", "NaTType"))
#: Units of times that NumPy converts to integers, since Python has none as short.
_SHORT_UNITS = ("[ns]", "[ps]", "[fs]", "[as]")


class _NotATime:
    """Missing value in an array of times of NumPy, which converts it to None."""

    def __str__(self) -> str:
        return "NaT"


class _MissingValueError(ValueError):
    """A value that JSON does not have, at a path that is not known."""


class Readable(Protocol):
    """A file that is open for reading, in binary or text mode."""

    def read(self) -> Union[bytes, str]:
        """Returns the rest of the file."""
        ...


class Writable(Protocol):
    """A file that is open for writing in binary mode."""

    def write(self, data: bytes, /) -> Any:
        """Writes bytes."""
        ...


def dumps(value: Any, default: Optional[Default] = None, what: str = "") -> str:
    """Variant of ``json.dumps`` that also converts the types of the table in docs/python.md.

    ``default`` gets a value of any other type, or one that is missing or not finite, and returns one that can be
    converted. ``what`` names the value in errors.
    """
    try:
        return _encode(value, default)
    except ValueError as error:
        if not isinstance(error, _MissingValueError) and not str(error).startswith("Out of range float"):
            raise
    return _encode(_without_missing(value, default, what, ""), default)


def _encode(value: Any, default: Optional[Default]) -> str:
    # `json.dumps` cannot write the digits of a number: strings stand for them, marked with a secret number, which no
    # other string has.
    mark = ""

    def convert(other: Any) -> Any:
        nonlocal mark
        if _is_missing(other):
            raise _MissingValueError
        if isinstance(other, Decimal):
            mark = mark or f"number {secrets.token_hex(16)} "
            return f"{mark}{other}"
        return _plain(other, default)

    text = json.dumps(value, default=convert, allow_nan=False)
    return re.sub(f'"{mark}([^"]*)"', r"\1", text) if mark else text


def plain(value: Any, default: Default, what: str) -> Any:
    """Returns data that is converted without ``default``; decimals keep all digits."""
    return json.loads(dumps(value, default, what), parse_float=Decimal)


def _is_missing(value: Any) -> bool:
    """Returns true for a value that JSON does not have: missing, or a number that is not finite."""
    if isinstance(value, float):
        return not math.isfinite(value)
    if isinstance(value, Decimal):
        return not value.is_finite()
    kind = type(value)
    return kind is _NotATime or (kind.__name__ in _MISSING_TYPES and kind.__module__.startswith("pandas."))


def _without_missing(value: Any, default: Optional[Default], what: str, path: str) -> Any:
    """Returns the value with ``default`` of each one that is missing; without ``default``, raises its path."""
    if _is_missing(value):
        other = None if default is None else default(value)
        if default is None or _is_missing(other):
            _raise_missing(value, what, path)
        return other
    if isinstance(value, dict):
        for key in value:
            if _is_missing(key):
                _raise_missing(key, what, path, "the key ")
        return {key: _without_missing(item, default, what, path + _step(key)) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_missing(item, default, what, f"{path}[{at}]") for at, item in enumerate(value)]
    if value is None or isinstance(value, (str, int, float, Decimal)):
        return value
    return _without_missing(_plain(value, default), default, what, path)


def _step(key: Any) -> str:
    """Returns a field as a step of a path in a query."""
    name = str(key)
    return f".{name}" if re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) else f".{json.dumps(name, ensure_ascii=False)}"


def _raise_missing(value: Any, what: str, path: str, kind: str = "") -> NoReturn:
    found = json.dumps(value) if isinstance(value, float) else str(value)
    place = f" at {path}" if path else ""
    message = f"{what}{': ' if what else ''}expected a value of JSON, found {kind}{found}{place}"
    hint = "`default=lambda value: None` makes missing values null"
    details = {"code": "PQ5001", "stage": "input", "message": message, "span": None, "help": hint}
    raise InputError(details, f"error[PQ5001]: {message}\n  = help: {hint}")


def _plain(value: Any, default: Optional[Default]) -> Any:
    """Returns data of JSON, or values that can be converted in turn."""
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        return _duration(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, uuid.UUID):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if hasattr(value, "tolist"):
        return _from_array(value)
    if default is not None:
        return default(value)
    raise TypeError(f"{type(value).__name__} cannot be converted to JSON: {value!r:.100}")


def _from_array(value: Any) -> Any:
    """Returns a number or an array of NumPy or pandas as plain data."""
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    if type(value).__module__ != "numpy" or kind not in ("M", "m"):
        return value.tolist()
    if value.dtype.str.endswith(_SHORT_UNITS):
        value = value.astype(f"{kind}8[us]")
    return _mark_missing_times(value.tolist())


def _mark_missing_times(times: Any) -> Any:
    if isinstance(times, list):
        return [_mark_missing_times(time) for time in times]
    return _NotATime() if times is None else times


def _duration(value: datetime.timedelta) -> str:
    """Returns a duration in ISO 8601, in seconds: ``PT5400S``."""
    micros = value // datetime.timedelta(microseconds=1)
    seconds, fraction = divmod(abs(micros), 1_000_000)
    digits = f".{fraction:06}".rstrip("0") if fraction else ""
    return f"{'-' if micros < 0 else ''}PT{seconds}{digits}S"


def c_string(text: str) -> bytes:
    """Encodes a NUL-terminated string, which must not contain NUL."""
    if "\0" in text:
        raise ValueError(f"unexpected NUL character in {text!r:.100}")
    return text.encode()
