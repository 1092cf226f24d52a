"""Floods of one client that may slow down another: compressed bodies, large bodies, many writes, slow bodies, wrong passwords, costly queries.

    python tests/harness/floods.py [SECONDS]

prints a table: the 99th percentile of the latency of a well-behaved client under each flood, and its ratio to that at rest. Each flood
comes from a process with the lowest priority, so that it takes no processor time from the client that measures.
"""

import gzip
import http.client
import itertools
import json
import multiprocessing
import os
import sys
import threading
import time

from latency_probe import LatencyProbe
from service import Service, drawing

CONNECTIONS = 3
SLOW_CONNECTIONS = 200
JSON = {"Content-Type": "application/json"}
# 58 kB for 60 MB.
BOMB = gzip.compress(b'{"pid_graph":{"nodes":[],"edges":[],"x":"' + b"a" * (60 << 20) + b'"}}', 9)


class Flooder:
    """A client that repeats one kind of request as fast as it can."""

    def __init__(self, service, number):
        self.service, self.number, self.connection = service, number, None

    def send(self, method, path, body, headers):
        """Sends a request and reads the response. The server may close the connection early, when it refuses a body."""
        try:
            self.connection = self.connection or http.client.HTTPConnection("127.0.0.1", self.service.port, timeout=30)
            self.connection.request(method, path, body, headers | {"Authorization": f"Bearer {self.service.flood_token}"})
            self.connection.getresponse().read()
        except (http.client.HTTPException, OSError):
            self.connection.close()
            self.connection = None


def gzip_bombs(flooder):
    flooder.send("PUT", f"/graph/bomb-{flooder.number}", BOMB, JSON | {"Content-Encoding": "gzip"})


def large_graphs(flooder, graph=json.dumps(drawing(20_000))):  # noqa: B008
    flooder.send("PUT", f"/graph/big-{flooder.number}", graph.replace('"N-0"', f'"N-{time.monotonic_ns()}"', 1), JSON)


def small_graphs(flooder):
    flooder.send("PUT", f"/graph/new-{flooder.number}", json.dumps(drawing(3, f"n{time.monotonic_ns()}")), JSON)


def slow_bodies(flooder):
    """Holds many requests whose bodies arrive byte by byte."""
    head = f"PUT /graph/slow HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {flooder.service.flood_token}\r\n"
    head += "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
    sockets = []
    for _ in range(SLOW_CONNECTIONS):
        connection = http.client.HTTPConnection("127.0.0.1", flooder.service.port, timeout=30)
        connection.connect()
        connection.sock.sendall(head.encode())
        sockets.append(connection.sock)
    for _ in range(20):
        for each in sockets:
            try:
                each.sendall(b" ")
            except OSError:
                pass
        time.sleep(0.5)
    for each in sockets:
        each.close()


def wrong_passwords(flooder, numbers=itertools.count()):  # noqa: B008
    form = f"grant_type=password&username=nobody-{flooder.number}-{next(numbers)}&password=wrong&client_id=pidq&client_secret={flooder.service.secrets['pidq']}"
    flooder.send("POST", "/o/token/", form, {"Content-Type": "application/x-www-form-urlencoded"})


def expression_queries(flooder):
    # The text differs, so that no result is cached.
    pattern = f"^(?=(?:a|[A-Z]|-|[0-9]|{time.monotonic_ns()})*x)N"
    flooder.send("POST", "/graph/large", json.dumps({"query": f'.pid_graph.nodes | filter(regex(.id, "{pattern}"))'}), JSON)


def costly_queries(flooder):
    query = f'.pid_graph.nodes | map(shortestPath("N-0", .id)) | size() + {time.monotonic_ns()}'
    flooder.send("POST", "/graph/large", json.dumps({"query": query}), JSON)


FLOODS = {
    "gzip bombs": gzip_bombs, "large graphs": large_graphs, "small graphs": small_graphs, "slow bodies": slow_bodies,
    "wrong passwords": wrong_passwords, "regular expressions": expression_queries, "costly queries": costly_queries,
}


def run_flood(service, flood, ends_at):
    """Runs in a process of its own."""
    os.nice(19)

    def repeat(number):
        flooder = Flooder(service, number)
        while time.time() < ends_at.value:
            flood(flooder)

    threads = [threading.Thread(target=repeat, args=(number,), daemon=True) for number in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=max(0, ends_at.value - time.time()) + 1)


class Target:
    """Address and credentials of the service, for a process that floods it."""

    def __init__(self, service):
        self.port, self.secrets, self.flood_token = service.port, service.secrets, service.token("robot")


def measure(service, seconds):
    """Returns the latency at rest, and name, latency and failed requests under each flood."""
    session = service.session()
    for graph_id, size in (("small", 1_000), ("large", 10_000)):
        assert service.put(session, graph_id, drawing(size)).status_code in (200, 201)
    probe, target = LatencyProbe(service), Target(service)
    probe.measure(2)
    at_rest, rows = [probe.measure(seconds)[0]], []
    for name, flood in FLOODS.items():
        ends_at = multiprocessing.Value("d", time.time() + seconds + 2)
        process = multiprocessing.get_context("fork").Process(target=run_flood, args=(target, flood, ends_at))
        process.start()
        time.sleep(1)
        rows.append((name, *probe.measure(seconds)))
        process.terminate()
        process.join()
        time.sleep(1)
        at_rest.append(probe.measure(seconds)[0])
    return sorted(at_rest)[len(at_rest) // 2], rows


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 10
    with Service() as service:
        at_rest, rows = measure(service, seconds)
    print(f"| flood | p99 (ms), {at_rest * 1_000:.1f} at rest | ratio | failed requests |\n|---|---|---|---|")
    for name, latency, failed in rows:
        print(f"| {name} | {latency * 1_000:.1f} | {latency / at_rest:.1f} | {failed} |")


if __name__ == "__main__":
    main()
