"""P3: the disk of the document platform is full. Uploads are rejected with the right code, searches still work,
acknowledged documents survive, and uploads work again once space is freed, without a restart."""

import collections
import time

import requests
from service import Platform, goal
from test_p2_platform_kill import hits, settled
from test_r5_faults import fill, small_disk

# Documents before the disk is full, and those of them still being ingested then; documents while it is full, and the minimum
# number of rejections.
BEFORE, READ, MEANWHILE, REFUSED = 10, 5, 20, 5
# Permitted rejections.
CODES = {507: "insufficient-storage", 503: "unavailable"}


def upload(session, base, number, kilobytes=4):
    """Returns the status and the body of an upload."""
    text = f"Valve HV-{number:05d} of the plant.\n\n" + f"It is closed by hand, and locked {number}. " * (kilobytes * 26)
    form = {"file": (f"{number}.txt", text), "classification": (None, "manual")}
    answer = session.post(f"{base}/documents", files=form, timeout=60)
    return answer.status_code, answer.json()


def found(session, base, taken):
    """Returns the number of documents that a search does not find."""
    return [number for number, document in taken.items() if hits(session, base, number) != [document]]


def settles(session, base, seconds=60):
    """Waits for all documents and for responses: the disk may just have become free."""
    end = time.monotonic() + seconds
    while True:
        try:
            return settled(session, base)
        except (AssertionError, KeyError, requests.RequestException):
            if time.monotonic() > end:
                raise
            time.sleep(0.5)


def test_a_full_disk(tmp_path):
    # A short lease, so that a job that could not be finished is soon claimed again.
    with small_disk(tmp_path / "disk", "16m") as disk, Platform(PIDQ_DATA_DIR=str(disk / "data"), PIDQ_JOB_LEASE_TTL="2s") as platform:
        session = platform.session()
        base = f"{platform.url}/api/pipelines/{platform.pipeline(session)}"
        taken = {number: upload(session, base, number)[1]["id"] for number in range(BEFORE)}
        settled(session, base)
        early = dict(taken)
        # These are being ingested when the disk becomes full.
        taken |= {number: upload(session, base, number)[1]["id"] for number in range(BEFORE, BEFORE + READ)}
        fill(disk / "rest")
        wrong, refused = [], collections.Counter()
        for number in range(BEFORE + READ, BEFORE + READ + MEANWHILE):
            # Small documents, and larger ones that are spooled to a file.
            status, body = upload(session, base, number, 400 if number % 2 else 4)
            if status in (200, 202):
                taken[number] = body["id"]
            elif body.get("code") == CODES.get(status):
                refused[status] += 1
            else:
                wrong.append(("an upload", status, body))
            fill(disk / "more")
        wrong += [("not found while the disk is full", number) for number in found(session, base, early)]
        (disk / "rest").unlink()
        (disk / "more").unlink(missing_ok=True)
        for number in range(100, 105):
            status, body = upload(session, base, number)
            if status != 202:
                wrong.append(("an upload afterwards", status, body))
            else:
                taken[number] = body["id"]
        states = settles(session, base)
        wrong += [("not ready", number, states.get(document)) for number, document in taken.items() if states.get(document, {}).get("status") != "ready"]
        wrong += [("more than was taken", len(states), len(taken))] * (len(states) != len(taken))
        wrong += [("not found afterwards", number) for number in found(session, base, taken)]
        for row in wrong:
            print("WRONG", row)
        measurements = {"acknowledged": len(taken), "refused": refused.total(), "full": refused[507], "wrong": len(wrong)}
        goal("P3", measurements, "0", not wrong and refused[507] >= REFUSED)
