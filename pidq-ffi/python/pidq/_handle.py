"""What stands for a handle of the library, and how it may not be copied."""

from __future__ import annotations

from typing import Any, NoReturn, TypeVar

_Self = TypeVar("_Self", bound="Handle")


class Handle:
    """Owns a handle. A copy by its fields would be a second owner, and in another process the handle is nothing."""

    __slots__ = ()

    def __copy__(self: _Self) -> _Self:
        return self

    def __deepcopy__(self: _Self, _: Any) -> _Self:
        return self

    def __reduce__(self) -> Any:
        raise TypeError(f"a {type(self).__name__} cannot be pickled: it belongs to this process")


def refuse_to_make(kind: str, hint: str) -> NoReturn:
    """For who calls a class that makes its instances elsewhere."""
    raise TypeError(f"a {kind} is not made by calling it: {hint}")
