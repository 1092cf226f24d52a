"""What a query may cost, and how it is stopped."""

from __future__ import annotations

import ctypes
import dataclasses
import operator
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Optional

from ._ffi import CLimits, deleter, lib
from ._handle import Handle

_delete = deleter("cancel")


class Cancel(Handle):
    """Stops queries from another thread: give it in ``Limits(cancel=...)``, and fire it.

    >>> import pidq
    >>> cancel = pidq.Cancel()
    >>> cancel.fire()
    >>> text = "let({n: [1, 2, 3, 4, 5, 6, 7, 8]}, $n | map($n | map($n | map($n | map(1)))))"
    >>> pidq.query([], text, limits=pidq.Limits(cancel=cancel))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    pidq.LimitError: error[PQ4008]: ...
    """

    __slots__ = ("_fired", "_followers", "_handle")

    def __init__(self) -> None:
        self._handle: Optional[int] = lib.pidq_cancel_new()
        self._followers: list[Cancel] = []
        self._fired = ""

    def fire(self) -> None:
        """Stops the queries that look at it, also those that begin later."""
        lib.pidq_cancel_fire(self._handle)
        self._fired = "fire"
        for follower in tuple(self._followers):
            follower.fire()

    def time_out(self) -> None:
        """Stops them because the time is over: they raise ``PQ4005``."""
        lib.pidq_cancel_time_out(self._handle)
        self._fired = "time_out"
        for follower in tuple(self._followers):
            follower.time_out()

    @contextmanager
    def _followed_by(self, other: Cancel) -> Iterator[None]:
        """Fires another one together with this one."""
        self._followers.append(other)
        # After it was added, so that none is missed.
        if self._fired:
            getattr(other, self._fired)()
        try:
            yield
        finally:
            self._followers.remove(other)

    def __del__(self) -> None:
        _delete(self._handle)


@dataclasses.dataclass(frozen=True)
class Limits:
    """What a query may cost. What is not given has the default of the library.

    >>> import pidq
    >>> pidq.query([1, 2, 3], "map(get() * 2)", limits=pidq.Limits(fuel=2))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    pidq.LimitError: error[PQ4001]: ...
    """

    #: Steps: 20 million.
    fuel: int = 0
    #: Bytes of working memory: 256 MiB.
    memory: int = 0
    #: Bytes of the printed result: 64 MiB.
    output: int = 0
    #: Bytes of one text that the query builds: 16 MiB.
    string: int = 0
    #: Backtracks of a regular expression: a million.
    backtracks: int = 0
    #: Rows of a walk or of a list about the graph: 100,000.
    rows: int = 0
    #: Paths, circuits and patterns that one function lists: 1,000.
    paths: int = 0
    #: Steps of a walk from its start: 10,000.
    depth: int = 0
    #: Seconds on the clock.
    timeout: Optional[float] = None
    #: Stops the query from another thread.
    cancel: Optional[Cancel] = None

    def __post_init__(self) -> None:
        for field in _NUMBERS:
            number = operator.index(getattr(self, field))
            if not 0 <= number < 1 << 64:
                raise ValueError(f"{field} is a number from 0 (the default) to 2**64 - 1, not {number}")
        if self.timeout is not None and not self.timeout >= 0:
            raise ValueError(f"timeout is a number of seconds, not {self.timeout}")


_NUMBERS = ("fuel", "memory", "output", "string", "backtracks", "rows", "paths", "depth")


@contextmanager
def within(limits: Optional[Limits], stop: Optional[Cancel] = None) -> Iterator[CLimits]:
    """``pidq_limits_t`` for a call, with a clock if there is one; ``stop`` stops the call too."""
    asked = Limits() if limits is None else limits
    numbers = {field: getattr(asked, field) for field in _NUMBERS}
    with ExitStack() as undo:
        # One of its own: the cancel that was given may be shared with other queries.
        looked_at = stop or (Cancel() if asked.timeout is not None else asked.cancel)
        if asked.cancel is not None and looked_at is not None and looked_at is not asked.cancel:
            undo.enter_context(asked.cancel._followed_by(looked_at))
        if asked.timeout is not None and looked_at is not None:
            # What is longer than a clock can wait is as good as for ever.
            seconds = min(asked.timeout, threading.TIMEOUT_MAX)
            clock = threading.Timer(seconds, looked_at.time_out)
            clock.daemon = True
            clock.start()
            undo.callback(clock.cancel)
        yield CLimits(ctypes.sizeof(CLimits), cancel=looked_at._handle if looked_at else None, **numbers)
