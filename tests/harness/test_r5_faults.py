"""R5: the system fails at one call after the other while a graph is written: nothing acknowledged is lost, reads go on.

The store's own tests fail every operation of a simulated disk; here it is the real process with its databases, by strace.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import time

import pytest
import requests
from service import LONG, WORK, Service, accounts, drawing, goal

# System calls and their errors. `write` is excluded: it also wakes threads, which never fails in reality. A disk that is
# really full tests it instead.
FAULTS = [
    ("fsync,fdatasync", "EIO"),
    ("rename,renameat,renameat2", "EIO"),
    ("rename,renameat,renameat2", "ENOSPC"),
    ("pwrite64", "ENOSPC"),
    ("pwrite64", "EIO"),
    ("openat", "ENOSPC"),
    ("openat", "EIO"),
    ("openat", "EMFILE"),
    ("unlink,unlinkat", "EIO"),
]
MAX_TURNS = 40 if LONG else 2


@contextlib.contextmanager
def failing(service, calls, error, turn):
    """Lets the n-th of these calls fail."""
    log = WORK / "strace"
    command = ["strace", "-f", "-qq", "-p", str(service.process.pid), "-e", f"trace={calls}", "-e", f"inject={calls}:error={error}:when={turn}", "-o", str(log)]
    log.write_text("")
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as trace:
        wait_until_traced(service, trace)
        report = {}
        try:
            yield report
        finally:
            trace.send_signal(signal.SIGINT)
            try:
                trace.wait(timeout=5)
            except subprocess.TimeoutExpired:
                trace.kill()
            report["hit"] = "INJECTED" in log.read_text()


def wait_until_traced(service, trace):
    status = f"/proc/{service.process.pid}/status"
    end = time.monotonic() + 5
    while "TracerPid:\t0\n" in open(status, encoding="utf-8").read():
        if trace.poll() is not None or time.monotonic() > end:
            pytest.skip("strace may not trace here")
        time.sleep(0.005)
    time.sleep(0.05)


def put(service, session, number):
    """Returns the status of a write; 0 without a response."""
    try:
        return service.put(session, "faulty", drawing(2, f"f{number}"), **{"X-Request-Id": f"f{number}"}).status_code
    except requests.RequestException:
        return 0


def read(service, session):
    try:
        reply = session.get(f"{service.url}/graph/faulty", timeout=30)
    except requests.RequestException as error:
        return f"{error!r:.100}"
    return reply.json()["pid_graph"]["nodes"][0]["id"] if reply.status_code == 200 else reply.status_code


def recovers(service, session, number):
    """Returns True if writes succeed again, without a restart."""
    end = time.monotonic() + 15
    while time.monotonic() < end:
        if put(service, session, number) in (200, 201):
            return True
        time.sleep(0.1)
    return False


def test_faults():
    if not shutil.which("strace"):
        pytest.skip("strace is not installed")
    with Service() as service:
        session, wrong, tried, refused, number = service.session(), [], 0, 0, 0
        assert put(service, session, number) == 201
        for calls, error in FAULTS:
            for turn in range(1, MAX_TURNS + 1):
                number += 1
                before = read(service, session)
                with failing(service, calls, error, turn) as report:
                    status = put(service, session, number)
                if not report["hit"]:
                    break
                tried += 1
                refused += status >= 500
                after, name = read(service, session), f"f{number}-0"
                is_whole = after in (before, name)
                is_durable = after == name or status not in (200, 201)
                if service.process.poll() is not None:
                    wrong.append((calls, error, turn, f"the process ended with {service.process.returncode}", service.log.read_text()[-600:]))
                    service.start()
                    continue
                if not is_whole or not is_durable or 0 < status < 200 or 300 <= status < 500:
                    wrong.append((calls, error, turn, status, before, after))
                number += 1
                if not recovers(service, session, number):
                    wrong.append((calls, error, turn, "writes do not recover"))
        last = read(service, session)
        service.kill()
        service.start()
        if read(service, service.session()) != last:
            wrong.append(("after a restart", last))
        for row in wrong:
            print("WRONG", row)
        goal("R5", {"faults": tried, "refused": refused, "wrong": len(wrong)}, "0", not wrong and tried >= 10)


@contextlib.contextmanager
def small_disk(folder, size="8m"):
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], capture_output=True, check=False).returncode:
        pytest.skip("a small disk cannot be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=False)


def fill(file):
    """Fills a disk."""
    with contextlib.suppress(OSError), open(file, "wb", buffering=0) as rest:
        while True:
            rest.write(os.urandom(4_096))


def test_a_full_disk(tmp_path):
    with small_disk(tmp_path / "disk") as disk:
        shutil.copytree(accounts()[0], disk / "data")
        with Service(disk / "data") as service:
            session, wrong = service.session(), []
            assert put(service, session, 0) == 201
            fill(disk / "rest")
            refused = [put(service, session, number) for number in range(1, 6)]
            reads = [read(service, session) for _ in range(5)]
            if set(refused) != {507} or set(reads) != {"f0-0"}:
                wrong.append((refused, reads))
            login = requests.post(service.url + "/o/token/", data={"grant_type": "client_credentials", **service.credentials("robot")}, timeout=30).status_code
            if login not in (200, 500, 503):
                wrong.append(("a token", login))
            (disk / "rest").unlink()
            if not recovers(service, session, 6) or read(service, session) != "f6-0":
                wrong.append("writes do not recover")
            service.session()
            for row in wrong:
                print("WRONG", row)
            goal("R5-full", {"refused": len(refused), "a_token": login, "wrong": len(wrong)}, "0", not wrong)
