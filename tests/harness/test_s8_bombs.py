"""S8: decompression bombs and endless bodies: rejected in time, with stable memory.

The service fetches no address that a request names, so that there is nothing else to try.
"""

import gzip
import json
import socket
import struct
import time
import zlib

from service import LONG, Service, goal

# A debug build is slower and larger.
PATIENCE, ROOM = (2, 128) if LONG else (10, 192)
MIB = 1 << 20


def endless_gzip(mebibytes, byte=b" ", before=b'{"pid_graph": '):
    """Returns a gzip member of the given size in MiB: one repeated block."""
    pack = zlib.compressobj(9, zlib.DEFLATED, 31)
    data = pack.compress(before) + pack.flush(zlib.Z_FULL_FLUSH)
    block = pack.compress(byte * MIB) + pack.flush(zlib.Z_FULL_FLUSH)
    return data + block * mebibytes


def zstd(blocks, window=0x58, descriptor=0, size=b"", byte=b" "):
    """Returns a frame with the given number of blocks, each 128 KiB of one byte."""
    block = struct.pack("<I", (128 << 10) << 3 | 1 << 1)[:3] + byte
    return b"\x28\xb5\x2f\xfd" + bytes([descriptor, window]) + size + block * blocks


def nodes(count):
    return b'{"pid_graph":{"nodes":[' + b"{}," * (count - 1) + b'{}],"edges":[]}}'


GOOD = b'{"pid_graph":{"nodes":[],"edges":[]}}'
PACKED = gzip.compress(GOOD)
NAN = b'{"pid_graph":{"nodes":[{"a":%s}],"edges":[]}}'

# name, headers, body
BOMBS = [
    ("gzip of 10 GiB", {"Content-Encoding": "gzip"}, endless_gzip(10_240)),
    ("gzip of 100 MiB", {"Content-Encoding": "gzip"}, endless_gzip(100)),
    ("gzip of one long text", {"Content-Encoding": "gzip"}, endless_gzip(200, b"a", b'{"pid_graph": "')),
    ("gzip of brackets", {"Content-Encoding": "gzip"}, endless_gzip(60, b"[", b"")),
    ("gzip in gzip", {"Content-Encoding": "gzip, gzip"}, gzip.compress(endless_gzip(1_024))),
    ("many members of gzip", {"Content-Encoding": "gzip"}, gzip.compress(b" " * MIB) * 2_000),
    ("gzip without an end", {"Content-Encoding": "gzip"}, PACKED[:-12]),
    ("gzip with a wrong sum", {"Content-Encoding": "gzip"}, PACKED[:-8] + b"\0" * 8),
    ("gzip and more", {"Content-Encoding": "gzip"}, PACKED + b"x" * 100),
    ("gzip with a name without an end", {"Content-Encoding": "gzip"}, b"\x1f\x8b\x08\x08\0\0\0\0\0\xff" + b"n" * MIB),
    ("no gzip", {"Content-Encoding": "gzip"}, GOOD),
    ("zstd of 10 GiB", {"Content-Encoding": "zstd"}, zstd(81_920)),
    ("zstd of 100 MiB", {"Content-Encoding": "zstd"}, zstd(800)),
    ("zstd with the largest window", {"Content-Encoding": "zstd"}, zstd(800, window=0xFF)),
    ("zstd with a window of 2 GiB", {"Content-Encoding": "zstd"}, zstd(8, window=0xA8)),
    ("zstd that says it is enormous", {"Content-Encoding": "zstd"}, zstd(8, descriptor=0xC0, size=struct.pack("<Q", 1 << 62))),
    ("many frames of zstd", {"Content-Encoding": "zstd"}, zstd(1)[:-4] * 1 + b"\x28\xb5\x2f\xfd\x20\x00\x01\x00\x00" * 200_000),
    ("zstd that is skipped", {"Content-Encoding": "zstd"}, b"\x50\x2a\x4d\x18\xff\xff\xff\xff" + b"x" * 1_000),
    ("zstd with a dictionary", {"Content-Encoding": "zstd"}, zstd(1, descriptor=1, size=b"\x07")),
    ("zstd without an end", {"Content-Encoding": "zstd"}, zstd(1)),
    ("a coding that is not spoken", {"Content-Encoding": "br"}, b"\x8b\x03\x80"),
    ("65 MiB as they are", {}, b'{"pid_graph":"' + b"a" * (65 * MIB) + b'"}'),
    ("a list of lists of lists", {}, b'{"pid_graph":' + b"[" * 1_000_000),
    ("objects in objects", {}, b'{"pid_graph":' + b'{"a":' * 200_000 + b"1" + b"}" * 200_001),
    ("a million nodes and one", {}, nodes(1_000_001)),
    ("a million keys, all the same", {}, b'{"pid_graph":{' + b'"a":1,' * 1_000_000 + b'"a":1}}'),
    ("ids that are all the same, strictly", {"X-Path": "?strict=true"}, b'{"pid_graph":{"nodes":[' + b'{"id":"a"},' * 100_000 + b'{"id":"a"}],"edges":[]}}'),
    ("edges that lead nowhere, strictly", {"X-Path": "?strict=true"}, b'{"pid_graph":{"nodes":[],"edges":[' + b'{"source":"a","target":"b"},' * 100_000 + b'{"source":"a","target":"b"}]}}'),
    ("nothing but a text", {}, b'"' + b"\\u0000" * 1_000_000 + b'"'),
    ("a text without an end", {}, b'{"pid_graph":"' + b"a" * MIB),
    ("half a surrogate", {}, NAN % b'"\\ud800"'),
    ("bytes that are no text", {}, NAN % b'"\xff\xfe"'),
    ("a long form of a byte", {}, NAN % b'"\xc0\x80"'),
    ("UTF-16", {}, GOOD.decode().encode("utf-16")),
    ("something behind the end", {}, GOOD + b"[]"),
    ("no number", {}, NAN % b"NaN"),
    ("parts of a form", {"Content-Type": "multipart/form-data; boundary=b"}, b"--b\r\n" * 100_000),
    ("a form", {"Content-Type": "application/x-www-form-urlencoded"}, b"a=b&" * 100_000),
]


def send(service, token, headers, body):
    """Sends as much as the server accepts and returns the status."""
    headers = {"Content-Type": "application/json", "Content-Length": len(body), **headers}
    path = "/graph/bomb" + headers.pop("X-Path", "")
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    with socket.create_connection(("127.0.0.1", service.port), timeout=60) as line:
        line.sendall(f"PUT {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n{lines}\r\n".encode())
        try:
            line.sendall(body)
        except OSError:
            pass
        return int(line.recv(65_536)[9:12] or 0)


def test_bombs():
    with Service() as service:
        token, wrong, slowest = service.token(), [], (0, "")
        assert send(service, token, {}, GOOD) == 201 and send(service, token, {"Content-Encoding": "gzip"}, PACKED) == 200
        for name, headers, body in BOMBS:
            begun = time.monotonic()
            try:
                status = send(service, token, headers, body)
            except OSError as error:
                status = repr(error)
            took = time.monotonic() - begun
            slowest = max(slowest, (took, name))
            if status not in (400, 413, 415, 422) or took > PATIENCE:
                wrong.append((name, status, round(took, 2)))
        peak = service.rss()[1] >> 20
        stored = service.session(token).get(service.url + "/graph/bomb", timeout=30)
        if json.loads(stored.content)["pid_graph"]["nodes"]:
            wrong.append(("the graph was replaced", stored.status_code, 0))
        print("SLOWEST", slowest)
        for row in wrong:
            print("WRONG", row)
        measurements = {"bombs": len(BOMBS), "wrong": len(wrong), "slowest_s": round(slowest[0], 2), "rss_mib": peak}
        goal("S8", measurements, f">=30,0,{PATIENCE}s,{ROOM}MiB", not wrong and len(BOMBS) >= 30 and peak <= ROOM)
