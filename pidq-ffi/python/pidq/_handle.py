"""Base class of handles of the library, which cannot be copied."""

from __future__ import annotations

from typing import Any, NoReturn, TypeVar

_Self = TypeVar("_Self", bound="Handle")


class Handle:
    """Owner of a handle. A copy would be a second owner, and in another process the handle is invalid."""

    __slots__ = ()

    def __copy__(self: _Self) -> _Self:
        return self

    def __deepcopy__(self: _Self, _: Any) -> _Self:
        return self

    def __reduce__(self) -> Any:
        raise TypeError(f"a {type(self).__name__} cannot be pickled: it belongs to this process")


def raise_not_constructible(kind: str, hint: str) -> NoReturn:
    """Raises the error for a class without a public constructor."""
    raise TypeError(f"{kind} has no public constructor: {hint}")
