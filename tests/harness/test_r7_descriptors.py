"""R7: more connections than file descriptors: the service survives and serves again at once when they close."""

import contextlib
import resource
import socket
import time

import requests
from service import Service, drawing, goal

CONNECTIONS = 2_000


def open_connections(port):
    """Opens as many idle connections as possible; those not accepted at once wait in the kernel's queue."""
    hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard_limit, 8_192), hard_limit))
    connections = []
    for _ in range(CONNECTIONS):
        connection = socket.socket()
        connection.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            connection.connect(("127.0.0.1", port))
        connections.append(connection)
    return connections


def test_descriptors():
    with Service(command_prefix=("prlimit", "--nofile=256:256")) as service:
        session = service.session()
        assert service.put(session, "small", drawing(100)).status_code == 201
        connections = open_connections(service.port)
        time.sleep(1)
        is_running = service.process.poll() is None
        for connection in connections:
            connection.close()
        start = time.monotonic()
        # A new connection, and a request that opens a file of the store.
        assert requests.get(service.url + "/livez", timeout=10).status_code == 200
        assert service.put(service.session(), "small", drawing(101)).status_code == 200
        seconds = time.monotonic() - start
        goal("R7", {"connections": CONNECTIONS, "descriptors": 256, "is_running": is_running, "recovery_s": round(seconds, 2)}, "2s", is_running and seconds <= 2)
