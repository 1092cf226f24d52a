"""S8: decompression bombs and endless bodies: rejected in time, with stable memory.

The service fetches no URL from a request, so only request bodies are tested.
"""

import gzip
import json
import socket
import struct
import time
import zlib

from service import LONG, Service, goal

# A debug build is slower and uses more memory.
MAX_SECONDS, MAX_RSS_MIB = (2, 128) if LONG else (10, 192)
MIB = 1 << 20


def large_gzip(mebibytes, byte=b" ", prefix=b'{"pid_graph": '):
    """Returns a gzip member of the given size in MiB: one repeated block."""
    compressor = zlib.compressobj(9, zlib.DEFLATED, 31)
    data = compressor.compress(prefix) + compressor.flush(zlib.Z_FULL_FLUSH)
    block = compressor.compress(byte * MIB) + compressor.flush(zlib.Z_FULL_FLUSH)
    return data + block * mebibytes


def zstd(blocks, window=0x58, descriptor=0, size=b"", byte=b" "):
    """Returns a frame with the given number of blocks, each 128 KiB of one byte."""
    block = struct.pack("<I", (128 << 10) << 3 | 1 << 1)[:3] + byte
    return b"\x28\xb5\x2f\xfd" + bytes([descriptor, window]) + size + block * blocks


def nodes(count):
    return b'{"pid_graph":{"nodes":[' + b"{}," * (count - 1) + b'{}],"edges":[]}}'


VALID = b'{"pid_graph":{"nodes":[],"edges":[]}}'
VALID_GZIP = gzip.compress(VALID)
NODE_WITH_VALUE = b'{"pid_graph":{"nodes":[{"a":%s}],"edges":[]}}'

# name, headers, body
BOMBS = [
    ("gzip of 10 GiB", {"Content-Encoding": "gzip"}, large_gzip(10_240)),
    ("gzip of 100 MiB", {"Content-Encoding": "gzip"}, large_gzip(100)),
    ("gzip of one long string", {"Content-Encoding": "gzip"}, large_gzip(200, b"a", b'{"pid_graph": "')),
    ("gzip of brackets", {"Content-Encoding": "gzip"}, large_gzip(60, b"[", b"")),
    ("gzip in gzip", {"Content-Encoding": "gzip, gzip"}, gzip.compress(large_gzip(1_024))),
    ("many members of gzip", {"Content-Encoding": "gzip"}, gzip.compress(b" " * MIB) * 2_000),
    ("truncated gzip", {"Content-Encoding": "gzip"}, VALID_GZIP[:-12]),
    ("gzip with a wrong checksum", {"Content-Encoding": "gzip"}, VALID_GZIP[:-8] + b"\0" * 8),
    ("gzip with trailing data", {"Content-Encoding": "gzip"}, VALID_GZIP + b"x" * 100),
    ("gzip with an unterminated file name", {"Content-Encoding": "gzip"}, b"\x1f\x8b\x08\x08\0\0\0\0\0\xff" + b"n" * MIB),
    ("invalid gzip", {"Content-Encoding": "gzip"}, VALID),
    ("zstd of 10 GiB", {"Content-Encoding": "zstd"}, zstd(81_920)),
    ("zstd of 100 MiB", {"Content-Encoding": "zstd"}, zstd(800)),
    ("zstd with the largest window", {"Content-Encoding": "zstd"}, zstd(800, window=0xFF)),
    ("zstd with a window of 2 GiB", {"Content-Encoding": "zstd"}, zstd(8, window=0xA8)),
    ("zstd with a huge declared size", {"Content-Encoding": "zstd"}, zstd(8, descriptor=0xC0, size=struct.pack("<Q", 1 << 62))),
    ("many frames of zstd", {"Content-Encoding": "zstd"}, zstd(1)[:-4] * 1 + b"\x28\xb5\x2f\xfd\x20\x00\x01\x00\x00" * 200_000),
    ("skippable frame of zstd", {"Content-Encoding": "zstd"}, b"\x50\x2a\x4d\x18\xff\xff\xff\xff" + b"x" * 1_000),
    ("zstd with a dictionary", {"Content-Encoding": "zstd"}, zstd(1, descriptor=1, size=b"\x07")),
    ("truncated zstd", {"Content-Encoding": "zstd"}, zstd(1)),
    ("unsupported content coding", {"Content-Encoding": "br"}, b"\x8b\x03\x80"),
    ("65 MiB uncompressed", {}, b'{"pid_graph":"' + b"a" * (65 * MIB) + b'"}'),
    ("nested lists", {}, b'{"pid_graph":' + b"[" * 1_000_000),
    ("nested objects", {}, b'{"pid_graph":' + b'{"a":' * 200_000 + b"1" + b"}" * 200_001),
    ("a million and one nodes", {}, nodes(1_000_001)),
    ("a million equal keys", {}, b'{"pid_graph":{' + b'"a":1,' * 1_000_000 + b'"a":1}}'),
    ("duplicate ids, strict", {"X-Path": "?strict=true"}, b'{"pid_graph":{"nodes":[' + b'{"id":"a"},' * 100_000 + b'{"id":"a"}],"edges":[]}}'),
    ("edges without nodes, strict", {"X-Path": "?strict=true"}, b'{"pid_graph":{"nodes":[],"edges":[' + b'{"source":"a","target":"b"},' * 100_000 + b'{"source":"a","target":"b"}]}}'),
    ("only a string", {}, b'"' + b"\\u0000" * 1_000_000 + b'"'),
    ("unterminated string", {}, b'{"pid_graph":"' + b"a" * MIB),
    ("lone surrogate", {}, NODE_WITH_VALUE % b'"\\ud800"'),
    ("invalid UTF-8", {}, NODE_WITH_VALUE % b'"\xff\xfe"'),
    ("overlong UTF-8", {}, NODE_WITH_VALUE % b'"\xc0\x80"'),
    ("UTF-16", {}, VALID.decode().encode("utf-16")),
    ("trailing data", {}, VALID + b"[]"),
    ("invalid number", {}, NODE_WITH_VALUE % b"NaN"),
    ("multipart form", {"Content-Type": "multipart/form-data; boundary=b"}, b"--b\r\n" * 100_000),
    ("URL-encoded form", {"Content-Type": "application/x-www-form-urlencoded"}, b"a=b&" * 100_000),
]


def send(service, token, headers, body):
    """Sends as much as the server accepts and returns the status."""
    headers = {"Content-Type": "application/json", "Content-Length": len(body), **headers}
    path = "/graph/bomb" + headers.pop("X-Path", "")
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    with socket.create_connection(("127.0.0.1", service.port), timeout=60) as connection:
        connection.sendall(f"PUT {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n{lines}\r\n".encode())
        try:
            connection.sendall(body)
        except OSError:
            pass
        return int(connection.recv(65_536)[9:12] or 0)


def test_bombs():
    with Service() as service:
        token, wrong, slowest = service.token(), [], (0, "")
        assert send(service, token, {}, VALID) == 201 and send(service, token, {"Content-Encoding": "gzip"}, VALID_GZIP) == 200
        for name, headers, body in BOMBS:
            start = time.monotonic()
            try:
                status = send(service, token, headers, body)
            except OSError as error:
                status = repr(error)
            duration = time.monotonic() - start
            slowest = max(slowest, (duration, name))
            if status not in (400, 413, 415, 422) or duration > MAX_SECONDS:
                wrong.append((name, status, round(duration, 2)))
        peak = service.rss()[1] >> 20
        stored = service.session(token).get(service.url + "/graph/bomb", timeout=30)
        if json.loads(stored.content)["pid_graph"]["nodes"]:
            wrong.append(("the graph was replaced", stored.status_code, 0))
        print("SLOWEST", slowest)
        for row in wrong:
            print("WRONG", row)
        measurements = {"bombs": len(BOMBS), "wrong": len(wrong), "slowest_s": round(slowest[0], 2), "rss_mib": peak}
        goal("S8", measurements, f">=30,0,{MAX_SECONDS}s,{MAX_RSS_MIB}MiB", not wrong and len(BOMBS) >= 30 and peak <= MAX_RSS_MIB)
