"""P3: the disk of the document platform is full. Uploads are rejected with the right code, searches still work,
acknowledged documents survive, and uploads work again once space is freed, without a restart."""

import collections
import time

import requests
from service import Platform, goal
from test_p2_platform_kill import hits, wait_until_processed
from test_r5_faults import fill_disk, small_disk

# Documents uploaded and processed before the disk is full, uploaded just before, and uploaded while it is full; minimum number
# of rejections.
PROCESSED, IN_PROGRESS, WHILE_FULL, MIN_REJECTED = 10, 5, 20, 5
# Permitted rejections.
CODES = {507: "insufficient-storage", 503: "unavailable"}


def upload(session, base, number, kilobytes=4):
    """Returns the status and the body of an upload."""
    text = f"Valve HV-{number:05d} of the plant.\n\n" + f"It is closed by hand, and locked {number}. " * (kilobytes * 26)
    form = {"file": (f"{number}.txt", text), "classification": (None, "manual")}
    response = session.post(f"{base}/documents", files=form, timeout=60)
    return response.status_code, response.json()


def unfound(session, base, accepted):
    """Returns the numbers of the documents that a search does not find."""
    return [number for number, document in accepted.items() if hits(session, base, number) != [document]]


def wait_until_recovered(session, base, seconds=60):
    """Waits until all documents are processed; retries failed requests, since the disk may just have become free."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return wait_until_processed(session, base)
        except (AssertionError, KeyError, requests.RequestException):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.5)


def test_a_full_disk(tmp_path):
    # A short lease, so that a job that could not be finished is soon claimed again.
    with small_disk(tmp_path / "disk", "16m") as disk, Platform(PIDQ_DATA_DIR=str(disk / "data"), PIDQ_JOB_LEASE_TTL="2s") as platform:
        session = platform.session()
        base = f"{platform.url}/api/pipelines/{platform.pipeline(session)}"
        accepted = {number: upload(session, base, number)[1]["id"] for number in range(PROCESSED)}
        wait_until_processed(session, base)
        early = dict(accepted)
        # These are being ingested when the disk becomes full.
        accepted |= {number: upload(session, base, number)[1]["id"] for number in range(PROCESSED, PROCESSED + IN_PROGRESS)}
        fill_disk(disk / "rest")
        wrong, rejected = [], collections.Counter()
        for number in range(PROCESSED + IN_PROGRESS, PROCESSED + IN_PROGRESS + WHILE_FULL):
            # Small documents, and larger ones that are spooled to a file.
            status, body = upload(session, base, number, 400 if number % 2 else 4)
            if status in (200, 202):
                accepted[number] = body["id"]
            elif body.get("code") == CODES.get(status):
                rejected[status] += 1
            else:
                wrong.append(("an upload", status, body))
            fill_disk(disk / "more")
        wrong += [("not found while the disk is full", number) for number in unfound(session, base, early)]
        (disk / "rest").unlink()
        (disk / "more").unlink(missing_ok=True)
        for number in range(100, 105):
            status, body = upload(session, base, number)
            if status != 202:
                wrong.append(("an upload afterwards", status, body))
            else:
                accepted[number] = body["id"]
        states = wait_until_recovered(session, base)
        wrong += [("not ready", number, states.get(document)) for number, document in accepted.items() if states.get(document, {}).get("status") != "ready"]
        wrong += [("more than were accepted", len(states), len(accepted))] * (len(states) != len(accepted))
        wrong += [("not found afterwards", number) for number in unfound(session, base, accepted)]
        for row in wrong:
            print("WRONG", row)
        measurements = {"acknowledged": len(accepted), "rejected": rejected.total(), "full": rejected[507], "wrong": len(wrong)}
        goal("P3", measurements, "0", not wrong and rejected[507] >= MIN_REJECTED)
