"""S3: the duration of a rejection does not reveal whether the user, the client or a part of the token is correct."""

import random
import secrets
import socket
import statistics
import time
from urllib.parse import urlencode

from service import LONG, SECRET, Service, goal, within_limit

PAIRS = 20_000 if LONG else 200
LOGINS = 2_000 if LONG else 40
# Five failures in a row cause a delay of ten seconds: a round of all users must take longer.
USERS = 1_000 if LONG else 40
MAX_MEDIAN_DIFFERENCE = 0.02
MAX_WELCH_T = 4.5


class TimedConnection:
    """A persistent connection that measures the duration of each response."""

    def __init__(self, service, timeout=60):
        self.socket = socket.create_connection(("127.0.0.1", service.port), timeout=timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, request):
        """Returns the status and the duration in nanoseconds."""
        start = time.perf_counter_ns()
        self.socket.sendall(request)
        response = self.socket.recv(65_536)
        duration = time.perf_counter_ns() - start
        head, _, body = response.partition(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        while len(body) < length:
            body += self.socket.recv(65_536)
        return int(head[9:12]), duration


def post(form, **headers):
    body = urlencode(form)
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    head = f"POST /o/token/ HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n{lines}Content-Length: {len(body)}\r\n\r\n"
    return (head + body).encode()


def network(number):
    return f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"


def logins(users):
    """Generates logins with a wrong password of known and unknown users, each from a network without failures."""
    form = {"grant_type": "password", "client_id": "pidq", "client_secret": SECRET, "password": "a wrong password"}
    for number in range(LOGINS):
        known, unknown = users[number % len(users)], f"x{secrets.token_hex(2)}{number % len(users)}"
        for kind, name in (("known", known), ("unknown", unknown.ljust(len(known), "x")[: len(known)])):
            yield number, kind, post({**form, "username": name}, **{"X-Forwarded-For": network(2 * number + (kind == "known"))})


def clients():
    for number in range(PAIRS):
        for kind, name in (("known", "robot"), ("unknown", "robox")):
            yield number, kind, post({"grant_type": "client_credentials", "client_id": name, "client_secret": secrets.token_urlsafe(32)})


def tokens(valid):
    """Generates wrong tokens: with a correct first half, and entirely random ones."""
    for number in range(PAIRS):
        random_token = "pidq_at_" + secrets.token_urlsafe(32)
        for kind, token in (("known", valid[:30] + random_token[30:]), ("unknown", random_token)):
            yield number, kind, f"GET /graph HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n".encode()


def measure(connection, requests, expected):
    """Returns the durations in nanoseconds by kind, with each pair in random order."""
    pairs, durations = {}, {"known": [], "unknown": []}
    for number, kind, request in requests:
        pairs.setdefault(number, []).append((kind, request))
    for pair in pairs.values():
        random.shuffle(pair)
        for kind, request in pair:
            status, duration = connection.send(request)
            assert status == expected, (kind, status, request)
            durations[kind].append(duration)
    # The first requests are warm-up; pauses of the machine are excluded.
    return [without_outliers(durations[kind][len(durations[kind]) // 20 :]) for kind in ("known", "unknown")]


def without_outliers(durations):
    """Returns the durations without the slowest five percent."""
    return sorted(durations)[: len(durations) * 19 // 20]


def compare(first, second):
    """Returns the relative difference of the medians and Welch's t."""
    medians = [statistics.median(times) for times in (first, second)]
    standard_error = sum(statistics.variance(times) / len(times) for times in (first, second)) ** 0.5
    return abs(medians[0] - medians[1]) / medians[1], abs(statistics.fmean(first) - statistics.fmean(second)) / standard_error


def test_timing():
    with Service(PIDQ_TRUSTED_PROXIES="127.0.0.0/8") as service:
        users = service.add_users(USERS)
        measurements, passed = {}, True
        for name, requests, expected in (
            ("user", logins(users), 400),
            ("client", clients(), 401),
            ("token", tokens(service.token()), 401),
        ):
            difference, welch_t = compare(*measure(TimedConnection(service), requests, expected))
            measurements |= {f"{name}_median": round(difference, 4), f"{name}_t": round(welch_t, 2)}
            passed = passed and within_limit(difference, MAX_MEDIAN_DIFFERENCE) and within_limit(welch_t, MAX_WELCH_T)
        goal("S3", measurements, f"median:{MAX_MEDIAN_DIFFERENCE},t:{MAX_WELCH_T}", passed)
