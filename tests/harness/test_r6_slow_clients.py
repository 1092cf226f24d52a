"""R6: thousands of slow clients: little effect on others, stable memory, and each is disconnected after its timeout."""

import json
import pathlib
import subprocess
import sys

import requests
from certificates import CertificateAuthority
from latency_probe import LatencyProbe
from service import LONG, Service, drawing, goal, within_limit

SECONDS = 60 if LONG else 20
CLIENTS = (5_000, 1_000, 1_000, 500) if LONG else (500, 100, 100, 50)
# Timeouts for a short run; the defaults are five times as long.
SHORT_TIMEOUTS = {} if LONG else {"PIDQ_HEAD_TIMEOUT": "3s", "PIDQ_FIRST_BYTE_TIMEOUT": "2s", "PIDQ_BODY_TIMEOUT": "4s", "PIDQ_WRITE_TIMEOUT": "6s"}
MAX_SECONDS = {"heads": 15, "bodies": 15, "readers": 35, "silent": 15}


def test_slow_clients(tmp_path):
    authority, files = CertificateAuthority(tmp_path), (tmp_path / "cert.pem", tmp_path / "key.pem")
    for file, text in zip(files, authority.issue_server_certificate()):
        file.write_bytes(text)
    tls = {"PIDQ_TLS_CERT": str(files[0]), "PIDQ_TLS_KEY": str(files[1]), **SHORT_TIMEOUTS}
    with Service(PIDQ_REQUESTS_PER_CALLER_LIMIT="10000", PIDQ_REQUEST_LIMIT="4096", **SHORT_TIMEOUTS) as service, Service(ca_file=str(authority.file), **tls) as tls_service:
        session = service.session()
        for graph_id, size in (("small", 1_000), ("large", 20_000)):
            assert service.put(session, graph_id, drawing(size)).status_code == 201
        reports = []

        def attack(_stop):
            script = str(pathlib.Path(__file__).with_name("slow_clients.py"))
            command = [sys.executable, script, str(service.port), str(tls_service.port), service.token("writer"), str(SECONDS - 2), *map(str, CLIENTS)]
            process = subprocess.run(command, capture_output=True, text=True, check=True, timeout=SECONDS + 120)
            reports.append(json.loads(process.stdout))

        probe = LatencyProbe(service)
        probe.measure(2)
        before = service.rss()[1] + tls_service.rss()[1]
        slowdown, failures = probe.slowdown(attack, SECONDS)
        growth = (service.rss()[1] + tls_service.rss()[1] - before) >> 20
        durations = {kind: max(report[kind][1] for report in reports) for kind in MAX_SECONDS}
        late = [kind for kind, limit in MAX_SECONDS.items() if durations[kind] > min(limit, SECONDS - 3)]
        after = requests.get(tls_service.url + "/livez", verify=tls_service.verify, timeout=10).status_code
        measurements = {"clients": sum(CLIENTS), "p99_ratio": round(slowdown, 2), "probe_failures": failures, "rss_mib": growth} | {f"{kind}_s": seconds for kind, seconds in durations.items()}
        passed = within_limit(slowdown, 2) and not failures and growth <= 150 and not late and after == 200
        goal("R6", measurements, "ratio:2,0,150,15/15/35/15s", passed)
