"""Soak of the graph service: a mix of requests for hours, the memory of the service as CSV and SVG, its slope by regression.

    python tests/harness/soak.py --minutes 120 --output target/soak
    python tests/harness/soak.py --minutes 5 --speed 10 --kinds put,query
"""

import argparse
import base64
import csv
import http.client
import json
import pathlib
import random
import sys
import threading
import time

from service import PASSWORD, Service, drawing

MIB = 1 << 20
GRAPHS = 20
# Clients and their requests per second at speed 1. A login hashes a password, and is limited per network.
RATES = {"put": 4, "get": 20, "query": 20, "token": 2, "refresh": 0.5, "refused": 10}
# Small, so that they are full when the measurement starts.
CACHES = {"PIDQ_GRAPH_CACHE_SIZE": "16MiB", "PIDQ_RESULT_CACHE_SIZE": "4MiB"}
SAMPLE_SECONDS = 5
# Tokens are valid for an hour.
TOKEN_RENEWAL_SECONDS = 1_200


class Client:
    """A client with one kept connection, a token and a generator of requests of one kind."""

    def __init__(self, service, kind, seed):
        self.service, self.kind, self.rng = service, kind, random.Random(seed)
        self.connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)
        self.token, self.renewed, self.refresh_token = service.token(), time.monotonic(), None
        self.drawings = [json.dumps(drawing(self.rng.randrange(1, 400), "N")) for _ in range(20)]

    def send(self, method, path, body=None, headers=None, token=None):
        """Sends a request and returns its status and body."""
        authorization = {"Authorization": f"Bearer {token or self.token}"}
        try:
            self.connection.request(method, path, body, authorization | (headers or {}))
            response = self.connection.getresponse()
            return response.status, response.read()
        except (http.client.HTTPException, OSError):
            self.connection.close()
            raise

    def form(self, client="pidq", **fields):
        """Sends a token request with the credentials of a client."""
        credentials = base64.b64encode(f"{client}:{self.service.secrets[client]}".encode()).decode()
        headers = {"Authorization": f"Basic {credentials}", "Content-Type": "application/x-www-form-urlencoded"}
        return self.send("POST", "/o/token/", "&".join(f"{key}={value}" for key, value in fields.items()), headers)

    def graph(self):
        return f"/graph/graph-{self.rng.randrange(GRAPHS)}"

    def step(self):
        """Sends one request of the kind and returns whether the answer is as expected."""
        if time.monotonic() - self.renewed > TOKEN_RENEWAL_SECONDS:
            self.token, self.renewed = self.service.token(), time.monotonic()
        return getattr(self, self.kind)()

    def put(self):
        graph = self.rng.choice(self.drawings).replace('"N', f'"n{self.rng.randrange(1_000_000)}')
        return self.send("PUT", self.graph(), graph, {"Content-Type": "application/json"})[0] in (200, 201)

    def get(self):
        headers = {"Accept-Encoding": self.rng.choice(["gzip", "zstd", "identity"]), "If-None-Match": self.rng.choice(['"x"', "*"])}
        return self.send("GET", self.graph(), headers=headers)[0] in (200, 304)

    def query(self):
        # Few queries repeat, so compiled ones are evicted all the time.
        text = f'.pid_graph.nodes | filter(.id != "{self.rng.randrange(100_000)}") | map(.id) | limit({self.rng.randrange(1, 50)})'
        return self.run(text) == 200

    def run(self, text):
        return self.send("POST", self.graph(), json.dumps({"query": text}), {"Content-Type": "application/json"})[0]

    def new_token(self, client, **fields):
        status, body = self.form(client, **fields)
        return json.loads(body) if status == 200 else None

    def is_valid(self, granted):
        return granted is not None and self.send("GET", "/graph", token=granted["access_token"])[0] == 200

    # The methods below have the names of the kinds of requests.

    def token_(self):
        return self.is_valid(self.new_token("robot", grant_type="client_credentials"))

    def refresh(self):
        granted = self.refresh_token and self.new_token("pidq", grant_type="refresh_token", refresh_token=self.refresh_token)
        if not granted:
            login = f"lib{self.rng.randrange(8)}"
            granted = self.new_token("pidq", grant_type="password", username=login, password=PASSWORD)
        self.refresh_token = granted and granted["refresh_token"]
        # A login that is limited has no token.
        return granted is None or self.is_valid(granted)

    def refused(self):
        attempts = [
            lambda: self.run(self.rng.choice(["filter(", "nothing()", ".a | map(", "range(0, 1000000000)"])) in (400, 422),
            lambda: self.send("GET", self.graph(), token=f"unknown-{self.rng.random()}")[0] == 401,
            lambda: self.send("GET", f"/graph/none-{self.rng.randrange(1_000_000)}")[0] == 404,
            lambda: self.send("GET", f"/nowhere/{self.rng.randrange(1_000_000)}")[0] == 404,
            lambda: self.send("PUT", self.graph(), "{", {"Content-Type": "application/json"})[0] in (400, 422),
            lambda: self.send("PUT", self.graph(), json.dumps(drawing(3)), {"Content-Type": "application/json", "If-Match": '"1"'})[0] == 412,
            lambda: self.form("robot", grant_type="refresh_token", refresh_token=f"r{self.rng.random()}")[0] in (400, 401, 429),
        ]
        return self.rng.choice(attempts)()


class Soak:
    """Clients of the given kinds, and the samples of the memory of the service."""

    def __init__(self, service, kinds, speed=1.0):
        self.service, self.kinds, self.speed = service, kinds, speed
        self.samples, self.wrong, self.counts = [], [], dict.fromkeys(kinds, 0)
        self.stop = threading.Event()

    def fill(self):
        """Stores the graphs that the other requests read."""
        client = Client(self.service, "put", 0)
        for n in range(GRAPHS):
            status, body = client.send("PUT", f"/graph/graph-{n}", json.dumps(drawing(50)), {"Content-Type": "application/json"})
            assert status in (200, 201), body

    def run(self, seconds, on_sample=lambda sample: None):
        """Sends requests for a time."""
        self.fill()
        threads = [threading.Thread(target=self.run_client, args=(kind, n)) for n, kind in enumerate(self.kinds)]
        for thread in threads:
            thread.start()
        start = time.monotonic()
        while (at := time.monotonic() - start) < seconds:
            self.samples.append((at, self.service.rss()[0], *self.counts.values()))
            on_sample(self.samples[-1])
            time.sleep(min(SAMPLE_SECONDS, max(seconds / 50, 0.2)))
        self.stop.set()
        for thread in threads:
            thread.join()

    def run_client(self, kind, seed):
        client = Client(self.service, "token_" if kind == "token" else kind, seed)
        interval, due = 1 / (RATES[kind] * self.speed), time.monotonic()
        while not self.stop.wait(max(0, due - time.monotonic())):
            # A client that is late does not catch up: the rate is a maximum.
            due = max(due + interval, time.monotonic() - interval)
            try:
                if not client.step():
                    self.wrong.append((kind, "unexpected status"))
            except (http.client.HTTPException, OSError, KeyError, ValueError) as error:
                self.wrong.append((kind, repr(error)[:200]))
            self.counts[kind] += 1

    def slope(self, part=1 / 3):
        """Returns the growth in the last part of the run in MiB per hour, by least squares."""
        return slope([sample[:2] for sample in self.samples[-max(2, round(len(self.samples) * part)):]])


def slope(samples):
    """Returns the growth in MiB per hour of samples of seconds and bytes, by least squares."""
    mean_time = sum(at for at, _ in samples) / len(samples)
    mean_size = sum(size for _, size in samples) / len(samples)
    covariance = sum((at - mean_time) * (size - mean_size) for at, size in samples)
    return covariance / sum((at - mean_time) ** 2 for at, _ in samples) * 3_600 / MIB


def svg(samples, title):
    """Returns a plot of the memory over time."""
    width, height, left, bottom = 800, 300, 60, 40
    hours = samples[-1][0] / 3_600 or 1
    top = (max(size for _, size, *_ in samples) / MIB * 1.2) // 10 * 10 + 10
    x = lambda seconds: left + seconds / 3_600 / hours * (width - left - 20)  # noqa: E731
    y = lambda size: height - bottom - size / MIB / top * (height - bottom - 40)  # noqa: E731
    points = " ".join(f"{x(at):.1f},{y(size):.1f}" for at, size, *_ in samples)
    rows = [top * part / 4 for part in range(5)]
    lines = "".join(
        f'<path d="M{left} {y(row * MIB):.1f}H{width - 20}" stroke="#ddd"/><text x="{left - 8}" y="{y(row * MIB) + 4:.1f}" text-anchor="end">{row:.0f}</text>'
        for row in rows
    )
    columns = "".join(f'<text x="{x(hours * 3_600 * part / 4):.1f}" y="{height - 15}" text-anchor="middle">{hours * 60 * part / 4:.0f}</text>' for part in range(5))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">'
        f'<rect width="{width}" height="{height}" fill="#fff"/><text x="{left}" y="20">{title}</text>{lines}{columns}'
        f'<text x="{width - 20}" y="{height - 2}" text-anchor="end">minutes</text><text x="8" y="36">MiB</text>'
        f'<polyline points="{points}" fill="none" stroke="#1f5fbf" stroke-width="1.5"/></svg>\n'
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=120)
    parser.add_argument("--speed", type=float, default=1, help="factor of the rates of requests")
    parser.add_argument("--kinds", default=",".join(RATES), help="kinds of requests, separated by commas")
    parser.add_argument("--output", default="target/soak", help="path of the CSV and SVG files without extension")
    parser.add_argument("--max-slope", type=float, help="fail if memory grows faster in the last half, in MiB per hour")
    options = parser.parse_args()
    output = pathlib.Path(options.output)
    output.parent.mkdir(parents=True, exist_ok=True)
    kinds = options.kinds.split(",")
    with Service(**CACHES) as service, output.with_suffix(".csv").open("w", newline="") as file:
        soak, rows = Soak(service, kinds, options.speed), csv.writer(file)
        rows.writerow(["seconds", "rss_bytes", *kinds])

        def write(sample):
            rows.writerow([round(sample[0], 1), *sample[1:]])
            file.flush()

        soak.run(options.minutes * 60, write)
    growth = soak.slope(1 / 2)
    title = f"{'+'.join(kinds)}, {options.minutes:g} min at speed {options.speed:g}: {growth:+.1f} MiB/h in the last half, {soak.slope():+.1f} in the last third"
    output.with_suffix(".svg").write_text(svg(soak.samples, title))
    sizes = [sample[1] / MIB for sample in soak.samples]
    print(title, f"rss={sizes[0]:.0f}..{sizes[-1]:.0f} MiB max={max(sizes):.0f}", f"requests={soak.counts}", f"unexpected={len(soak.wrong)}", *soak.wrong[:5], sep="\n")
    return bool(soak.wrong) or (options.max_slope is not None and growth > options.max_slope)


if __name__ == "__main__":
    sys.exit(main())
