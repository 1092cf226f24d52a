"""S3: the cost of a rejection in instructions: equal for known and unknown names, independent of other load."""

import re
import shutil
import subprocess
import time

import pytest
from service import LONG, Service, goal
from test_s3_timing import Line, clients, logins, tokens

# Maximum relative difference of the work.
APART = 0.02
# Set by the service before it re-executes itself, which valgrind does not follow.
SET = {"MALLOC_MMAP_THRESHOLD_": "1048576"}
ROUNDS = 4
# A login under valgrind takes seconds.
EACH = {"user": 8 if LONG else 2, "client": 95 if LONG else 45, "token": 95 if LONG else 45}


def control(service, *arguments):
    command = ["callgrind_control", *arguments, str(service.process.pid)]
    subprocess.run(command, capture_output=True, check=True, timeout=120)


def counted(service, line, requests, expected):
    """Returns the instructions of a request."""
    control(service, "--zero")
    for request in requests:
        status, _ = line.ask(request)
        assert status == expected, (status, request)
    # Work after the response counts too.
    time.sleep(0.5)
    control(service, "--dump")
    newest = max(service.folder.glob("work.*"), key=lambda file: int((file.suffix[1:] or "0") if file.suffix[1:].isdigit() else 0))
    total = int(re.search(r"^(?:totals|summary): (\d+)", newest.read_text(), re.MULTILINE).group(1))
    return total / len(requests)


def compared(service, requests, count, expected):
    """Returns the relative difference of both kinds, alternating, with the minimum of each."""
    ways = {"known": [], "unknown": []}
    for _, kind, request in requests:
        ways[kind].append(request)
    line = Line(service, timeout=300)
    for request in (ways["known"][0], ways["unknown"][0]):
        line.ask(request)
    least = {}
    for turn in range(ROUNDS):
        for kind, asked in ways.items():
            part = asked[1 + turn * count : 1 + (turn + 1) * count]
            least[kind] = min(least.get(kind, float("inf")), counted(service, line, part, expected))
    return abs(least["known"] - least["unknown"]) / max(least.values()), least


@pytest.mark.skipif(not shutil.which("callgrind_control"), reason="there is no valgrind (Debian: valgrind)")
def test_work():
    # Valgrind counts the instructions of all threads, independent of time.
    with Service(PIDQ_TRUSTED_PROXIES="127.0.0.0/8", PIDQ_FIRST_BYTE_TIMEOUT="5m", PIDQ_HEAD_TIMEOUT="5m", **SET) as service:
        users = service.add_users(40)
        service.terminate()
        service.before = ("valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={service.folder}/work")
        service.start_timeout = 300
        service.start()
        measurements, passed = {}, True
        for name, requests, expected in (
            ("user", logins(users), 400),
            ("client", clients(), 401),
            ("token", tokens(service.token()), 401),
        ):
            apart, least = compared(service, requests, EACH[name], expected)
            measurements |= {f"{name}_apart": round(apart, 4), f"{name}_known": int(least["known"]), f"{name}_unknown": int(least["unknown"])}
            passed = passed and apart <= APART
        goal("S3-work", measurements, APART, passed)
