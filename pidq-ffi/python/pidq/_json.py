"""Conversion of Python data to JSON."""

from __future__ import annotations

import dataclasses
import datetime
import json
import re
import secrets
import uuid
from collections.abc import Mapping
from decimal import Decimal
from enum import Enum
from typing import Any, Callable, Optional, Protocol, Union

Default = Callable[[Any], Any]


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


def dumps(value: Any, default: Optional[Default] = None) -> str:
    """Variant of ``json.dumps`` that also converts the types of the table in docs/python.md.

    ``default`` gets a value of any other type and returns one that can be converted.
    """
    # `json.dumps` cannot write the digits of a number: strings stand for them, marked with a secret number, which no
    # other string has.
    mark = ""

    def convert(other: Any) -> Any:
        nonlocal mark
        if isinstance(other, Decimal):
            if not other.is_finite():
                raise ValueError(f"{other} is not a JSON number")
            mark = mark or f"number {secrets.token_hex(16)} "
            return f"{mark}{other}"
        return _plain(other, default)

    text = json.dumps(value, default=convert)
    return re.sub(f'"{mark}([^"]*)"', r"\1", text) if mark else text


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
    to_plain = getattr(value, "tolist", None)
    if to_plain is not None:
        return to_plain()
    if default is not None:
        return default(value)
    raise TypeError(f"{type(value).__name__} cannot be converted to JSON: {value!r:.100}")


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
