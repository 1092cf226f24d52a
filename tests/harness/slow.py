"""Slow clients, as a separate process with the lowest priority: `slow.py PORT TLS_PORT TOKEN SECONDS HEADS BODIES READERS SILENT`.

Prints a line of JSON: for each kind how many there were, and the longest time that one was let stay.
"""

import asyncio
import contextlib
import json
import os
import resource
import sys
import time

os.nice(19)
port, tls_port, token, seconds = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], float(sys.argv[4])
counts = dict(zip(("heads", "bodies", "readers", "silent"), map(int, sys.argv[5:])))
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
stayed = {kind: [] for kind in counts}
BEARER = f"Host: x\r\nAuthorization: Bearer {token}\r\n"


async def heads(reader, writer):
    writer.write(b"GET /livez HTTP/1.1\r\nHost: x\r\n")
    await drip(reader, writer, b"X: y\r\n")


async def bodies(reader, writer):
    writer.write(f"PUT /graph/slow HTTP/1.1\r\n{BEARER}Content-Type: application/json\r\nContent-Length: 10000\r\n\r\n".encode())
    await drip(reader, writer, b" ")


async def readers(reader, writer):
    writer.write(f"GET /graph/large HTTP/1.1\r\n{BEARER}\r\n".encode() * 8)
    # Nothing is read, so only a failing write reveals the end of the connection.
    while True:
        await asyncio.sleep(1)
        writer.write(b"\r\n")
        await writer.drain()


async def silent(reader, writer):
    await reader.read(1)


async def drip(reader, writer, block):
    """Sends a chunk per second until the other side closes the connection."""
    end = asyncio.ensure_future(reader.read(1_000))
    while not end.done():
        writer.write(block)
        await writer.drain()
        await asyncio.wait([end], timeout=1)


async def stay(kind, act):
    reader = writer = None
    begun = time.monotonic()
    with contextlib.suppress(OSError):
        # A small buffer, so that unread data soon blocks the sender.
        limit = 1_024 if kind == "readers" else 65_536
        reader, writer = await asyncio.open_connection("127.0.0.1", tls_port if kind == "silent" else port, limit=limit)
        begun = time.monotonic()
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(act(reader, writer), seconds)
    stayed[kind].append(time.monotonic() - begun)
    if writer:
        writer.close()


async def crowd():
    acts = {"heads": heads, "bodies": bodies, "readers": readers, "silent": silent}
    turns = []
    for kind, count in counts.items():
        for _ in range(count):
            turns.append(asyncio.ensure_future(stay(kind, acts[kind])))
            if len(turns) % 50 == 0:
                await asyncio.sleep(0.05)
    await asyncio.gather(*turns)


asyncio.run(crowd())
print(json.dumps({kind: [len(times), round(max(times, default=0), 1)] for kind, times in stayed.items()}))
