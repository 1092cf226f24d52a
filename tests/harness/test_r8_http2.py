"""R8: HTTP/2 abuse: resets, endless headers, pings, settings, closed windows. Memory is stable and others are served."""

import struct
import threading
import time

import pytest
from frames import CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, PING, RST, SETTINGS, WINDOW, connect, frame, head, text
from good import Good
from service import LONG, Service, drawing, goal

COUNT = 100_000 if LONG else 20_000


def resets():
    for n in range(COUNT):
        stream = 2 * n + 1
        yield frame(HEADERS, END_HEADERS | END_STREAM, stream, head()) + frame(RST, 0, stream, struct.pack(">I", 8))


def head_without_an_end():
    yield frame(HEADERS, 0, 1, head())
    for n in range(COUNT):
        field = b"\x00" + b"\x05" + f"x{n:04}"[-5:].encode() + b"\x7f\x41" + b"y" * 192
        yield frame(CONTINUATION, 0, 1, field)


def empty_continuations():
    yield frame(HEADERS, 0, 1, head())
    for _ in range(COUNT):
        yield frame(CONTINUATION, 0, 1)


def pings():
    return (frame(PING, 0, 0, b"12345678") for _ in range(COUNT))


def settings():
    return (frame(SETTINGS, 0, 0, struct.pack(">HI", 4, n % 65_535 + 1)) for n in range(COUNT))


def empty_data():
    yield frame(HEADERS, END_HEADERS, 1, head(b"\x83", "/o/token/"))
    for _ in range(COUNT):
        yield frame(DATA, 0, 1)


def windows():
    return (frame(WINDOW, 0, 0, struct.pack(">I", 1)) for _ in range(COUNT))


def table_bomb():
    """One large field in the dynamic table, referenced again and again by one byte (HPACK bomb)."""
    fat = b"\x40" + b"\x01x" + b"\x7f\xb1\x1e" + b"y" * 4_016
    yield frame(HEADERS, END_HEADERS | END_STREAM, 1, head(more=fat))
    for n in range(COUNT // 100):
        yield frame(HEADERS, END_HEADERS | END_STREAM, 2 * n + 3, head(more=b"\xbe" * 16_000))


def streams_beyond_the_limit():
    for n in range(COUNT):
        yield frame(HEADERS, END_HEADERS, 2 * n + 1, head(b"\x83", "/o/token/"))


ATTACKS = [resets, head_without_an_end, empty_continuations, pings, settings, empty_data, windows, table_bomb, streams_beyond_the_limit]


def closed_windows(service, token):
    """Unread large responses on the maximum number of streams."""
    line = connect(service.port, struct.pack(">HI", 4, 0))
    bearer = f"Bearer {token}"
    field = b"\x00" + text("authorization") + text(bearer)
    for n in range(64):
        line.sendall(frame(HEADERS, END_HEADERS | END_STREAM, 2 * n + 1, head(path="/graph/large", more=field)))
    return line


def pour(service, attack):
    """Sends an attack until the other side closes the connection. Responses are read and discarded."""
    with connect(service.port) as line:
        reader = threading.Thread(target=drain, args=(line,), daemon=True)
        reader.start()
        try:
            batch = b""
            for block in attack():
                batch += block
                if len(batch) > 32_000:
                    line.sendall(batch)
                    batch = b""
                    time.sleep(0.002)
            line.sendall(batch)
        except OSError:
            return True
    return False


def drain(line):
    try:
        while line.recv(65_536):
            pass
    except OSError:
        pass


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
def test_http2_abuse(shared, attack):
    service, measurements = shared
    before = service.rss()[0]
    begun = time.monotonic()
    ended = pour(service, attack)
    status = service.session().get(service.url + "/graph/small", timeout=5).status_code
    growth = (service.rss()[0] - before) >> 20
    measurements[attack.__name__] = (growth, ended, time.monotonic() - begun)
    assert status == 200


@pytest.fixture(scope="module")
def shared():
    with Service() as service:
        session = service.session()
        for job, size in (("small", 1_000), ("large", 20_000)):
            assert service.put(session, job, drawing(size)).status_code == 201
        session.get(service.url + "/graph/large", timeout=30)
        yield service, {}


def test_http2_goal(shared):
    service, attacks = shared
    before = service.rss()[0]
    token = service.token()
    lines = [closed_windows(service, token) for _ in range(20)]
    time.sleep(1)
    attacks["closed_windows"] = ((service.rss()[0] - before) >> 20, True, 0)
    for line in lines:
        line.close()
    # Attacks that must be disconnected: resets, endless headers, floods that cost the server more than the client.
    not_ended = [name for name in ("resets", "head_without_an_end", "empty_continuations") if not attacks[name][1]]
    worst = max(attacks, key=lambda name: attacks[name][0])
    measurements = {"attacks": len(attacks), "frames": COUNT, "most_mib": attacks[worst][0], "by": worst, "not_ended": len(not_ended)}
    passed = attacks[worst][0] <= 50 and not not_ended
    if LONG:
        def attack(end):
            while not end.is_set():
                pour(service, resets)
                pour(service, pings)

        ratio, failures = Good(service).ratio(attack, 10)
        measurements |= {"p99_ratio": round(ratio, 2), "good_failures": failures}
        passed = passed and ratio <= 2 and not failures
    goal("R8", measurements, "50MiB,0", passed)
