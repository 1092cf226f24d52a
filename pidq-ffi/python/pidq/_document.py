"""Documents: what a query runs on. Graphs are documents with more functions."""

from __future__ import annotations

from typing import Any, Optional, TypeVar

from ._ffi import Shared, deleter, lib, make
from ._handle import ClosableHandle, Owner
from ._json import Default, dumps

_delete_graph = deleter("graph")

_Self = TypeVar("_Self", bound="Document")


class Document(ClosableHandle):
    """An immutable document. Any number of threads may use it."""

    __slots__ = ("__weakref__", "_shared", "_topology")

    _shared: Optional[Shared]
    _topology: Optional[bytes]

    @classmethod
    def _from_handle(cls: type[_Self], handle: int, topology: Optional[bytes] = None) -> _Self:
        document = cls.__new__(cls)
        document._owner = Owner(handle, _delete_graph)
        document._shared = None
        document._topology = topology
        return document

    @classmethod
    def _parse(cls: type[_Self], text: bytes, topology: Optional[bytes] = None) -> _Self:
        if topology is None:
            return cls._from_handle(make(lib.pidq_graph_parse, text, len(text)))
        return cls._from_handle(make(lib.pidq_graph_parse_with, text, len(text), topology, len(topology)), topology)

    def _shared_objects(self) -> Shared:
        if self._shared is None:
            self._shared = Shared(self._open())
        return self._shared

    def close(self) -> None:
        """Frees the memory now. Calls that are running, and results that were returned, are not affected."""
        super().close()
        self._shared = None


def as_document(data: Any, default: Optional[Default] = None) -> Document:
    """Returns a document unchanged; converts any other Python data."""
    return data if isinstance(data, Document) else Document._parse(dumps(data, default).encode())


def content_of(document: Any, default: Optional[Default] = None) -> Any:
    """Returns a document of a batch as bytes, or as a buffer of pyarrow; a str is JSON text."""
    if isinstance(document, bytes) or _is_arrow_buffer(document):
        return document
    if isinstance(document, (bytearray, memoryview)):
        return bytes(document)
    if isinstance(document, str):
        return document.encode()
    if isinstance(document, ClosableHandle):
        return _json_bytes(document)
    return dumps(document, default).encode()


def _json_bytes(document: Any) -> bytes:
    """Returns the JSON of a graph or of a result."""
    if not hasattr(document, "json_bytes"):
        raise TypeError(f"{type(document).__name__} is no document")
    content: bytes = document.json_bytes()
    return content


def _is_arrow_buffer(document: Any) -> bool:
    return type(document).__module__.startswith("pyarrow") and hasattr(document, "address")
