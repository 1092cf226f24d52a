"""P2: the document platform is killed during ingestion. Every accepted document ends exactly once, ready and searchable or
failed with a reason: on SQLite in one process, also during a reindex and with attachments of mails, and on PostgreSQL with Redis,
NATS, a server and two workers, all of which are killed at random.

PIDQ_KILLS sets the number of kills of the first and the last test, with four documents for each kill."""

import collections
import concurrent.futures
import contextlib
import os
import random
import statistics
import threading
import time
from email.message import EmailMessage

import pytest
import requests

from backends import Nats, Postgres, Redis, missing_programs
from service import LONG, Platform, Worker, goal

GIVEN_KILLS = int(os.environ.get("PIDQ_KILLS", "0"))
DOCUMENTS = 4 * GIVEN_KILLS or (2_000 if LONG else 60)
KILLS = GIVEN_KILLS or (20 if LONG else 3)
# During a reindex: documents and kills.
REINDEX_DOCUMENTS = 600 if LONG else 60
REINDEX_KILLS = 10 if LONG else 3
# With attachments: mails, attachments of each, and kills.
MAILS = 300 if LONG else 24
ATTACHMENTS = 3
MAIL_KILLS = 20 if LONG else 4
# With all servers: documents, rounds of kills, and documents searched at the end.
ALL_DOCUMENTS = 4 * GIVEN_KILLS or (10_000 if LONG else 60)
ALL_KILLS = GIVEN_KILLS or (120 if LONG else 5)
SEARCH_COUNT = 500 if LONG else 60
# One in this many documents is corrupt.
CORRUPT_INTERVAL = 50


def test_kill():
    with Platform(PIDQ_JOB_LEASE_TTL="2s", PIDQ_WORKERS="2") as platform:
        session = platform.session()
        pipeline = platform.pipeline(session)
        base = f"{platform.url}/api/pipelines/{pipeline}"
        kill_points = sorted(random.Random(7).sample(range(1, DOCUMENTS), KILLS))
        accepted, start_times = {}, []
        for number in range(DOCUMENTS):
            if number in kill_points:
                platform.kill()
                start_times.append(platform.start())
            accepted[number] = upload(session, base, number)
        states = wait_until_processed(session, base)
        lost = [number for number, document in accepted.items() if not has_expected_status(states, document, number)]
        unfound = [number for number in accepted if not is_corrupt(number) and hits(session, base, number) != [accepted[number]]]
        measurements = {
            "documents": DOCUMENTS,
            "kills": KILLS,
            "lost": len(lost),
            "extra": len(states) - len(accepted),
            "unfound": len(unfound),
            "ready_median_s": round(statistics.median(start_times), 2),
            "ready_s": round(max(start_times), 2),
        }
        goal("P2", measurements, "0,0,0", not lost and len(states) == len(accepted) and not unfound)


def test_kill_during_reindex():
    """Every search has results, from the old or the new index, and in the end the new index is complete."""
    with Platform(PIDQ_JOB_LEASE_TTL="2s", PIDQ_WORKERS="2") as platform:
        session = platform.session()
        base = f"{platform.url}/api/pipelines/{platform.pipeline(session)}"
        numbers = [number for number in range(REINDEX_DOCUMENTS) if not is_corrupt(number)]
        accepted = {number: upload(session, base, number) for number in numbers}
        before = {document: state["chunk_count"] for document, state in wait_until_processed(session, base).items()}
        splitter = {"name": "recursive_character", "chunk_size": 100, "chunk_overlap": 0}
        operation = session.post(f"{base}/reindex", json={"text_splitter": splitter}, timeout=30).json()["id"]
        rng, kills, unfound = random.Random(13), 0, 0
        while (state := session.get(f"{platform.url}/api/operations/{operation}", timeout=30).json())["status"] == "running":
            number = rng.choice(numbers)
            unfound += hits(session, base, number) != [accepted[number]]
            if kills < REINDEX_KILLS and state["progress"]["done"] * REINDEX_KILLS >= kills * REINDEX_DOCUMENTS:
                platform.kill()
                platform.start()
                kills += 1
        states = wait_until_processed(session, base)
        unfound += sum(hits(session, base, number) != [accepted[number]] for number in numbers)
        old = sum(states[document]["chunk_count"] <= count for document, count in before.items())
        measurements = {"documents": len(numbers), "kills": kills, "status": state["status"], "unfound": unfound, "old": old}
        goal("P2-index", measurements, "succeeded,0,0", state["status"] == "succeeded" and kills > 0 and not unfound and not old)


def test_kill_with_attachments():
    """Each mail has all of its attachments, each of them once, ready and found, also after retries of the mails."""
    with Platform(PIDQ_JOB_LEASE_TTL="2s", PIDQ_WORKERS="2") as platform:
        session = platform.session()
        pipeline = platform.pipeline(session)
        base = f"{platform.url}/api/pipelines/{pipeline}"
        rng, accepted = random.Random(5), {}
        kill_points = sorted(rng.sample(range(1, MAILS), MAIL_KILLS))
        for number in range(MAILS):
            if number in kill_points:
                # Workers are in the middle of mails, and of attachments.
                time.sleep(rng.uniform(0, 0.3))
                platform.kill()
                platform.start()
            accepted[number] = upload_file(session, base, f"{number}.eml", mail_text(number))
        before = wait_until_processed(session, base)
        for number in rng.sample(range(MAILS), MAILS // 3):
            session.post(f"{base}/documents/{accepted[number]}/retry", timeout=30).raise_for_status()
        platform.kill()
        platform.start()
        states = wait_until_processed(session, base)
        attachments = [state for state in states.values() if state["parent_id"]]
        owners = collections.Counter(state["parent_id"] for state in attachments)
        searched = [number * 100 + part for number in range(MAILS) for part in range(ATTACHMENTS)]
        unfound = sum(len(hits(session, base, valve)) != 1 for valve in searched)
        measurements = {
            "mails": MAILS,
            "attachments": len(attachments),
            "kills": MAIL_KILLS + 1,
            "retried": sum(state["attempts"] > 1 for state in states.values()),
            "lost": sum(owners[mail] != ATTACHMENTS for mail in accepted.values()),
            "extra": len(states) - MAILS * (1 + ATTACHMENTS),
            "not_ready": sum(state["status"] != "ready" for state in states.values()),
            "changed": len(before.keys() ^ states.keys()),
            "unfound": unfound,
        }
        wrong = sum(abs(measurements[name]) for name in ("lost", "extra", "not_ready", "changed", "unfound"))
        goal("P2-attachments", measurements, "0 lost, extra, not_ready, changed, unfound", wrong == 0)


def mail_text(number):
    mail = EmailMessage()
    mail["Subject"], mail["From"] = f"Mail {number}", "a@example.com"
    mail.set_content("See the files.\n")
    for part in range(ATTACHMENTS):
        mail.add_attachment(f"Valve HV-{number * 100 + part:05d} is closed. " * 40, filename=f"{part}.txt")
    return mail.as_bytes()


@pytest.mark.skipif(bool(missing_programs()), reason=f"not installed: {', '.join(missing_programs())}")
def test_kill_everything():
    with contextlib.ExitStack() as stack:
        backends = [stack.enter_context(kind()) for kind in (Postgres, Redis, Nats)]
        postgres, redis, nats = backends
        settings = {
            "PIDQ_DATABASE_URL": postgres.url,
            "PIDQ_REDIS_URL": redis.url,
            "PIDQ_NATS_URL": nats.url,
            "PIDQ_APP_SECRET": "c4f1d7e5b2408c9d6a1e7f0b3c5d8e9a",
            # High, so that Redis counts requests and none is rejected.
            "PIDQ_RATE_LIMIT": "1000000",
            "PIDQ_JOB_LEASE_TTL": "3s",
        }
        server = stack.enter_context(Platform(PIDQ_WORKERS="0", **settings))
        workers = [stack.enter_context(Worker(PIDQ_WORKERS="2", **settings)) for _ in range(2)]
        killer = ProcessKiller([*backends, server, *workers])
        started = time.monotonic()
        session = server.session()
        base = f"{server.url}/api/pipelines/{server.pipeline(session)}"
        with killer, concurrent.futures.ThreadPoolExecutor(4) as callers:
            numbers = range(ALL_DOCUMENTS)
            accepted = dict(zip(numbers, callers.map(lambda number: killer.count_upload(upload(session, base, number)), numbers)))
        states = wait_until_processed(session, base)
        seconds = time.monotonic() - started
        lost = [number for number, document in accepted.items() if not has_expected_status(states, document, number)]
        searched = random.Random(9).sample([number for number in accepted if not is_corrupt(number)], min(SEARCH_COUNT, len(accepted) * 9 // 10))
        unfound = [number for number in searched if hits(session, base, number) != [accepted[number]]]
        duplicates = postgres.query("select document_id from chunks group by document_id, generation, number having count(*) > 1")
        jobs_left = postgres.query("select count(*) from jobs")
        measurements = {
            "documents": len(accepted),
            "failed": sum(state["status"] == "failed" for state in states.values()),
            "seconds": round(seconds),
            "retried": sum(state["attempts"] > 1 for state in states.values()),
            **killer.killed,
            "lost": len(lost),
            "extra": len(states) - len(set(accepted.values())),
            "shared_ids": len(accepted) - len(set(accepted.values())),
            "unfound": len(unfound),
            "duplicates": len(duplicates),
            "jobs_left": int(jobs_left[0]),
        }
        wrong = sum(measurements[name] for name in ("lost", "extra", "shared_ids", "unfound", "duplicates", "jobs_left"))
        goal("P2-all", measurements, "0 lost, extra, shared_ids, unfound, duplicates, jobs_left", wrong == 0)


class ProcessKiller:
    """Kills and restarts random processes during the uploads."""

    def __init__(self, victims):
        self.victims = victims
        self.killed = {f"killed_{victim.name}": 0 for victim in victims}
        self.uploaded = 0
        self.rng = random.Random(11)
        self.stop = threading.Event()
        self.lock = threading.Lock()
        self.thread = threading.Thread(target=self.run)
        self.error = None

    def __enter__(self):
        self.thread.start()

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()
        if self.error:
            raise self.error

    def count_upload(self, document):
        """Counts an accepted document. An error of the killer thread fails the test."""
        with self.lock:
            self.uploaded += 1
        if self.error:
            raise self.error
        return document

    def run(self):
        kill_points = [(number + 1) * ALL_DOCUMENTS // (ALL_KILLS + 1) for number in range(ALL_KILLS)]
        try:
            for turn, kill_point in enumerate(kill_points):
                while self.uploaded < kill_point and not self.stop.wait(0.01):
                    pass
                self.kill_and_restart(turn)
        except Exception as error:  # pylint: disable=broad-exception-caught
            self.error = error

    def kill_and_restart(self, turn):
        """Kills one process after the other in the short run, so that each is killed; in the long run, one to three at once."""
        chosen = {turn % len(self.victims)} if not LONG else set(self.rng.sample(range(len(self.victims)), self.rng.choice((1, 1, 1, 2, 3))))
        for victim in chosen:
            self.victims[victim].kill()
            self.killed[f"killed_{self.victims[victim].name}"] += 1
        time.sleep(self.rng.uniform(0, 1))
        # The database first: the other processes need it to start.
        for victim in sorted(chosen):
            self.victims[victim].start()


def is_corrupt(number):
    return number % CORRUPT_INTERVAL == CORRUPT_INTERVAL - 1


def upload(session, base, number):
    """Uploads a document until it is acknowledged, and returns its id. Equal content is the same document."""
    text = f"Valve HV-{number:05d} of the plant.\n\n" + "It is closed by hand, and locked. " * 40
    name, text = (f"{number}.pdf", f"%PDF-1.7 corrupt {number}") if is_corrupt(number) else (f"{number}.txt", text)
    return upload_file(session, base, name, text)


def upload_file(session, base, name, text):
    for _ in range(300):
        with contextlib.suppress(requests.ConnectionError, requests.Timeout):
            form = {"file": (name, text), "classification": (None, "manual")}
            response = session.post(f"{base}/documents", files=form, timeout=30)
            if response.status_code in (200, 202):
                return response.json()["id"]
            assert response.status_code == 503, response.text
        time.sleep(0.2)
    raise RuntimeError("no server accepts the document")


def has_expected_status(states, document, number):
    """Returns True if a valid document is ready, or a corrupt one has failed with its reason."""
    state = states.get(document, {})
    if is_corrupt(number):
        return state.get("status") == "failed" and state["error"]["code"] == "corrupt-document"
    return state.get("status") == "ready" and state["searchable"]


def wait_until_processed(session, base):
    """Waits until no document is processing and returns all documents."""
    for _ in range(3600 if LONG else 600):
        counts = session.get(base, timeout=30).json()["document_counts"]
        if counts["processing"] == 0:
            return documents(session, base)
        time.sleep(0.5)
    raise RuntimeError(f"documents are still processing: {counts}")


def documents(session, base):
    states, cursor = {}, ""
    while cursor is not None:
        page = session.get(f"{base}/documents", params={"limit": 200, **({"cursor": cursor} if cursor else {})}, timeout=60).json()
        states |= {document["id"]: document for document in page["data"]}
        cursor = page["next_cursor"]
    assert all(document["terminal"] for document in states.values())
    return states


def hits(session, base, number):
    body = {"query": f"HV-{number:05d}", "classification": "manual", "mode": "sparse", "top_k": 1}
    contexts = session.post(f"{base}/search", json=body, timeout=120).json()["contexts"]
    return [context["document_id"] for context in contexts]
