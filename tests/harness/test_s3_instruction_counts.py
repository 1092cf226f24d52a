"""S3: the cost of a rejection in instructions: equal for known and unknown names, independent of other load."""

import re
import shutil
import subprocess
import time

import pytest
from service import LONG, Service, goal
from test_s3_timing import TimedConnection, clients, logins, tokens

# Maximum relative difference between known and unknown names.
MAX_DIFFERENCE = 0.02
# The service sets this and re-executes itself if it is missing; valgrind does not follow that.
ALLOCATOR_SETTINGS = {"MALLOC_MMAP_THRESHOLD_": "1048576"}
ROUNDS = 4
# Requests per round. A login under valgrind takes seconds.
REQUESTS_PER_ROUND = {"user": 8 if LONG else 2, "client": 95 if LONG else 45, "token": 95 if LONG else 45}


def control(service, *arguments):
    command = ["callgrind_control", *arguments, str(service.process.pid)]
    subprocess.run(command, capture_output=True, check=True, timeout=120)


def count_instructions(service, connection, requests, expected):
    """Returns the number of instructions per request."""
    control(service, "--zero")
    for request in requests:
        status, _ = connection.send(request)
        assert status == expected, (status, request)
    # Work after the response counts too.
    time.sleep(0.5)
    control(service, "--dump")
    newest = max(service.folder.glob("work.*"), key=lambda file: int((file.suffix[1:] or "0") if file.suffix[1:].isdigit() else 0))
    total = int(re.search(r"^(?:totals|summary): (\d+)", newest.read_text(), re.MULTILINE).group(1))
    return total / len(requests)


def compare(service, requests, count, expected):
    """Returns the relative difference of both kinds, measured alternately, and the minimum of each."""
    by_kind = {"known": [], "unknown": []}
    for _, kind, request in requests:
        by_kind[kind].append(request)
    connection = TimedConnection(service, timeout=300)
    for request in (by_kind["known"][0], by_kind["unknown"][0]):
        connection.send(request)
    minimum = {}
    for round_number in range(ROUNDS):
        for kind, requests_of_kind in by_kind.items():
            batch = requests_of_kind[1 + round_number * count : 1 + (round_number + 1) * count]
            minimum[kind] = min(minimum.get(kind, float("inf")), count_instructions(service, connection, batch, expected))
    return abs(minimum["known"] - minimum["unknown"]) / max(minimum.values()), minimum


@pytest.mark.skipif(not shutil.which("callgrind_control"), reason="valgrind is not installed (Debian: valgrind)")
def test_work():
    # Valgrind counts the instructions of all threads, independent of time.
    with Service(PIDQ_TRUSTED_PROXIES="127.0.0.0/8", PIDQ_FIRST_BYTE_TIMEOUT="5m", PIDQ_HEAD_TIMEOUT="5m", **ALLOCATOR_SETTINGS) as service:
        users = service.add_users(40)
        service.terminate()
        service.command_prefix = ("valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={service.folder}/work")
        service.start_timeout = 300
        service.start()
        measurements, passed = {}, True
        for name, requests, expected in (
            ("user", logins(users), 400),
            ("client", clients(), 401),
            ("token", tokens(service.token()), 401),
        ):
            difference, minimum = compare(service, requests, REQUESTS_PER_ROUND[name], expected)
            measurements |= {f"{name}_difference": round(difference, 4), f"{name}_known": int(minimum["known"]), f"{name}_unknown": int(minimum["unknown"])}
            passed = passed and difference <= MAX_DIFFERENCE
        goal("S3-work", measurements, MAX_DIFFERENCE, passed)
