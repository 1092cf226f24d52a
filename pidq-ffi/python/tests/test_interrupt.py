"""Tests of Ctrl-C while a query runs in the library."""

import os
import signal
import subprocess
import sys
import threading
import time

import pidq

#: Query that runs for minutes unless stopped.
LONG = "let({n: get()}, $n | map($n | map($n | map($n | map(get() * 2 > 7) | size()))) | size())"
NUMBERS = list(range(300))

PROGRAM = f"""
import sys, time, pidq
query = pidq.Query({LONG!r})
limits = pidq.Limits(fuel=10**15, memory=2**40)
numbers = list(range(300))
print("ready", flush=True)
try:
    CALL
except KeyboardInterrupt:
    print("stopped", time.time(), flush=True)
# The interpreter is as before.
assert pidq.query([1, 2], "size()") == 2
"""


def stopped_after(call, presses=1):
    """Returns the seconds from Ctrl-C to KeyboardInterrupt, measured in a separate process."""
    program = PROGRAM.replace("CALL", call)
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline() == b"ready\n", process.stderr.read()
        time.sleep(0.7)
        pressed = time.time()
        for _ in range(presses):
            process.send_signal(signal.SIGINT)
        output, problem = process.communicate(timeout=60)
        assert process.returncode == 0 and output.startswith(b"stopped"), (output, problem)
        return float(output.split()[1]) - pressed


def test_ctrl_c_stops_a_long_query():
    if os.name != "posix":
        return
    for call in (
        "query(numbers, limits=limits)",
        "query.run(numbers, limits=limits)",
        "query.explain(numbers, limits=limits)",
    ):
        assert stopped_after(call) < 0.5
    # A pending timeout does not delay the interrupt.
    assert stopped_after("query(numbers, limits=pidq.Limits(fuel=10**15, memory=2**40, timeout=50))") < 0.5


def test_other_threads_are_not_interrupted():
    cancel = pidq.Cancel()
    limits = pidq.Limits(fuel=10**15, memory=2**40, cancel=cancel)
    problems = []

    def ask():
        try:
            pidq.Query(LONG)(NUMBERS, limits=limits)
        except pidq.Error as error:
            problems.append(error.code)

    asking = threading.Thread(target=ask)
    asking.start()
    assert pidq.query([1], "size()") == 1
    cancel.fire()
    asking.join(10)
    assert problems == ["PQ4008"]


def test_long_and_short_queries_have_the_same_results():
    numbers = pidq.Graph.from_json(list(range(3000)))
    text = "map(get() * 2) | map(get() + 1) | sum()"
    long = pidq.Query("let({all: get()}, $all | limit(400) | map($all | map(get() % 7) | sum()) | sum())")
    with_limits = long.run(numbers, limits=pidq.Limits(fuel=10**9))
    assert with_limits.fuel > 1_000_000 and with_limits.value() == long(numbers) == numbers.query(str(long))
    assert pidq.Query(text).run(numbers).fuel < 1_000_000
    for fuel in (10, 1_000_000, 1_500_000):
        try:
            long(numbers, limits=pidq.Limits(fuel=fuel))
        except pidq.LimitError as error:
            assert error.code == "PQ4001"
        else:
            raise AssertionError(f"{fuel} steps were enough")


def test_timeout_and_cancel_are_combined():
    cancel = pidq.Cancel()
    for _ in range(2):
        begun = time.monotonic()
        try:
            pidq.Query(LONG)(NUMBERS, limits=pidq.Limits(fuel=10**15, memory=2**40, timeout=0.1, cancel=cancel))
        except pidq.LimitError as error:
            assert error.code == "PQ4005" and time.monotonic() - begun < 5
    # The timeout of one query does not stop others that share its cancel.
    assert pidq.query([1], "size()", limits=pidq.Limits(cancel=cancel)) == 1
    cancel.fire()
    try:
        pidq.Query(LONG)(NUMBERS, limits=pidq.Limits(fuel=10**15, timeout=60, cancel=cancel))
    except pidq.LimitError as error:
        assert error.code == "PQ4008"
