"""P4: the platform ends when it is asked to, writes its indexes on the way, and reads them at the next start."""

import re

import requests
from service import Platform, free_port, goal
from test_p2_platform_kill import hits, settled

# Documents, and words of each: some thousand chunks together, with which an index is worth a file.
DOCUMENTS, SENTENCES = 40, 60


def figure(platform, name):
    text = requests.get(f"http://{platform.settings['PIDQ_ADMIN_LISTEN']}/metrics", timeout=30).text
    return sum(float(value) for value in re.findall(rf"^pidq_pipeline_{name}(?:_total)?(?:{{.*}})? (\S+)$", text, re.MULTILINE))


def test_indexes_outlive_a_restart():
    with Platform(PIDQ_ADMIN_LISTEN=f"127.0.0.1:{free_port()}") as platform:
        session = platform.session()
        splitter = {"name": "recursive_character", "chunk_size": 80, "chunk_overlap": 0}
        wanted = {"name": "plant", "embedding_model": "hash-512", "text_splitter": splitter, "classifications": ["manual"]}
        base = f"{platform.url}/api/pipelines/" + session.post(f"{platform.url}/api/pipelines", json=wanted, timeout=30).json()["id"]
        taken = {}
        for number in range(DOCUMENTS):
            text = f"Valve HV-{number:05d} of the plant. " + " ".join(f"Line {number}-{line} leads water to the tank number {line}." for line in range(SENTENCES))
            form = {"file": (f"{number}.txt", text), "classification": (None, "manual")}
            taken[number] = session.post(f"{base}/documents", files=form, timeout=60).json()["id"]
        settled(session, base)
        before = {number: hits(session, base, number) for number in taken}
        code, seconds = platform.terminate()
        files = list((platform.data / "snapshots").glob("*.snapshot"))
        platform.start()
        session = platform.session()
        after = {number: hits(session, base, number) for number in taken}
        opened, refused = figure(platform, "snapshots_opened"), figure(platform, "snapshots_refused")
        same = before == after == {number: [document] for number, document in taken.items()}
        figures = {"code": code, "seconds": round(seconds, 2), "files": len(files), "opened": int(opened), "refused": int(refused), "same": same}
        goal("P4", figures, "0,10,1,1,0,True", (code, len(files), opened, refused, same) == (0, 1, 1, 0, True) and seconds <= 10)
