"""Exceptions, with a stable code, the location in the query, and help."""

from __future__ import annotations

import builtins
import os
from typing import Any, NoReturn, Optional, Union


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
    """A file that cannot be read. If the system gives the reason, it is also the exception of Python for that reason,
    such as ``FileNotFoundError``, with ``errno`` and ``filename``.

    >>> import pidq
    >>> try:
    ...     pidq.Graph.open("none.json")
    ... except FileNotFoundError as error:
    ...     print(isinstance(error, pidq.FileError), error.code, error.filename)
    True PQ9003 none.json
    """

    def __str__(self) -> str:
        return self._text.rstrip("\n")

    def __reduce__(self) -> tuple[Any, ...]:
        return _file_error, (self.details, self._text, self.errno, self.strerror, self.filename)


def raise_file_error(path: Union[str, os.PathLike[str]], cause: builtins.OSError) -> NoReturn:
    """Raises the exception for a file that the system does not let us read."""
    message = f"cannot read `{os.fspath(path)}`: {cause.strerror}"
    details = {"code": "PQ9003", "stage": "input", "message": message, "span": None, "help": None}
    raise _file_error(details, f"error[PQ9003]: {message}", cause.errno, cause.strerror, cause.filename) from None


def _file_error(
    details: dict[str, Any], text: str, errno: Optional[int], strerror: Optional[str], filename: Any
) -> FileError:
    # `OSError` chooses the subclass of the number.
    error = _file_error_type(type(OSError(errno, strerror)))(details, text)
    error.errno, error.strerror, error.filename = errno, strerror, filename
    return error


#: Classes of errors that are a ``FileError`` and an exception of Python, by the latter.
_FILE_ERRORS: dict[type[builtins.OSError], type[FileError]] = {OSError: FileError}


def _file_error_type(kind: type[builtins.OSError]) -> type[FileError]:
    """Returns the class of errors that are a ``FileError`` and an exception of Python."""
    if kind not in _FILE_ERRORS:
        _FILE_ERRORS[kind] = type("FileError", (FileError, kind), {"__module__": "pidq", "__doc__": FileError.__doc__})
    return _FILE_ERRORS[kind]
