"""Python data as JSON."""

from __future__ import annotations

import json
from typing import Any


def dumps(value: Any) -> str:
    """As ``json.dumps``, and numbers and arrays of NumPy as those of Python."""
    return json.dumps(value, default=_plain)


def _plain(value: Any) -> Any:
    to_plain = getattr(value, "tolist", None)
    if to_plain is None:
        raise TypeError(f"a {type(value).__name__} has no place in JSON: {value!r:.100}")
    return to_plain()


def word(text: str) -> bytes:
    """A text for a function that ends texts at NUL: it may have none."""
    if "\0" in text:
        raise ValueError(f"a NUL character in {text!r:.100}")
    return text.encode()
