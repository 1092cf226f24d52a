"""Limits and cancellation of queries."""

from __future__ import annotations

import ctypes
import dataclasses
import numbers
import operator
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Optional

from ._ffi import CLimits, deleter, lib
from ._handle import Handle

_delete = deleter("cancel")


class Cancel(Handle):
    """Cancellation flag: pass it in ``Limits(cancel=...)``, and fire it from another thread to stop the queries.

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
        """Stops the queries that use it, including later ones."""
        lib.pidq_cancel_fire(self._handle)
        self._fired = "fire"
        for follower in tuple(self._followers):
            follower.fire()

    def cancel(self) -> None:
        """Another name of ``fire``, as in Rust."""
        self.fire()

    def time_out(self) -> None:
        """Stops the queries because of a timeout: they raise ``PQ4005``."""
        lib.pidq_cancel_time_out(self._handle)
        self._fired = "time_out"
        for follower in tuple(self._followers):
            follower.time_out()

    @contextmanager
    def _followed_by(self, other: Cancel) -> Iterator[None]:
        """Links another flag, which is fired together with this one."""
        self._followers.append(other)
        # Checked after adding, so that no firing is missed.
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
    """Limits of a query. Fields that are not set have the defaults given below.

    >>> import pidq
    >>> pidq.query([1, 2, 3], "map(get() * 2)", limits=pidq.Limits(fuel=2))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    pidq.LimitError: error[PQ4001]: ...
    """

    #: Fuel, the units of work: 20 million.
    fuel: int = 0
    #: Bytes of working memory: 256 MiB.
    memory: int = 0
    #: Bytes of the printed result: 64 MiB.
    output: int = 0
    #: Bytes of one string that the query builds: 16 MiB.
    string: int = 0
    #: Backtracks of one search with a regular expression: a million.
    backtracks: int = 0
    #: Rows of a traversal or of ``findPattern``, not of a list such as ``nodes()``: 100,000.
    rows: int = 0
    #: Results of ``cycles`` without the option ``limit``: 1,000. For ``paths``, this limit or 100, whichever is lower.
    paths: int = 0
    #: Depth of a traversal from its start: 10,000.
    depth: int = 0
    #: Timeout in seconds.
    timeout: Optional[float] = None
    #: Cancels the query from another thread.
    cancel: Optional[Cancel] = None

    def __post_init__(self) -> None:
        for field in _NUMBERS:
            number = operator.index(getattr(self, field))
            if not 0 <= number < 1 << 64:
                raise ValueError(f"{field} must be a number from 0 (the default) to 2**64 - 1, not {number}")
        if self.timeout is not None and not isinstance(self.timeout, numbers.Real):
            raise TypeError(f"timeout must be a number of seconds, not {type(self.timeout).__name__}")
        if self.timeout is not None and not self.timeout >= 0:
            raise ValueError(f"timeout must be a number of seconds, not {self.timeout}")


_NUMBERS = ("fuel", "memory", "output", "string", "backtracks", "rows", "paths", "depth")


@contextmanager
def call_limits(limits: Optional[Limits], stop: Optional[Cancel] = None) -> Iterator[CLimits]:
    """Yields ``pidq_limits_t`` for a call, with a timer if there is a timeout; ``stop`` stops the call too."""
    effective = Limits() if limits is None else limits
    values = {field: getattr(effective, field) for field in _NUMBERS}
    with ExitStack() as undo:
        # A separate flag, since the given one may be shared with other queries.
        cancel = stop or (Cancel() if effective.timeout is not None else effective.cancel)
        if effective.cancel is not None and cancel is not None and cancel is not effective.cancel:
            undo.enter_context(effective.cancel._followed_by(cancel))
        if effective.timeout is not None and cancel is not None:
            # Longer timeouts than a timer supports are practically infinite.
            seconds = min(effective.timeout, threading.TIMEOUT_MAX)
            timer = threading.Timer(seconds, cancel.time_out)
            timer.daemon = True
            timer.start()
            undo.callback(timer.cancel)
        yield CLimits(ctypes.sizeof(CLimits), cancel=cancel._handle if cancel else None, **values)
