"""P4: on SIGTERM the platform writes index snapshots, and loads them at the next start."""

import re

import requests
from service import Platform, free_port, goal
from test_p2_platform_kill import hits, wait_until_processed

# Documents and sentences of each: some thousand chunks in all, enough for a snapshot.
DOCUMENTS, SENTENCES = 40, 60


def metric(platform, name):
    text = requests.get(f"http://{platform.settings['PIDQ_ADMIN_LISTEN']}/metrics", timeout=30).text
    return sum(float(value) for value in re.findall(rf"^pidq_pipeline_{name}(?:_total)?(?:{{.*}})? (\S+)$", text, re.MULTILINE))


def test_indexes_survive_a_restart():
    with Platform(PIDQ_ADMIN_LISTEN=f"127.0.0.1:{free_port()}") as platform:
        session = platform.session()
        splitter = {"name": "recursive_character", "chunk_size": 80, "chunk_overlap": 0}
        body = {"name": "plant", "embedding_model": "hash-512", "text_splitter": splitter, "classifications": ["manual"]}
        base = f"{platform.url}/api/pipelines/" + session.post(f"{platform.url}/api/pipelines", json=body, timeout=30).json()["id"]
        accepted = {}
        for number in range(DOCUMENTS):
            text = f"Valve HV-{number:05d} of the plant. " + " ".join(f"Line {number}-{line} leads water to the tank number {line}." for line in range(SENTENCES))
            form = {"file": (f"{number}.txt", text), "classification": (None, "manual")}
            accepted[number] = session.post(f"{base}/documents", files=form, timeout=60).json()["id"]
        wait_until_processed(session, base)
        before = {number: hits(session, base, number) for number in accepted}
        code, seconds = platform.terminate()
        files = list((platform.data_dir / "snapshots").glob("*.snapshot"))
        platform.start()
        session = platform.session()
        after = {number: hits(session, base, number) for number in accepted}
        loaded, invalid = metric(platform, "snapshots_loaded"), metric(platform, "snapshots_invalid")
        same = before == after == {number: [document] for number, document in accepted.items()}
        measurements = {"code": code, "seconds": round(seconds, 2), "files": len(files), "loaded": int(loaded), "invalid": int(invalid), "same": same}
        goal("P4", measurements, "0,10,1,1,0,True", (code, len(files), loaded, invalid, same) == (0, 1, 1, 0, True) and seconds <= 10)
