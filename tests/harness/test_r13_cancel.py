"""R13: when the client disconnects, its query stops using CPU time."""

import json
import socket
import time

from service import LONG, Service, drawing, goal

RUNS = 100 if LONG else 15
# Seconds until a query must have stopped. A busy machine needs longer.
STOP_GRACE = 0.05 if LONG else 1


def endless_query():
    inner = "1"
    for _ in range(14):
        inner = f"([{','.join(['get()'] * 10)}] | map({inner}) | size())"
    return inner


def wait_until_running(service, before):
    """Waits until the query runs, which may take a while on a busy machine; returns the CPU time in seconds."""
    for _ in range(100):
        time.sleep(0.05)
        if service.cpu() - before >= 0.1:
            break
    return service.cpu() - before


def disconnect(service, token, path, body):
    """Returns the CPU times in seconds used before the client disconnected, and later than STOP_GRACE after that."""
    body = json.dumps(body)
    with socket.create_connection(("127.0.0.1", service.port)) as connection:
        head = f"POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        connection.sendall((head + body).encode())
        before = service.cpu()
        used = wait_until_running(service, before)
    time.sleep(STOP_GRACE)
    stopped = service.cpu()
    time.sleep(0.3)
    return used, service.cpu() - stopped


def test_cancellation():
    with Service(PIDQ_QUERY_FUEL="9000000000000000", PIDQ_QUERY_MEMORY="2GiB", PIDQ_QUERY_TIMEOUT="5m") as service:
        service.put(service.session(), "small", drawing(1_000))
        token, late, idle = service.token(), 0, 0
        query = endless_query()
        requests = [("/graph/small", {"query": query}), ("/graph", {"query": query, "graphs": {"ids": ["small"] * 50}})]
        for run in range(RUNS):
            used, after = disconnect(service, token, *requests[run % 2])
            idle += used < 0.05
            late += after > 0.03
        goal("R13", {"runs": RUNS, "late": late, "idle": idle}, "late:1%", late <= RUNS // 100 and not idle)
