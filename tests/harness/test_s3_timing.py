"""S3: how long a refusal takes does not tell whether the user, the client or a part of the token is right."""

import random
import secrets
import socket
import statistics
import time
from urllib.parse import urlencode

from service import LONG, SECRET, Service, goal, timed

PAIRS = 20_000 if LONG else 200
LOGINS = 2_000 if LONG else 40
# Who fails five times in a row waits for ten seconds: a round of all users has to take longer.
USERS = 1_000 if LONG else 40
MEDIAN = 0.02
WELCH = 4.5


class Line:
    """A connection that is kept, and how long each answer takes on it."""

    def __init__(self, service, patience=60):
        self.socket = socket.create_connection(("127.0.0.1", service.port), timeout=patience)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, request):
        """The status, and nanoseconds."""
        begun = time.perf_counter_ns()
        self.socket.sendall(request)
        answer = self.socket.recv(65_536)
        took = time.perf_counter_ns() - begun
        head, _, body = answer.partition(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        while len(body) < length:
            body += self.socket.recv(65_536)
        return int(head[9:12]), took


def post(form, **headers):
    body = urlencode(form)
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    head = f"POST /o/token/ HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n{lines}Content-Length: {len(body)}\r\n\r\n"
    return (head + body).encode()


def network(number):
    return f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"


def logins(users):
    """A wrong password of somebody, and of nobody, from a network each that has never failed."""
    form = {"grant_type": "password", "client_id": "pidq", "client_secret": SECRET, "password": "a wrong password"}
    for number in range(LOGINS):
        known, unknown = users[number % len(users)], f"x{secrets.token_hex(2)}{number % len(users)}"
        for kind, name in (("known", known), ("unknown", unknown.ljust(len(known), "x")[: len(known)])):
            yield number, kind, post({**form, "username": name}, **{"X-Forwarded-For": network(2 * number + (kind == "known"))})


def clients():
    for number in range(PAIRS):
        for kind, name in (("known", "robot"), ("unknown", "robox")):
            yield number, kind, post({"grant_type": "client_credentials", "client_id": name, "client_secret": secrets.token_urlsafe(32)})


def tokens(real):
    """Tokens whose first half is right, and such where nothing is."""
    for number in range(PAIRS):
        fresh = "pidq_at_" + secrets.token_urlsafe(32)
        for kind, token in (("known", real[:30] + fresh[30:]), ("unknown", fresh)):
            yield number, kind, f"GET /graph HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n".encode()


def measured(line, requests, expected):
    """Nanoseconds by kind. Each pair in an order by dice."""
    pairs, taken = {}, {"known": [], "unknown": []}
    for number, kind, request in requests:
        pairs.setdefault(number, []).append((kind, request))
    for pair in pairs.values():
        random.shuffle(pair)
        for kind, request in pair:
            status, took = line.ask(request)
            assert status == expected, (kind, status, request)
            taken[kind].append(took)
    # The first ones warm up, and a pause of the machine tells nothing about the service.
    return [within(taken[kind][len(taken[kind]) // 20 :]) for kind in ("known", "unknown")]


def within(times):
    """Without the slowest twentieth."""
    return sorted(times)[: len(times) * 19 // 20]


def compared(one, other):
    """How far the medians are apart, as a part of them, and Welch's t."""
    medians = [statistics.median(times) for times in (one, other)]
    spread = sum(statistics.variance(times) / len(times) for times in (one, other)) ** 0.5
    return abs(medians[0] - medians[1]) / medians[1], abs(statistics.fmean(one) - statistics.fmean(other)) / spread


def test_timing():
    with Service(PIDQ_TRUSTED_PROXIES="127.0.0.0/8") as service:
        users = service.add_users(USERS)
        figures, passed = {}, True
        for name, requests, expected in (
            ("user", logins(users), 400),
            ("client", clients(), 401),
            ("token", tokens(service.token()), 401),
        ):
            delta, welch = compared(*measured(Line(service), requests, expected))
            figures |= {f"{name}_median": round(delta, 4), f"{name}_t": round(welch, 2)}
            passed = passed and timed(delta, MEDIAN) and timed(welch, WELCH)
        goal("S3", figures, f"median:{MEDIAN},t:{WELCH}", passed)
