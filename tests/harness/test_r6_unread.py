"""R6: long results and graphs whose readers take nothing: those that had to be made or read count in the memory of the queries,
and leave room for others."""

import contextlib
import json
import socket
import time

from service import Service, drawing, goal

POOL = 256
# Those who ask, and how many results each leaves lying.
WHO = ("pidq", "robot", "reader")
EACH = 12
# Longer than what the kernel takes over for a reader who sleeps: texts of the document, which stay where they are until
# somebody takes them, and texts that have to be kept.
STORED = json.dumps({"query": "[" + ", ".join([".pid_graph.nodes"] * 9) + "]"})
MADE = json.dumps({"query": "[" + ", ".join(["$t"] * 16) + "]", "params": {"t": "x" * 900_000}})


def unread(service, token, query):
    """Asks, and reads nothing beyond the status."""
    line = sent(service, token, "POST /graph/large", f"Content-Type: application/json\r\nContent-Length: {len(query)}\r\n", query)
    return line, status(line)


def sent(service, token, what, headers="", body=""):
    """A request whose answer nobody reads."""
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


def left_lying(service, session, query):
    """What becomes of results that everybody leaves lying: the statuses, bytes that were promised, and what the service took."""
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
    patience = time.monotonic() + 30
    again = 503
    while again == 503 and time.monotonic() < patience:
        again = ask(service, session, query).status_code
    figures = {"asked_mib": length * len(seen) >> 20, "held_mib": length * seen.count(200) >> 20, "growth_mib": growth >> 20, "refused": seen.count(503)}
    return seen, figures, short == again == 200


def serving():
    return Service(PIDQ_QUERY_POOL=f"{POOL}MiB", PIDQ_MAX_REQUESTS_PER_PRINCIPAL="1000", PIDQ_RESULT_CACHE="0")


def test_results_that_were_made():
    with serving() as service:
        session = service.session()
        assert service.put(session, "large", drawing(20_000)).status_code == 201
        seen, figures, goes_on = left_lying(service, session, MADE)
        each_has_one = all(200 in seen[EACH * n : EACH * (n + 1)] for n in range(len(WHO)))
        kept = figures["held_mib"] <= POOL // 2 and figures["growth_mib"] <= POOL
        goal("R6-unread", figures, f"held:{POOL // 2},growth:{POOL}", set(seen) == {200, 503} and each_has_one and kept and goes_on)


def test_results_that_are_in_the_document():
    with serving() as service:
        session = service.session()
        assert service.put(session, "large", drawing(20_000)).status_code == 201
        seen, figures, goes_on = left_lying(service, session, STORED)
        goal("R6-unread-stored", figures, f"growth:{POOL // 8}", set(seen) == {200} and figures["growth_mib"] <= POOL // 8 and goes_on)


def test_many_graphs():
    """Graphs that somebody leaves lying, each another one: most are unpacked no faster than they are read."""
    pool, count = 104, 6
    with Service(PIDQ_QUERY_POOL=f"{pool}MiB", PIDQ_RESULT_CACHE="0") as service:
        session, robot = service.session(), service.session(service.token("robot"))
        texts = [json.dumps(drawing(60_000, f"{number}")).encode() for number in range(count)]
        for number, text in enumerate(texts):
            assert session.put(f"{service.url}/graph/g{number}", data=text, headers={"Content-Type": "application/json"}).status_code == 201
        # What was needed to take the graphs in is gone.
        service.kill()
        service.start()
        token, before = service.token("robot"), service.rss()[0]
        with contextlib.ExitStack() as lines:
            all_lines = [lines.enter_context(sent(service, token, f"GET /graph/g{number}")) for number in range(count)]
            seen = [status(line) for line in all_lines]
            growth = service.rss()[0] - before
            same = all(comes(service, who, number, text) for who in (session, robot) for number, text in enumerate(texts))
        # Without a bound it would be all that was asked for, and more.
        most = sum(map(len, texts)) * 9 // 10
        figures = {"asked_mib": sum(map(len, texts)) >> 20, "growth_mib": growth >> 20, "sent": seen.count(200)}
        goal("R6-graphs", figures, f"growth:{most >> 20}", set(seen) == {200} and growth <= most and same)


def comes(service, session, number, text):
    """Whether the graph is what was put, but for the metadata, which tell of the version too."""
    given = session.get(f"{service.url}/graph/g{number}", headers={"Accept-Encoding": "identity"}).content
    return given.startswith(text[: text.index(b'"metadata"')]) and len(given) > len(text)
