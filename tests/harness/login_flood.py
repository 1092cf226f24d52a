"""Flood of logins with wrong passwords, in a process with the lowest priority: `login_flood.py PORT SECONDS RATE`.

The logins are for a hundred accounts, from six hundred networks that the headers of a trusted proxy name. Prints a line of JSON:
the number of responses by status.
"""

import asyncio
import json
import os
import sys
import time
from urllib.parse import urlencode

from service import SECRET

os.nice(19)
port, seconds, rate = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
CONNECTIONS = 24
statuses = {}


def request(number):
    form = {"grant_type": "password", "client_id": "pidq", "client_secret": SECRET, "username": f"user{number % 100}", "password": "x"}
    body = urlencode(form)
    head = (
        "POST /o/token/ HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n"
        f"X-Forwarded-For: 198.51.{number % 24}.{number % 25}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return (head + body).encode()


async def send(reader, writer, number):
    writer.write(request(number))
    head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    length = int(head.split("content-length:")[1].split("\r\n")[0])
    await reader.readexactly(length)
    return int(head[9:12])


async def send_logins(start, numbers):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for number in numbers:
        await asyncio.sleep(max(0, start + number / rate - time.monotonic()))
        if time.monotonic() - start > seconds:
            break
        status = await send(reader, writer, number)
        statuses[status] = statuses.get(status, 0) + 1
    writer.close()


async def flood():
    start = time.monotonic()
    numbers = iter(range(int(seconds * rate)))
    await asyncio.gather(*(send_logins(start, numbers) for _ in range(CONNECTIONS)))


asyncio.run(flood())
print(json.dumps(statuses))
