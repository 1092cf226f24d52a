"""What can go wrong, with a code that stays, the place in the query, and what to do."""

from __future__ import annotations

import builtins
from typing import Any, NoReturn, Optional


class Error(Exception):
    """Something went wrong in pidq.

    >>> import pidq
    >>> try:
    ...     pidq.Query(".nodes | fliter(.a)")
    ... except pidq.Error as error:
    ...     print(error.code, error.span, error.hint)
    PQ1001 (9, 15) did you mean `filter`?
    """

    #: The code, such as ``"PQ1001"``: the part that never changes.
    code: str
    #: When it happened: ``"parse"``, ``"compile"``, ``"eval"``, ``"limit"`` or ``"input"``.
    stage: str
    #: What went wrong, in one line.
    message: str
    #: The bytes of the query (of the document for ``PQ5xxx``) that it is about.
    span: Optional[tuple[int, int]]
    #: What to do next.
    hint: Optional[str]
    #: All that is known, as every face of pidq tells it.
    details: dict[str, Any]

    def __init__(self, details: dict[str, Any], text: str) -> None:
        super().__init__(text.rstrip("\n"))
        self.details = details
        self.code = details["code"]
        self.stage = details["stage"]
        self.message = details["message"]
        span = details.get("span")
        self.span = (span["start"], span["end"]) if span else None
        self.hint = details.get("help")
        self._text = text

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.details, self._text)


class SyntaxError(Error):
    """A query that does not compile: its text, its names, its arguments."""


class QueryError(Error):
    """A query that failed on the data it met."""


class LimitError(Error):
    """A query that cost more than it may, or was stopped."""


class InputError(Error, ValueError):
    """A document that cannot be read."""


class QueryWarning(UserWarning):
    """Something in a query looks like a mistake; its result is not changed by it."""


_KINDS: dict[str, type[Error]] = {
    "parse": SyntaxError,
    "compile": SyntaxError,
    "eval": QueryError,
    "limit": LimitError,
    "input": InputError,
}


def raise_error(details: dict[str, Any], text: str) -> NoReturn:
    """Raises the exception for an error of the library."""
    if details["code"] == "PQ9003":
        raise FileError(details, text)
    raise _KINDS.get(details["stage"], Error)(details, text)


class FileError(InputError, builtins.OSError):
    """A file that cannot be read."""

    def __str__(self) -> str:
        return self._text.rstrip("\n")
