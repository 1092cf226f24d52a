"""R6: thousands of slow clients: little effect on others, stable memory, and every one is disconnected."""

import json
import pathlib
import subprocess
import sys

import requests
from certificates import Authority
from good import Good
from service import LONG, Service, drawing, goal, timed

SECONDS = 60 if LONG else 20
CROWD = (5_000, 1_000, 1_000, 500) if LONG else (500, 100, 100, 50)
# Timeouts for a short run; the defaults are five times as long.
QUICK = {} if LONG else {"PIDQ_HEAD_TIMEOUT": "3s", "PIDQ_FIRST_BYTE_TIMEOUT": "2s", "PIDQ_BODY_TIMEOUT": "4s", "PIDQ_WRITE_TIMEOUT": "6s"}
LIMITS = {"heads": 15, "bodies": 15, "readers": 35, "silent": 15}


def test_slow_clients(tmp_path):
    authority, files = Authority(tmp_path), (tmp_path / "cert.pem", tmp_path / "key.pem")
    for file, text in zip(files, authority.pair()):
        file.write_bytes(text)
    tls = {"PIDQ_TLS_CERT": str(files[0]), "PIDQ_TLS_KEY": str(files[1]), **QUICK}
    with Service(PIDQ_MAX_REQUESTS_PER_PRINCIPAL="10000", PIDQ_MAX_REQUESTS="4096", **QUICK) as service, Service(authority=str(authority.file), **tls) as other:
        session = service.session()
        for job, size in (("small", 1_000), ("large", 20_000)):
            assert service.put(session, job, drawing(size)).status_code == 201
        reports = []

        def attack(end):
            script = str(pathlib.Path(__file__).with_name("slow.py"))
            command = [sys.executable, script, str(service.port), str(other.port), service.token("writer"), str(SECONDS - 2), *map(str, CROWD)]
            done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=SECONDS + 120)
            reports.append(json.loads(done.stdout))

        good = Good(service)
        good.phase(2)
        before = service.rss()[1] + other.rss()[1]
        ratio, failures = good.ratio(attack, SECONDS)
        growth = (service.rss()[1] + other.rss()[1] - before) >> 20
        stayed = {kind: max(one[kind][1] for one in reports) for kind in LIMITS}
        late = [kind for kind, limit in LIMITS.items() if stayed[kind] > min(limit, SECONDS - 3)]
        after = requests.get(other.url + "/livez", verify=other.verify, timeout=10).status_code
        measurements = {"clients": sum(CROWD), "p99_ratio": round(ratio, 2), "good_failures": failures, "rss_mib": growth} | {f"{kind}_s": at for kind, at in stayed.items()}
        passed = timed(ratio, 2) and not failures and growth <= 150 and not late and after == 200
        goal("R6", measurements, "ratio:2,0,150,15/15/35/15s", passed)
