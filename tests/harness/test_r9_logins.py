"""R9: a flood of failed logins: queries still work, memory is stable, and a known user can log in."""

import json
import pathlib
import subprocess
import sys
import time

import requests
from good import Good
from service import LONG, PASSWORD, SECRET, Service, drawing, goal, timed

SECONDS = 60 if LONG else 8
FORM = {"grant_type": "password", "client_id": "pidq", "client_secret": SECRET}
# A user who has logged in from this network before.
OFFICE = {"X-Forwarded-For": "203.0.113.9"}


def log_in(service):
    """Returns the seconds until a login succeeds, with retries while the service is busy."""
    begun = time.monotonic()
    while True:
        reply = requests.post(service.url + "/o/token/", data={**FORM, "username": "lib7", "password": PASSWORD}, headers=OFFICE, timeout=60)
        if reply.status_code == 200:
            return time.monotonic() - begun
        assert reply.status_code in (429, 503), reply.text
        time.sleep(0.2)


def test_login_flood():
    with Service(PIDQ_TRUSTED_PROXIES="127.0.0.0/8") as service:
        service.put(service.session(), "small", drawing(1_000))
        statuses, logins = {}, []

        def attack(end):
            command = [sys.executable, str(pathlib.Path(__file__).with_name("flood.py")), str(service.port), str(SECONDS), "500"]
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as flood:
                while not end.is_set():
                    logins.append(log_in(service))
                    time.sleep(0.5)
                for status, count in json.loads(flood.communicate(timeout=60)[0]).items():
                    statuses[status] = statuses.get(status, 0) + count

        good = Good(service)
        log_in(service)
        good.phase(2)
        before = service.rss()[1]
        ratio, failures = good.ratio(attack, SECONDS)
        growth = (service.rss()[1] - before) >> 20
        logins.sort()
        late = logins[int(len(logins) * 0.99)]
        measurements = {"logins": sum(statuses.values()), "statuses": str(dict(sorted(statuses.items()))).replace(" ", ""), "p99_ratio": round(ratio, 2),
                   "good_failures": failures, "rss_mib": growth, "good_login_s": round(late, 2)}
        passed = timed(ratio, 2) and not failures and growth <= 60 and set(statuses) <= {"400", "429", "503"} and timed(late, 2)
        goal("R9", measurements, "ratio:2,rss:+60,login:2", passed)
