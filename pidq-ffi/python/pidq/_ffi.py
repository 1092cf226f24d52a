"""ctypes bindings of the C ABI of libpidq: the only module with pointers."""

from __future__ import annotations

import ctypes
import gc
import json
import os
import sys
from collections.abc import Sequence
from ctypes import POINTER, Structure, byref, c_char_p, c_double, c_size_t, c_uint32, c_uint64, c_void_p
from pathlib import Path
from typing import Any, Callable, NoReturn, Optional

from ._error import raise_error
from ._handle import Owner

ABI_VERSION = 1

#: Number of items from which results are built with the garbage collector disabled.
_GC_THRESHOLD = 1_000


class Slice(Structure):
    """Bytes owned by the library."""

    _fields_ = [("data", c_void_p), ("len", c_size_t)]

    def bytes(self) -> bytes:
        return ctypes.string_at(self.data, self.len) if self.data else b""

    def text(self) -> str:
        return self.bytes().decode()


class CLimits(Structure):
    """``pidq_limits_t``."""

    _fields_ = [
        ("size", c_size_t),
        ("fuel", c_uint64),
        ("memory", c_uint64),
        ("output", c_uint64),
        ("cancel", c_void_p),
        ("string", c_uint64),
        ("backtracks", c_uint64),
        ("rows", c_uint64),
        ("paths", c_uint64),
        ("depth", c_uint64),
    ]


class CDrawOptions(Structure):
    """``pidq_draw_options_t``."""

    _fields_ = [
        ("size", c_size_t),
        ("highlight", c_void_p),
        ("only", c_void_p),
        ("title", c_char_p),
        ("dark", c_uint32),
    ]


class CDiffOptions(Structure):
    """``pidq_diff_options_t``."""

    _fields_ = [
        ("size", c_size_t),
        ("identity", c_char_p),
        ("ignore", c_char_p),
        ("tolerance", c_double),
        ("limits", POINTER(CLimits)),
    ]


class CBuilder(Structure):
    """``pidq_builder_t``: creates Python objects with CPython's own functions."""

    _fields_ = [("size", c_size_t)] + [
        (name, c_void_p)
        for name in (
            "null_value true_value false_value make_text make_real make_integer make_long make_list set_item "
            "make_object set_field copy_object retain release"
        ).split()
    ]


def _library() -> str:
    """Returns the path of the library in the wheel, or of the one in ``PIDQ_LIBRARY``."""
    path = os.environ.get("PIDQ_LIBRARY")
    if path:
        return path
    here = Path(__file__).parent
    for pattern in ("*native*.so", "*native*.dylib", "*native*.dll", "*native*.pyd"):
        for found in sorted((here / "_native").glob(pattern)):
            return str(found)
    raise ImportError(f"libpidq was not found in {here}: install the pidq wheel for this platform, or set PIDQ_LIBRARY")


_path = _library()
#: Releases the GIL while a function runs.
_lib = ctypes.CDLL(_path)

_POINTERS: dict[str, Any] = {
    "pidq_graph_parse": [c_char_p, c_size_t, POINTER(c_void_p)],
    "pidq_graph_parse_with": [c_char_p, c_size_t, c_char_p, c_size_t, POINTER(c_void_p)],
    "pidq_graph_read": [c_char_p, c_size_t, POINTER(c_void_p)],
    "pidq_graph_open": [c_char_p, POINTER(c_void_p)],
    "pidq_graph_import": [c_char_p, POINTER(Slice), c_size_t, POINTER(c_void_p)],
    "pidq_graph_export": [c_void_p, c_char_p, POINTER(c_void_p)],
    "pidq_graph_draw": [c_void_p, POINTER(CDrawOptions), POINTER(c_void_p)],
    "pidq_graph_diff": [c_void_p, c_void_p, POINTER(CDiffOptions), POINTER(c_void_p)],
    "pidq_graph_join_with": [POINTER(c_void_p), c_size_t, c_void_p, POINTER(c_void_p)],
    "pidq_params_set_json": [c_void_p, c_char_p, c_char_p, c_size_t],
    "pidq_query_parse_with": [c_char_p, c_size_t, c_void_p, POINTER(c_void_p)],
    "pidq_query_prepare": [c_char_p, c_size_t, POINTER(c_void_p)],
    "pidq_query_from_json": [c_char_p, c_size_t, c_void_p, POINTER(c_void_p)],
    "pidq_query_run": [c_void_p, c_void_p, c_void_p, c_void_p],
    "pidq_query_run_with": [c_void_p, c_void_p, c_void_p, c_void_p, c_void_p],
    "pidq_query_run_batch": [c_void_p, POINTER(Slice), c_size_t, POINTER(CLimits), POINTER(c_void_p)],
    "pidq_query_explain": [c_void_p, c_void_p, c_void_p, POINTER(c_void_p)],
    "pidq_query_check": [c_void_p, c_void_p, POINTER(c_void_p)],
    "pidq_result_export": [c_void_p, c_char_p, POINTER(c_void_p)],
    "pidq_result_arrow": [c_void_p, c_void_p],
    "pidq_result_columns": [c_void_p, POINTER(c_void_p)],
    "pidq_batch_arrow": [c_void_p, c_void_p],
}
_SLICES = (
    "pidq_buffer_bytes pidq_query_parameters pidq_query_text pidq_query_tree pidq_result_json pidq_result_warnings "
    "pidq_error_json pidq_error_text pidq_batch_failures"
).split()
_DELETES = "graph query params result cancel error buffer files batch".split()

for _name, _arguments in _POINTERS.items():
    _function = getattr(_lib, _name)
    _function.argtypes, _function.restype = _arguments, c_void_p
for _name in _SLICES:
    _function = getattr(_lib, _name)
    _function.argtypes, _function.restype = [c_void_p], Slice
for _name in _DELETES:
    _function = getattr(_lib, f"pidq_{_name}_delete")
    _function.argtypes, _function.restype = [c_void_p], None
_lib.pidq_files_bytes.argtypes, _lib.pidq_files_bytes.restype = [c_void_p, c_size_t], Slice
_lib.pidq_files_name.argtypes, _lib.pidq_files_name.restype = [c_void_p, c_size_t], c_char_p
_lib.pidq_files_count.argtypes, _lib.pidq_files_count.restype = [c_void_p], c_size_t
_lib.pidq_graph_size.argtypes, _lib.pidq_graph_size.restype = [c_void_p], c_size_t
_lib.pidq_result_count.argtypes, _lib.pidq_result_count.restype = [c_void_p], c_size_t
_lib.pidq_batch_count.argtypes, _lib.pidq_batch_count.restype = [c_void_p], c_size_t
_lib.pidq_result_fuel.argtypes, _lib.pidq_result_fuel.restype = [c_void_p], c_uint64
_lib.pidq_params_new.argtypes, _lib.pidq_params_new.restype = [], c_void_p
_lib.pidq_cancel_new.argtypes, _lib.pidq_cancel_new.restype = [], c_void_p
for _name in ("pidq_cancel_fire", "pidq_cancel_time_out"):
    getattr(_lib, _name).argtypes, getattr(_lib, _name).restype = [c_void_p], None
_lib.pidq_version.argtypes, _lib.pidq_version.restype = [], c_char_p
_lib.pidq_abi_version.argtypes, _lib.pidq_abi_version.restype = [], c_uint32
if _lib.pidq_abi_version() != ABI_VERSION:
    raise ImportError(f"{_path} has ABI {_lib.pidq_abi_version()}; this package needs ABI {ABI_VERSION}")

lib: Any = _lib
version: str = _lib.pidq_version().decode()


def _fail(error: int) -> NoReturn:
    """Raises an error of the library and frees it."""
    try:
        details = json.loads(_lib.pidq_error_json(error).bytes())
        text = _lib.pidq_error_text(error).text()
    finally:
        _lib.pidq_error_delete(error)
    raise_error(details, text)


def check(error: Optional[int]) -> None:
    """Raises the error that a function returned, if any."""
    if error:
        _fail(error)


def make(function: Any, *arguments: Any) -> int:
    """Calls a function that writes a handle to its last argument."""
    out = c_void_p()
    return handle_or_raise(function(*arguments, byref(out)), out)


def handle_or_raise(error: Optional[int], out: c_void_p) -> int:
    """Returns the handle that a function wrote, or raises its error."""
    if error:
        _fail(error)
    handle = out.value
    assert handle is not None
    return handle


def take_buffer(handle: int) -> str:
    """Returns the text of a buffer and deletes it."""
    try:
        return str(_lib.pidq_buffer_bytes(handle).text())
    finally:
        _lib.pidq_buffer_delete(handle)


def take_files(handle: int) -> dict[str, bytes]:
    """Returns the files of an export by name and deletes them."""
    try:
        count = _lib.pidq_files_count(handle)
        return {
            _lib.pidq_files_name(handle, at).decode(): _lib.pidq_files_bytes(handle, at).bytes() for at in range(count)
        }
    finally:
        _lib.pidq_files_delete(handle)


def slices(parts: Sequence[Any]) -> Any:
    """Returns an array of slices of bytes objects and buffers of Arrow, which must stay alive."""
    return (Slice * len(parts))(*map(_slice, parts))


def _slice(part: Any) -> Slice:
    if isinstance(part, bytes):
        return Slice(ctypes.cast(c_char_p(part), c_void_p), len(part))
    return Slice(part.address, part.size)


def _python_builder() -> Optional[CBuilder]:
    """Returns the builder of this interpreter, if it is CPython."""
    if sys.implementation.name != "cpython":
        return None
    api = ctypes.pythonapi
    functions = (
        "PyUnicode_FromStringAndSize PyFloat_FromDouble PyLong_FromLongLong PyLong_FromString "
        "PyList_New PyList_SetItem "
        "PyDict_New PyDict_SetItem PyDict_Copy Py_IncRef Py_DecRef"
    ).split()
    addresses = [ctypes.cast(getattr(api, name), c_void_p).value for name in functions]
    # These three are immortal, so their addresses are stable.
    return CBuilder(ctypes.sizeof(CBuilder), id(None), id(True), id(False), *addresses)


_builder = _python_builder()
if _builder is not None:
    #: Keeps the GIL, since the library calls functions of CPython.
    _build = ctypes.PyDLL(_path).pidq_result_build
    _build.argtypes, _build.restype = [c_void_p, c_void_p], ctypes.py_object
    _builder_at = ctypes.addressof(_builder)
    _build_items = ctypes.PyDLL(_path).pidq_result_build_items
    _build_items.argtypes, _build_items.restype = [c_void_p, c_void_p, c_size_t, c_size_t], ctypes.py_object
    _build_shared = ctypes.PyDLL(_path).pidq_result_build_shared
    _build_shared.argtypes, _build_shared.restype = [c_void_p, c_void_p], ctypes.py_object
    _shared_new = ctypes.PyDLL(_path).pidq_shared_new
    _shared_new.argtypes, _shared_new.restype = [c_void_p, c_void_p], c_void_p
    _shared_delete = ctypes.PyDLL(_path).pidq_shared_delete
    _shared_delete.argtypes, _shared_delete.restype = [c_void_p], None


class Shared:
    """Cache of the lists and objects of a graph as Python objects."""

    __slots__ = ("_handle",)

    def __init__(self, graph: Owner) -> None:
        self._handle: Optional[int] = None if _builder is None else _shared_new(graph, _builder_at)

    def __del__(self) -> None:
        if self._handle is not None:
            _shared_delete(self._handle)


def value_of(result: int, shared: Optional[Shared] = None) -> Any:
    """Returns the value of a result as plain Python data; reuses cached objects of ``shared``."""
    if _builder is None:
        text = _lib.pidq_result_json(result)
        return json.loads(text.bytes())
    build, source = (_build, _builder_at) if shared is None else (_build_shared, shared._handle)
    return _without_gc(_lib.pidq_result_count(result), build, result, source)


def build_items(result: int, start: int, count: int) -> list[Any]:
    """Returns up to ``count`` rows of a result from a row on."""
    if _builder is None:
        value = value_of(result)
        return (value if isinstance(value, list) else [value])[start : start + count]
    rows: list[Any] = _without_gc(count, _build_items, result, _builder_at, start, count)
    return rows


def _without_gc(rows: int, build: Any, *arguments: Any) -> Any:
    """Builds a value; of many rows with the garbage collector disabled, since none of them is garbage."""
    if rows < _GC_THRESHOLD or not gc.isenabled():
        return build(*arguments)
    gc.disable()
    try:
        return build(*arguments)
    finally:
        gc.enable()


class ArrowStream(Structure):
    """``struct ArrowArrayStream``."""

    _fields_ = [(name, c_void_p) for name in "get_schema get_next get_last_error release private_data".split()]


_Release = ctypes.CFUNCTYPE(None, c_void_p)
_Destructor = ctypes.CFUNCTYPE(None, c_void_p)
_STREAM_NAME = b"arrow_array_stream"
_api = ctypes.pythonapi
_api.PyCapsule_New.argtypes = [c_void_p, c_char_p, c_void_p]
_api.PyCapsule_New.restype = ctypes.py_object
_api.PyCapsule_GetPointer.argtypes = [c_void_p, c_char_p]
_api.PyCapsule_GetPointer.restype = c_void_p

#: Streams that may still be read, by address.
_streams: dict[int, ArrowStream] = {}


def _release_stream(capsule: int) -> None:
    address = _api.PyCapsule_GetPointer(capsule, _STREAM_NAME)
    stream = _streams.pop(address, None)
    if stream is not None and stream.release:
        _Release(stream.release)(address)


#: Called when a capsule is freed; lives as long as the process.
_stream_destructor = _Destructor(_release_stream)


def stream_capsule(handle: int, export: Any = None) -> Any:
    """Returns the columns of a result as a PyCapsule, the interchange protocol for Arrow data in Python.

    ``export`` is the function for another kind of handle.
    """
    stream = ArrowStream()
    check((export or _lib.pidq_result_arrow)(handle, byref(stream)))
    address = ctypes.addressof(stream)
    _streams[address] = stream
    return _api.PyCapsule_New(address, _STREAM_NAME, ctypes.cast(_stream_destructor, c_void_p))


def deleter(name: str) -> Callable[[Optional[int]], None]:
    """Returns the function that deletes handles of a type."""
    delete: Callable[[Optional[int]], None] = getattr(_lib, f"pidq_{name}_delete")
    return delete
