"""Base classes of handles of the library, which cannot be copied."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Callable, NoReturn, Optional, TypeVar

_Self = TypeVar("_Self", bound="Handle")
_ClosableSelf = TypeVar("_ClosableSelf", bound="ClosableHandle")


class Handle:
    """Object of the library. A copy would be a second owner, and in another process the handle is invalid."""

    __slots__ = ()

    def __copy__(self: _Self) -> _Self:
        return self

    def __deepcopy__(self: _Self, _: Any) -> _Self:
        return self

    def __reduce__(self) -> Any:
        raise TypeError(f"a {type(self).__name__} cannot be pickled: it belongs to this process")


class Owner:
    """Owner of a handle: the handle is deleted with this object.

    ctypes passes it to a function as the handle and keeps it alive during the call, so that another thread may close
    the object meanwhile.
    """

    __slots__ = ("_as_parameter_", "_delete")

    def __init__(self, handle: int, delete: Callable[[Optional[int]], None]) -> None:
        self._as_parameter_ = handle
        self._delete = delete

    @property
    def handle(self) -> int:
        """The handle, for code that keeps the owner alive itself."""
        return self._as_parameter_

    def __del__(self) -> None:
        self._delete(self._as_parameter_)


class ClosableHandle(Handle):
    """Object of the library that can be closed before it is garbage."""

    __slots__ = ("_owner",)

    _owner: Optional[Owner]

    def close(self) -> None:
        """Frees the memory now. Calls that are running, and results that were returned, are not affected."""
        self._owner = None

    @property
    def closed(self) -> bool:
        """True after ``close``."""
        return self._owner is None

    def __enter__(self: _ClosableSelf) -> _ClosableSelf:
        self._open()
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()

    def _open(self) -> Owner:
        """Returns the owner of the handle."""
        owner = self._owner
        if owner is None:
            raise ValueError(f"the {type(self).__name__} is closed")
        return owner


def raise_not_constructible(kind: str, hint: str) -> NoReturn:
    """Raises the error for a class without a public constructor."""
    raise TypeError(f"{kind} has no public constructor: {hint}")
