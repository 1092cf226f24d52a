"""Ctrl-C support: interrupts queries that run in the library.

Python handles signals between bytecode instructions, and so not during a call of the library. A query therefore first
runs in the calling thread, with fuel for some milliseconds only, which is enough for most queries. A longer query
restarts in a separate thread, while the caller waits in Python; its later runs start in a separate thread at once.
"""

from __future__ import annotations

import ctypes
import threading
from typing import Any, Callable, Optional

from ._ffi import CLimits, deleter, handle_or_raise, lib
from ._limits import Cancel

#: Fuel of a query in the calling thread.
SHORT_FUEL = 1_000_000

#: Poll interval in seconds for the end of a call: on Windows, Ctrl-C does not end a wait.
_POLL_INTERVAL = 0.1

_OUT_OF_FUEL = b"PQ4001"
_code = lib.pidq_error_code
_code.argtypes, _code.restype = [ctypes.c_void_p], ctypes.c_char_p

_short = CLimits(ctypes.sizeof(CLimits), fuel=SHORT_FUEL)
#: Address of the default limits with less fuel.
SHORT_LIMITS_ADDRESS: int = ctypes.addressof(_short)


def limit_fuel(limits: CLimits) -> bool:
    """Reduces the fuel to that of a short run. Returns false if it was not larger."""
    is_longer: bool = limits.fuel == 0 or limits.fuel > SHORT_FUEL
    if is_longer:
        limits.fuel = SHORT_FUEL
    return is_longer


def is_out_of_fuel(error: int) -> bool:
    """Returns true if a call ran out of fuel, and frees its error in that case."""
    is_match: bool = _code(error) == _OUT_OF_FUEL
    if is_match:
        deleter("error")(error)
    return is_match


def make_interruptibly(function: Callable[..., Optional[int]], kind: str, stop: Cancel, *arguments: Any) -> int:
    """Interruptible variant of ``make``: Ctrl-C fires ``stop``, which ends the call, and the exception propagates."""
    out = ctypes.c_void_p()
    if threading.current_thread() is not threading.main_thread():
        return handle_or_raise(function(*arguments, ctypes.byref(out)), out)
    errors: list[Optional[int]] = []
    done = threading.Event()

    def work() -> None:
        try:
            errors.append(function(*arguments, ctypes.byref(out)))
        finally:
            done.set()

    threading.Thread(target=work, name="pidq", daemon=True).start()
    try:
        while not done.wait(_POLL_INTERVAL):
            pass
    except BaseException:
        stop.fire()
        _wait(done)
        deleter("error")(errors[0])
        deleter(kind)(out.value)
        raise
    return handle_or_raise(errors[0], out)


def _wait(done: threading.Event) -> None:
    """Waits regardless of further Ctrl-C: the arguments of the call must stay alive until it is over."""
    while not done.is_set():
        try:
            done.wait(_POLL_INTERVAL)
        except BaseException:
            continue
