"""P2: the document platform is killed while it reads. Every document that it took ends ready, once, and is found."""

import random
import time

import requests

from service import LONG, Platform, goal

DOCUMENTS = 2_000 if LONG else 60
KILLS = 20 if LONG else 3


def test_kill():
    with Platform(PIDQ_WORKER_HOLD="2s", PIDQ_WORKERS="2") as platform:
        session = platform.session()
        pipeline = platform.pipeline(session)
        base = f"{platform.url}/api/pipelines/{pipeline}"
        moments = sorted(random.Random(7).sample(range(1, DOCUMENTS), KILLS))
        taken = {}
        for number in range(DOCUMENTS):
            if number in moments:
                platform.kill()
                platform.start()
            taken[number] = upload(session, base, number)
        states = settled(session, base)
        lost = [number for number, document in taken.items() if states.get(document, {}).get("status") != "ready"]
        found = [number for number in taken if hits(session, base, number) != [taken[number]]]
        figures = {"documents": DOCUMENTS, "kills": KILLS, "lost": len(lost), "extra": len(states) - len(taken), "unfound": len(found)}
        goal("P2", figures, "0,0,0", not lost and len(states) == len(taken) and not found)


def upload(session, base, number):
    """Sends a document until it is acknowledged. The same bytes are the same document."""
    text = f"Valve HV-{number:04d} of the plant.\n\n" + "It is closed by hand, and locked. " * 40
    for _ in range(30):
        try:
            form = {"file": (f"{number}.txt", text), "classification": (None, "manual")}
            answer = session.post(f"{base}/documents", files=form, timeout=10)
            assert answer.status_code in (200, 202), answer.text
            return answer.json()["id"]
        except requests.ConnectionError:
            time.sleep(0.2)
    raise RuntimeError("nobody takes the document")


def settled(session, base):
    """All documents, once nothing happens to them any more."""
    for _ in range(600):
        states, cursor = {}, ""
        while cursor is not None:
            page = session.get(f"{base}/documents", params={"limit": 200, **({"cursor": cursor} if cursor else {})}, timeout=30).json()
            states |= {document["id"]: document for document in page["data"]}
            cursor = page["next_cursor"]
        if all(document["terminal"] for document in states.values()):
            return states
        time.sleep(0.5)
    raise RuntimeError("documents stay in line")


def hits(session, base, number):
    asked = {"query": f"HV-{number:04d}", "classification": "manual", "mode": "sparse", "top_k": 1}
    results = session.post(f"{base}/search", json=asked, timeout=30).json()["results"]
    return [result["document_id"] for result in results]
