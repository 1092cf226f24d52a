"""Conversion of Python data to JSON."""

from __future__ import annotations

import json
from typing import Any


def dumps(value: Any) -> str:
    """Variant of ``json.dumps`` that also converts NumPy numbers and arrays."""
    return json.dumps(value, default=_plain)


def _plain(value: Any) -> Any:
    to_plain = getattr(value, "tolist", None)
    if to_plain is None:
        raise TypeError(f"{type(value).__name__} cannot be converted to JSON: {value!r:.100}")
    return to_plain()


def c_string(text: str) -> bytes:
    """Encodes a NUL-terminated string, which must not contain NUL."""
    if "\0" in text:
        raise ValueError(f"unexpected NUL character in {text!r:.100}")
    return text.encode()
