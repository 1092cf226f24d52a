"""P3: the disk of the document platform is full. Uploads are refused as what they are, questions go on, what was
acknowledged is there, and once there is room all goes on without a restart."""

import collections
import time

import requests
from service import Platform, goal
from test_p2_platform_kill import hits, settled
from test_r5_faults import fill, small_disk

# Documents before the disk is full, some of them still being read then; documents while it is, and at least so many of these
# are refused.
BEFORE, READ, MEANWHILE, REFUSED = 10, 5, 20, 5
# What a refusal may be.
CODES = {507: "insufficient-storage", 503: "unavailable"}


def upload(session, base, number, kilobytes=4):
    """The status of an upload, and what is answered."""
    text = f"Valve HV-{number:05d} of the plant.\n\n" + f"It is closed by hand, and locked {number}. " * (kilobytes * 26)
    form = {"file": (f"{number}.txt", text), "classification": (None, "manual")}
    answer = session.post(f"{base}/documents", files=form, timeout=60)
    return answer.status_code, answer.json()


def found(session, base, taken):
    """How many of these documents are not what a question finds."""
    return [number for number, document in taken.items() if hits(session, base, number) != [document]]


def settles(session, base, seconds=60):
    """Waits for all documents, and for answers: the disk may just have become free."""
    end = time.monotonic() + seconds
    while True:
        try:
            return settled(session, base)
        except (AssertionError, KeyError, requests.RequestException):
            if time.monotonic() > end:
                raise
            time.sleep(0.5)


def test_a_full_disk(tmp_path):
    # The worker of a job that could not be ended lets go of it soon.
    with small_disk(tmp_path / "disk", "16m") as disk, Platform(PIDQ_DATA_DIR=str(disk / "data"), PIDQ_WORKER_HOLD="2s") as platform:
        session = platform.session()
        base = f"{platform.url}/api/pipelines/{platform.pipeline(session)}"
        taken = {number: upload(session, base, number)[1]["id"] for number in range(BEFORE)}
        settled(session, base)
        early = dict(taken)
        # These are being read when there is no room left.
        taken |= {number: upload(session, base, number)[1]["id"] for number in range(BEFORE, BEFORE + READ)}
        fill(disk / "rest")
        wrong, refused = [], collections.Counter()
        for number in range(BEFORE + READ, BEFORE + READ + MEANWHILE):
            # Small ones, and such as go by a file.
            status, told = upload(session, base, number, 400 if number % 2 else 4)
            if status in (200, 202):
                taken[number] = told["id"]
            elif told.get("code") == CODES.get(status):
                refused[status] += 1
            else:
                wrong.append(("an upload", status, told))
            fill(disk / "more")
        wrong += [("not found while the disk is full", number) for number in found(session, base, early)]
        (disk / "rest").unlink()
        (disk / "more").unlink(missing_ok=True)
        for number in range(100, 105):
            status, told = upload(session, base, number)
            if status != 202:
                wrong.append(("an upload afterwards", status, told))
            else:
                taken[number] = told["id"]
        states = settles(session, base)
        wrong += [("not ready", number, states.get(document)) for number, document in taken.items() if states.get(document, {}).get("status") != "ready"]
        wrong += [("more than was taken", len(states), len(taken))] * (len(states) != len(taken))
        wrong += [("not found afterwards", number) for number in found(session, base, taken)]
        for row in wrong:
            print("WRONG", row)
        figures = {"acknowledged": len(taken), "refused": refused.total(), "full": refused[507], "wrong": len(wrong)}
        goal("P3", figures, "0", not wrong and refused[507] >= REFUSED)
