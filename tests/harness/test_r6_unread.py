"""R6: large results and graphs that clients do not read: those in memory count against the total query memory
and leave enough for others."""

import contextlib
import json
import socket
import time

from service import Service, drawing, goal

POOL = 256
# Clients, and the number of unread results of each.
WHO = ("pidq", "robot", "reader")
EACH = 12
# Larger than the kernel's socket buffers: parts of the document, which are sent from where they are, and
# generated strings, which have to be buffered.
STORED = json.dumps({"query": "[" + ", ".join([".pid_graph.nodes"] * 9) + "]"})
GENERATED = json.dumps({"query": "[" + ", ".join(["$t"] * 16) + "]", "params": {"t": "x" * 900_000}})


def unread(service, token, query):
    """Sends a query and reads only the status."""
    line = sent(service, token, "POST /graph/large", f"Content-Type: application/json\r\nContent-Length: {len(query)}\r\n", query)
    return line, status(line)


def sent(service, token, what, headers="", body=""):
    """Sends a request without reading the response."""
    line = socket.socket()
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    line.connect(("127.0.0.1", service.port))
    line.settimeout(60)
    line.sendall(f"{what} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n{headers}\r\n{body}".encode())
    return line


def status(line):
    return int(line.recv(12)[9:12])


def ask(service, session, query):
    return session.post(service.url + "/graph/large", data=query, headers={"Content-Type": "application/json"})


def leave_unread(service, session, query):
    """Leaves results unread; returns the statuses, the announced bytes and the memory used by the service."""
    length, before = len(ask(service, session, query).content), service.rss()[0]
    with contextlib.ExitStack() as lines:
        seen = []
        for client in WHO:
            token = service.token(client)
            for _ in range(EACH):
                line, status = unread(service, token, query)
                lines.callback(line.close)
                seen.append(status)
        growth = service.rss()[0] - before
        short = session.post(service.url + "/graph/large", json={"query": ".pid_graph.nodes | size()"}).status_code
    deadline = time.monotonic() + 30
    again = 503
    while again == 503 and time.monotonic() < deadline:
        again = ask(service, session, query).status_code
    measurements = {"asked_mib": length * len(seen) >> 20, "held_mib": length * seen.count(200) >> 20, "growth_mib": growth >> 20, "refused": seen.count(503)}
    return seen, measurements, short == again == 200


def serving():
    return Service(PIDQ_QUERY_MEMORY_TOTAL=f"{POOL}MiB", PIDQ_MAX_REQUESTS_PER_PRINCIPAL="1000", PIDQ_RESULT_CACHE_SIZE="0")


def test_generated_results():
    with serving() as service:
        session = service.session()
        assert service.put(session, "large", drawing(20_000)).status_code == 201
        seen, measurements, is_serving = leave_unread(service, session, GENERATED)
        each_has_one = all(200 in seen[EACH * n : EACH * (n + 1)] for n in range(len(WHO)))
        within_limits = measurements["held_mib"] <= POOL // 2 and measurements["growth_mib"] <= POOL
        goal("R6-unread", measurements, f"held:{POOL // 2},growth:{POOL}", set(seen) == {200, 503} and each_has_one and within_limits and is_serving)


def test_stored_results():
    with serving() as service:
        session = service.session()
        assert service.put(session, "large", drawing(20_000)).status_code == 201
        seen, measurements, is_serving = leave_unread(service, session, STORED)
        goal("R6-unread-stored", measurements, f"growth:{POOL // 8}", set(seen) == {200} and measurements["growth_mib"] <= POOL // 8 and is_serving)


def test_many_graphs():
    """Unread graphs, all different: most are decompressed no faster than they are read."""
    pool, count = 104, 6
    with Service(PIDQ_QUERY_MEMORY_TOTAL=f"{pool}MiB", PIDQ_RESULT_CACHE_SIZE="0") as service:
        session, robot = service.session(), service.session(service.token("robot"))
        texts = [json.dumps(drawing(60_000, f"{number}")).encode() for number in range(count)]
        for number, text in enumerate(texts):
            assert session.put(f"{service.url}/graph/g{number}", data=text, headers={"Content-Type": "application/json"}).status_code == 201
        # The memory needed for storing the graphs is freed.
        service.kill()
        service.start()
        token, before = service.token("robot"), service.rss()[0]
        with contextlib.ExitStack() as lines:
            all_lines = [lines.enter_context(sent(service, token, f"GET /graph/g{number}")) for number in range(count)]
            seen = [status(line) for line in all_lines]
            growth = service.rss()[0] - before
            same = all(matches_stored(service, reader, number, text) for reader in (session, robot) for number, text in enumerate(texts))
        # Without a limit, it would be the size of all requested graphs and more.
        limit = sum(map(len, texts)) * 9 // 10
        measurements = {"asked_mib": sum(map(len, texts)) >> 20, "growth_mib": growth >> 20, "sent": seen.count(200)}
        goal("R6-graphs", measurements, f"growth:{limit >> 20}", set(seen) == {200} and growth <= limit and same)


def matches_stored(service, session, number, text):
    """Returns True if the graph equals the stored one, except for the metadata, which include the version."""
    given = session.get(f"{service.url}/graph/g{number}", headers={"Accept-Encoding": "identity"}).content
    return given.startswith(text[: text.index(b'"metadata"')]) and len(given) > len(text)
