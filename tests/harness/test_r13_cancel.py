"""R13: when the client disconnects, its query stops using CPU time."""

import json
import socket
import time

from service import LONG, Service, drawing, goal

TIMES = 100 if LONG else 15
# Seconds until a query must have stopped. A busy machine needs longer.
GRACE = 0.05 if LONG else 1


def endless():
    inner = "1"
    for _ in range(14):
        inner = f"([{','.join(['get()'] * 10)}] | map({inner}) | size())"
    return inner


def busy(service, before):
    """Waits until the query runs, which may take a while on a busy machine; returns the CPU time in seconds."""
    for _ in range(100):
        time.sleep(0.05)
        if service.cpu() - before >= 0.1:
            break
    return service.cpu() - before


def cancel(service, token, path, body):
    """Returns the CPU time in seconds used later than GRACE after the client disconnected."""
    body = json.dumps(body)
    with socket.create_connection(("127.0.0.1", service.port)) as line:
        head = f"POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        line.sendall((head + body).encode())
        before = service.cpu()
        used = busy(service, before)
    time.sleep(GRACE)
    gone = service.cpu()
    time.sleep(0.3)
    return used, service.cpu() - gone


def test_cancellation():
    with Service(PIDQ_QUERY_FUEL="9000000000000000", PIDQ_QUERY_MEMORY="2GiB", PIDQ_QUERY_TIMEOUT="5m") as service:
        service.put(service.session(), "small", drawing(1_000))
        token, late, idle = service.token(), 0, 0
        query = endless()
        asked = [("/graph/small", {"query": query}), ("/graph", {"query": query, "graphs": {"ids": ["small"] * 50}})]
        for turn in range(TIMES):
            used, after = cancel(service, token, *asked[turn % 2])
            idle += used < 0.05
            late += after > 0.03
        goal("R13", {"times": TIMES, "late": late, "idle": idle}, "late:1%", late <= TIMES // 100 and not idle)
