"""R9: a flood of failed logins: queries still work, memory is stable, and a known user can log in."""

import json
import pathlib
import subprocess
import sys
import time

import requests
from latency_probe import LatencyProbe
from service import LONG, PASSWORD, SECRET, Service, drawing, goal, within_limit

SECONDS = 60 if LONG else 8
FORM = {"grant_type": "password", "client_id": "pidq", "client_secret": SECRET}
# The network from which the known user has logged in before.
KNOWN_NETWORK = {"X-Forwarded-For": "203.0.113.9"}


def log_in(service):
    """Returns the seconds until a login succeeds, with retries while the service is busy."""
    start = time.monotonic()
    while True:
        response = requests.post(service.url + "/o/token/", data={**FORM, "username": "lib7", "password": PASSWORD}, headers=KNOWN_NETWORK, timeout=60)
        if response.status_code == 200:
            return time.monotonic() - start
        assert response.status_code in (429, 503), response.text
        time.sleep(0.2)


def test_login_flood():
    with Service(PIDQ_TRUSTED_PROXIES="127.0.0.0/8") as service:
        service.put(service.session(), "small", drawing(1_000))
        statuses, logins = {}, []

        def attack(stop):
            command = [sys.executable, str(pathlib.Path(__file__).with_name("login_flood.py")), str(service.port), str(SECONDS), "500"]
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as flood:
                while not stop.is_set():
                    logins.append(log_in(service))
                    time.sleep(0.5)
                for status, count in json.loads(flood.communicate(timeout=60)[0]).items():
                    statuses[status] = statuses.get(status, 0) + count

        probe = LatencyProbe(service)
        log_in(service)
        probe.measure(2)
        before = service.rss()[1]
        slowdown, failures = probe.slowdown(attack, SECONDS)
        growth = (service.rss()[1] - before) >> 20
        logins.sort()
        login_p99 = logins[int(len(logins) * 0.99)]
        measurements = {"logins": sum(statuses.values()), "statuses": str(dict(sorted(statuses.items()))).replace(" ", ""), "p99_ratio": round(slowdown, 2),
                        "probe_failures": failures, "rss_mib": growth, "login_p99_s": round(login_p99, 2)}
        passed = within_limit(slowdown, 2) and not failures and growth <= 60 and set(statuses) <= {"400", "429", "503"} and within_limit(login_p99, 2)
        goal("R9", measurements, "ratio:2,rss:+60,login:2", passed)
