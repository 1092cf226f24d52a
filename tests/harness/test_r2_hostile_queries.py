"""R2: hostile queries: no abort, no 5xx except an intended 503, bounded memory, little effect on other clients."""

import json
import pathlib
import subprocess
import sys

from latency_probe import LatencyProbe
from service import LONG, Service, drawing, goal, within_limit

SECONDS = 120 if LONG else 8


def test_hostile_queries():
    with Service(PIDQ_QUERY_TIMEOUT="1s") as service:
        session = service.session()
        for graph_id, size in (("small", 1_000), ("large", 10_000)):
            assert service.put(session, graph_id, drawing(size)).status_code == 201
        reports = []

        def attack(_stop):
            script = str(pathlib.Path(__file__).with_name("hostile_client.py"))
            command = [sys.executable, script, service.url, service.token("robot"), "small", str(SECONDS), "40"]
            process = subprocess.run(command, capture_output=True, text=True, check=True, timeout=SECONDS + 90)
            reports.append(json.loads(process.stdout))

        slowdown, failures = LatencyProbe(service).slowdown(attack, SECONDS)
        statuses = {}
        for report in reports:
            for status, count in report["statuses"].items():
                statuses[status] = statuses.get(status, 0) + count
            for row in report["unexpected"]:
                print("UNEXPECTED", row)
        slowest = max((report["slowest"] for report in reports), key=lambda pair: pair[0])
        print("SLOWEST", slowest, "STATUSES", statuses)
        unexpected = sum(count for status, count in statuses.items() if status not in ("200", "400", "413", "422", "503"))
        # Freed memory is returned to the system.
        rss, peak = (bytes >> 20 for bytes in service.rss())
        is_running = service.process.poll() is None
        passed = is_running and not unexpected and not failures and within_limit(slowdown, 2) and peak <= 512 and rss <= 128 and within_limit(slowest[0], 2.5)
        measurements = {"attacks": sum(statuses.values()), "unexpected": unexpected, "slowest_s": round(slowest[0], 2), "peak_mib": peak, "rss_mib": rss,
                   "p99_ratio": round(slowdown, 2), "probe_failures": failures}
        goal("R2", measurements, "unexpected:0,slowest:1.5+1,peak:512,rss:128,ratio:2", passed)
