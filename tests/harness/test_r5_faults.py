"""R5: fault injection in system calls during writes: no acknowledged write is lost, and reads still work.

Tests of the store fail every operation of a simulated disk; these use strace on the real process with its databases.
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
MAX_CALLS = 40 if LONG else 2


@contextlib.contextmanager
def inject_fault(service, calls, error, number):
    """Injects an error into the n-th of these system calls."""
    log = WORK / "strace"
    command = ["strace", "-f", "-qq", "-p", str(service.process.pid), "-e", f"trace={calls}", "-e", f"inject={calls}:error={error}:when={number}", "-o", str(log)]
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
            report["is_injected"] = "INJECTED" in log.read_text()


def wait_until_traced(service, trace):
    status = f"/proc/{service.process.pid}/status"
    deadline = time.monotonic() + 5
    while "TracerPid:\t0\n" in open(status, encoding="utf-8").read():
        if trace.poll() is not None or time.monotonic() > deadline:
            pytest.skip("strace is not permitted here")
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
        response = session.get(f"{service.url}/graph/faulty", timeout=30)
    except requests.RequestException as error:
        return f"{error!r:.100}"
    return response.json()["pid_graph"]["nodes"][0]["id"] if response.status_code == 200 else response.status_code


def recovers(service, session, number):
    """Returns True if writes succeed again, without a restart."""
    deadline = time.monotonic() + 15
    while time.monotonic() < deadline:
        if put(service, session, number) in (200, 201):
            return True
        time.sleep(0.1)
    return False


def test_faults():
    if not shutil.which("strace"):
        pytest.skip("strace is not installed")
    with Service() as service:
        session, wrong, injected, rejected, number = service.session(), [], 0, 0, 0
        assert put(service, session, number) == 201
        for calls, error in FAULTS:
            for call in range(1, MAX_CALLS + 1):
                number += 1
                before = read(service, session)
                with inject_fault(service, calls, error, call) as report:
                    status = put(service, session, number)
                if not report["is_injected"]:
                    break
                injected += 1
                rejected += status >= 500
                after, name = read(service, session), f"f{number}-0"
                is_consistent = after in (before, name)
                is_durable = after == name or status not in (200, 201)
                if service.process.poll() is not None:
                    wrong.append((calls, error, call, f"the process ended with {service.process.returncode}", service.log.read_text()[-600:]))
                    service.start()
                    continue
                if not is_consistent or not is_durable or 0 < status < 200 or 300 <= status < 500:
                    wrong.append((calls, error, call, status, before, after))
                number += 1
                if not recovers(service, session, number):
                    wrong.append((calls, error, call, "writes do not recover"))
        last = read(service, session)
        service.kill()
        service.start()
        if read(service, service.session()) != last:
            wrong.append(("after a restart", last))
        for row in wrong:
            print("WRONG", row)
        goal("R5", {"faults": injected, "rejected": rejected, "wrong": len(wrong)}, "0", not wrong and injected >= 10)


@contextlib.contextmanager
def small_disk(folder, size="8m"):
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], capture_output=True, check=False).returncode:
        pytest.skip("a small disk cannot be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=False)


def fill_disk(file):
    """Fills a disk."""
    with contextlib.suppress(OSError), open(file, "wb", buffering=0) as output:
        while True:
            output.write(os.urandom(4_096))


def test_a_full_disk(tmp_path):
    with small_disk(tmp_path / "disk") as disk:
        shutil.copytree(accounts()[0], disk / "data")
        with Service(disk / "data") as service:
            session, wrong = service.session(), []
            assert put(service, session, 0) == 201
            fill_disk(disk / "rest")
            rejected = [put(service, session, number) for number in range(1, 6)]
            reads = [read(service, session) for _ in range(5)]
            if set(rejected) != {507} or set(reads) != {"f0-0"}:
                wrong.append((rejected, reads))
            login = requests.post(service.url + "/o/token/", data={"grant_type": "client_credentials", **service.credentials("robot")}, timeout=30).status_code
            if login != 507:
                wrong.append(("a token", login))
            if (ready := requests.get(service.url + "/readyz", timeout=30).status_code) != 503:
                wrong.append(("ready", ready))
            (disk / "rest").unlink()
            time.sleep(1)
            if (ready := requests.get(service.url + "/readyz", timeout=30).status_code) != 200:
                wrong.append(("ready with space", ready))
            if not recovers(service, session, 6) or read(service, session) != "f6-0":
                wrong.append("writes do not recover")
            service.session()
            for row in wrong:
                print("WRONG", row)
            goal("R5-full", {"rejected": len(rejected), "login": login, "wrong": len(wrong)}, "0", not wrong)
