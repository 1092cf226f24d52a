"""R2: hostile queries: no abort, no 5xx except an intended 503, bounded memory, little effect on other clients."""

import json
import pathlib
import subprocess
import sys
import threading

from good import Good
from service import LONG, Service, drawing, goal, timed

SECONDS = 120 if LONG else 8


def test_hostile_queries():
    with Service(PIDQ_QUERY_TIMEOUT="1s") as service:
        session = service.session()
        for job, size in (("small", 1_000), ("large", 10_000)):
            assert service.put(session, job, drawing(size)).status_code == 201
        reports = []

        def attack(end):
            script = str(pathlib.Path(__file__).with_name("attacker.py"))
            command = [sys.executable, script, service.url, service.token("robot"), "small", str(SECONDS), "40"]
            done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=SECONDS + 90)
            reports.append(json.loads(done.stdout))

        ratio, failures = Good(service).ratio(attack, SECONDS)
        statuses = {}
        for one in reports:
            for status, count in one["statuses"].items():
                statuses[status] = statuses.get(status, 0) + count
            for row in one["odd"]:
                print("ODD", row)
        worst = max((one["worst"] for one in reports), key=lambda pair: pair[0])
        print("WORST", worst, "STATUSES", statuses)
        odd = sum(count for status, count in statuses.items() if status not in ("200", "400", "413", "422", "503"))
        # Freed memory is returned to the system.
        left, peak = (bytes >> 20 for bytes in service.rss())
        alive = service.process.poll() is None
        passed = alive and not odd and not failures and timed(ratio, 2) and peak <= 512 and left <= 128 and timed(worst[0], 2.5)
        measurements = {"attacks": sum(statuses.values()), "odd": odd, "worst_s": round(worst[0], 2), "rss_mib": peak, "left_mib": left,
                   "p99_ratio": round(ratio, 2), "good_failures": failures}
        goal("R2", measurements, "odd:0,worst:1.5+1,rss:512,left:128,ratio:2", passed)
