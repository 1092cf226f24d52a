"""HTTP/2 frames built by hand, including invalid ones that no library sends."""

import socket
import struct

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST, SETTINGS, PING, GOAWAY, WINDOW, CONTINUATION = 0, 1, 3, 4, 6, 7, 8, 9
END_STREAM, END_HEADERS = 1, 4


def frame(kind, flags=0, stream=0, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def hpack_string(text):
    return bytes([len(text)]) + text.encode()


def header_block(method=b"\x82", path="/livez", more=b""):
    """Returns the header block of a request; `method` is an index into the static table."""
    return method + b"\x86" + b"\x04" + hpack_string(path) + b"\x01" + hpack_string("localhost") + more


def connect(port, settings=b""):
    connection = socket.create_connection(("127.0.0.1", port), timeout=10)
    connection.sendall(PREFACE + frame(SETTINGS, 0, 0, settings))
    return connection
