"""R6: large results and graphs that clients do not read: those in memory are charged to the total query memory and leave
enough for others."""

import contextlib
import json
import socket
import time

from service import Service, drawing, goal

TOTAL_MIB = 256
# Clients, and the number of unread responses of each.
CLIENTS = ("pidq", "robot", "reader")
RESPONSES_PER_CLIENT = 12
# Larger than the kernel's socket buffers: parts of the document, which are sent without a copy, and generated strings, which
# have to be buffered.
STORED = json.dumps({"query": "[" + ", ".join([".pid_graph.nodes"] * 9) + "]"})
GENERATED = json.dumps({"query": "[" + ", ".join(["$t"] * 16) + "]", "params": {"t": "x" * 900_000}})


def query_without_reading(service, token, query):
    """Sends a query and reads only the status."""
    connection = send_request(service, token, "POST /graph/large", f"Content-Type: application/json\r\nContent-Length: {len(query)}\r\n", query)
    return connection, read_status(connection)


def send_request(service, token, request_line, headers="", body=""):
    """Sends a request without reading the response."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.connect(("127.0.0.1", service.port))
    connection.settimeout(60)
    connection.sendall(f"{request_line} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n{headers}\r\n{body}".encode())
    return connection


def read_status(connection):
    return int(connection.recv(12)[9:12])


def run_query(service, session, query):
    return session.post(service.url + "/graph/large", data=query, headers={"Content-Type": "application/json"})


def leave_unread(service, session, query):
    """Leaves results unread; returns the statuses, the announced bytes and the memory used by the service."""
    length, before = len(run_query(service, session, query).content), service.rss()[0]
    with contextlib.ExitStack() as connections:
        statuses = []
        for client in CLIENTS:
            token = service.token(client)
            for _ in range(RESPONSES_PER_CLIENT):
                connection, status = query_without_reading(service, token, query)
                connections.callback(connection.close)
                statuses.append(status)
        growth = service.rss()[0] - before
        small_query = session.post(service.url + "/graph/large", json={"query": ".pid_graph.nodes | size()"}).status_code
    deadline = time.monotonic() + 30
    again = 503
    while again == 503 and time.monotonic() < deadline:
        again = run_query(service, session, query).status_code
    measurements = {"requested_mib": length * len(statuses) >> 20, "held_mib": length * statuses.count(200) >> 20, "growth_mib": growth >> 20, "rejected": statuses.count(503)}
    return statuses, measurements, small_query == again == 200


def start_service():
    return Service(PIDQ_QUERY_MEMORY_TOTAL=f"{TOTAL_MIB}MiB", PIDQ_REQUESTS_PER_CALLER_LIMIT="1000", PIDQ_RESULT_CACHE_SIZE="0")


def test_generated_results():
    with start_service() as service:
        session = service.session()
        assert service.put(session, "large", drawing(20_000)).status_code == 201
        statuses, measurements, is_serving = leave_unread(service, session, GENERATED)
        each_client_has_one = all(200 in statuses[RESPONSES_PER_CLIENT * n : RESPONSES_PER_CLIENT * (n + 1)] for n in range(len(CLIENTS)))
        within_limits = measurements["held_mib"] <= TOTAL_MIB // 2 and measurements["growth_mib"] <= TOTAL_MIB
        goal("R6-unread", measurements, f"held:{TOTAL_MIB // 2},growth:{TOTAL_MIB}", set(statuses) == {200, 503} and each_client_has_one and within_limits and is_serving)


def test_stored_results():
    with start_service() as service:
        session = service.session()
        assert service.put(session, "large", drawing(20_000)).status_code == 201
        statuses, measurements, is_serving = leave_unread(service, session, STORED)
        goal("R6-unread-stored", measurements, f"growth:{TOTAL_MIB // 8}", set(statuses) == {200} and measurements["growth_mib"] <= TOTAL_MIB // 8 and is_serving)


def test_many_graphs():
    """Different unread graphs: most are decompressed only as fast as the clients read."""
    total_mib, count = 104, 6
    with Service(PIDQ_QUERY_MEMORY_TOTAL=f"{total_mib}MiB", PIDQ_RESULT_CACHE_SIZE="0") as service:
        session, robot = service.session(), service.session(service.token("robot"))
        texts = [json.dumps(drawing(60_000, f"{number}")).encode() for number in range(count)]
        for number, text in enumerate(texts):
            assert session.put(f"{service.url}/graph/g{number}", data=text, headers={"Content-Type": "application/json"}).status_code == 201
        # The memory needed for storing the graphs is freed.
        service.kill()
        service.start()
        token, before = service.token("robot"), service.rss()[0]
        with contextlib.ExitStack() as connections:
            opened = [connections.enter_context(send_request(service, token, f"GET /graph/g{number}")) for number in range(count)]
            statuses = [read_status(connection) for connection in opened]
            growth = service.rss()[0] - before
            is_same = all(matches_stored(service, reader, number, text) for reader in (session, robot) for number, text in enumerate(texts))
        # Without a limit, it would be the size of all requested graphs and more.
        limit = sum(map(len, texts)) * 9 // 10
        measurements = {"requested_mib": sum(map(len, texts)) >> 20, "growth_mib": growth >> 20, "sent": statuses.count(200)}
        goal("R6-graphs", measurements, f"growth:{limit >> 20}", set(statuses) == {200} and growth <= limit and is_same)


def matches_stored(service, session, number, text):
    """Returns True if the graph equals the stored one, except for the metadata, which include the version."""
    body = session.get(f"{service.url}/graph/g{number}", headers={"Accept-Encoding": "identity"}).content
    return body.startswith(text[: text.index(b'"metadata"')]) and len(body) > len(text)
