"""R6: long results whose readers take nothing: they count in the memory of the queries, and leave room for others."""

import contextlib
import json
import socket
import time

from service import Service, drawing, goal

POOL = 256
# Those who ask, and how many results each leaves lying.
WHO = ("pidq", "robot", "reader")
EACH = 12
# Twelve megabytes: more than what the kernel takes over for a reader who sleeps.
LONG_QUERY = json.dumps({"query": "[" + ", ".join([".pid_graph.nodes"] * 9) + "]"})


def unread(service, token):
    """Asks, and reads nothing beyond the status."""
    line = socket.socket()
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    line.connect(("127.0.0.1", service.port))
    line.settimeout(60)
    head = f"POST /graph/large HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\nContent-Length: {len(LONG_QUERY)}\r\n\r\n"
    line.sendall((head + LONG_QUERY).encode())
    return line, int(line.recv(12)[9:12])


def test_results_that_nobody_reads():
    with Service(PIDQ_QUERY_POOL=f"{POOL}MiB", PIDQ_MAX_REQUESTS_PER_PRINCIPAL="1000") as service, contextlib.ExitStack() as lines:
        session = service.session()
        assert service.put(session, "large", drawing(20_000)).status_code == 201
        length = len(session.post(service.url + "/graph/large", data=LONG_QUERY, headers={"Content-Type": "application/json"}).content)
        before = service.rss()[0]
        seen, lengths = [], 0
        for client in WHO:
            token = service.token(client)
            for _ in range(EACH):
                line, status = unread(service, token)
                lines.callback(line.close)
                seen.append(status)
                lengths += length if status == 200 else 0
        growth = (service.rss()[0] - before) >> 20
        short = session.post(service.url + "/graph/large", json={"query": ".pid_graph.nodes | size()"})
        lines.close()
        patience = time.monotonic() + 30
        again = 503
        while again == 503 and time.monotonic() < patience:
            again = session.post(service.url + "/graph/large", data=LONG_QUERY, headers={"Content-Type": "application/json"}).status_code
        held = lengths >> 20
        figures = {"asked_mib": length * len(seen) >> 20, "held_mib": held, "growth_mib": growth, "refused": seen.count(503)}
        passed = (
            set(seen) == {200, 503} and all(200 in seen[EACH * n : EACH * (n + 1)] for n in range(len(WHO)))
            and held <= POOL // 2 and growth <= POOL and short.status_code == 200 and again == 200
        )
        goal("R6-unread", figures, f"held:{POOL // 2},growth:{POOL}", passed)
