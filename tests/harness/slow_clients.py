"""Slow clients, in a process with the lowest priority: `slow_clients.py PORT TLS_PORT TOKEN SECONDS HEADS BODIES READERS SILENT`.

Prints a line of JSON: for each kind the number of clients, and the longest time until one was disconnected.
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
hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard_limit, hard_limit))
durations = {kind: [] for kind in counts}
BEARER = f"Host: x\r\nAuthorization: Bearer {token}\r\n"


async def slow_head(reader, writer):
    writer.write(b"GET /livez HTTP/1.1\r\nHost: x\r\n")
    await drip(reader, writer, b"X: y\r\n")


async def slow_body(reader, writer):
    writer.write(f"PUT /graph/slow HTTP/1.1\r\n{BEARER}Content-Type: application/json\r\nContent-Length: 10000\r\n\r\n".encode())
    await drip(reader, writer, b" ")


async def slow_reader(reader, writer):
    writer.write(f"GET /graph/large HTTP/1.1\r\n{BEARER}\r\n".encode() * 8)
    # The client reads nothing, so only a failing write reveals the end of the connection.
    while True:
        await asyncio.sleep(1)
        writer.write(b"\r\n")
        await writer.drain()


async def silent(reader, writer):
    await reader.read(1)


async def drip(reader, writer, chunk):
    """Sends a chunk per second until the other side closes the connection."""
    closed = asyncio.ensure_future(reader.read(1_000))
    while not closed.done():
        writer.write(chunk)
        await writer.drain()
        await asyncio.wait([closed], timeout=1)


async def run_client(kind, behavior):
    reader = writer = None
    start = time.monotonic()
    with contextlib.suppress(OSError):
        # A small buffer, so that unread data soon blocks the sender.
        limit = 1_024 if kind == "readers" else 65_536
        reader, writer = await asyncio.open_connection("127.0.0.1", tls_port if kind == "silent" else port, limit=limit)
        start = time.monotonic()
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(behavior(reader, writer), seconds)
    durations[kind].append(time.monotonic() - start)
    if writer:
        writer.close()


async def run_clients():
    behaviors = {"heads": slow_head, "bodies": slow_body, "readers": slow_reader, "silent": silent}
    tasks = []
    for kind, count in counts.items():
        for _ in range(count):
            tasks.append(asyncio.ensure_future(run_client(kind, behaviors[kind])))
            if len(tasks) % 50 == 0:
                await asyncio.sleep(0.05)
    await asyncio.gather(*tasks)


asyncio.run(run_clients())
print(json.dumps({kind: [len(times), round(max(times, default=0), 1)] for kind, times in durations.items()}))
