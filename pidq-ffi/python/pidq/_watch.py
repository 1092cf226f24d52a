"""How Ctrl-C stops a query that runs in the library.

Python handles signals between its own instructions, and a call of the library is one of them. So a query runs where it
was asked for, with steps for some milliseconds only: most need fewer, and pay nothing. One that needs more begins again
in a thread of its own, while the one that asked waits in Python. A query remembers that it is long.
"""

from __future__ import annotations

import ctypes
import threading
from typing import Any, Callable, Optional

from ._ffi import CLimits, deleter, lib, made
from ._limits import Cancel

#: Steps that a query may take where it was asked for.
SHORT = 1_000_000

#: Seconds between two looks at whether a call is over: on Windows nothing else ends a wait.
_LOOK = 0.1

_TOO_FEW_STEPS = b"PQ4001"
_code = lib.pidq_error_code
_code.argtypes, _code.restype = [ctypes.c_void_p], ctypes.c_char_p

_short = CLimits(ctypes.sizeof(CLimits), fuel=SHORT)
#: The address of the usual limits with fewer steps.
SHORT_AT: int = ctypes.addressof(_short)


def cut(limits: CLimits) -> bool:
    """Leaves limits the steps of a short run; false where they have no more anyway."""
    is_longer: bool = limits.fuel == 0 or limits.fuel > SHORT
    if is_longer:
        limits.fuel = SHORT
    return is_longer


def ran_out(error: int) -> bool:
    """Whether a call had too few steps; then its error is let go."""
    is_so: bool = _code(error) == _TOO_FEW_STEPS
    if is_so:
        deleter("error")(error)
    return is_so


def make_interruptibly(function: Callable[..., Optional[int]], kind: str, stop: Cancel, *arguments: Any) -> int:
    """As ``make``, but Ctrl-C gets through: it fires ``stop``, which the call looks at, and the exception goes on."""
    out = ctypes.c_void_p()
    if threading.current_thread() is not threading.main_thread():
        return made(function(*arguments, ctypes.byref(out)), out)
    errors: list[Optional[int]] = []
    is_over = threading.Event()

    def work() -> None:
        try:
            errors.append(function(*arguments, ctypes.byref(out)))
        finally:
            is_over.set()

    threading.Thread(target=work, name="pidq", daemon=True).start()
    try:
        while not is_over.wait(_LOOK):
            pass
    except BaseException:
        stop.fire()
        _wait(is_over)
        deleter("error")(errors[0])
        deleter(kind)(out.value)
        raise
    return made(errors[0], out)


def _wait(is_over: threading.Event) -> None:
    """Waits however often somebody presses Ctrl-C: what was lent to the call has to stay until it is over."""
    while not is_over.is_set():
        try:
            is_over.wait(_LOOK)
        except BaseException:
            continue
