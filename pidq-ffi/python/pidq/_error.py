"""Exceptions, with a stable code, the location in the query, and help."""

from __future__ import annotations

import builtins
from typing import Any, NoReturn, Optional


class Error(Exception):
    """Base class of all errors of pidq.

    >>> import pidq
    >>> try:
    ...     pidq.Query(".nodes | fliter(.a)")
    ... except pidq.Error as error:
    ...     print(error.code, error.span, error.hint)
    PQ1001 (9, 15) did you mean `filter`?
    """

    #: The stable code, such as ``"PQ1001"``.
    code: str
    #: The stage: ``"parse"``, ``"compile"``, ``"eval"``, ``"limit"`` or ``"input"``.
    stage: str
    #: The message, in one line.
    message: str
    #: The byte range in the query (in the document for ``PQ5xxx``).
    span: Optional[tuple[int, int]]
    #: The help.
    hint: Optional[str]
    #: All details, in the common error format of pidq.
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
    """A query that does not compile."""


class QueryError(Error):
    """A query that failed on its data."""


class LimitError(Error):
    """A query that exceeded a limit or was stopped."""


class InputError(Error, ValueError):
    """A document that cannot be read."""


class QueryWarning(UserWarning):
    """A probable mistake in a query, which does not affect its result."""


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
