"""R7: more connections than file descriptors: the service survives and serves again at once when they close."""

import contextlib
import resource
import socket
import time

import requests
from service import Service, drawing, goal

CONNECTS = 2_000


def crowd(port):
    """Opens as many idle connections as possible; those not accepted at once wait in the kernel's queue."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8_192), hard))
    lines = []
    for _ in range(CONNECTS):
        line = socket.socket()
        line.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            line.connect(("127.0.0.1", port))
        lines.append(line)
    return lines


def test_descriptors():
    with Service(before=("prlimit", "--nofile=256:256")) as service:
        session = service.session()
        assert service.put(session, "small", drawing(100)).status_code == 201
        lines = crowd(service.port)
        time.sleep(1)
        alive = service.process.poll() is None
        for line in lines:
            line.close()
        begun = time.monotonic()
        # A new connection, and a request that opens a file of the store.
        assert requests.get(service.url + "/livez", timeout=10).status_code == 200
        assert service.put(service.session(), "small", drawing(101)).status_code == 200
        took = time.monotonic() - begun
        goal("R7", {"connects": CONNECTS, "descriptors": 256, "alive": alive, "again_s": round(took, 2)}, "2s", alive and took <= 2)
