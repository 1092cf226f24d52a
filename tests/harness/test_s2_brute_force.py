"""S2: brute force is limited to a hundred guesses per account and day, and the owner can still log in."""

import glob

import pytest
import requests
from service import LONG, PASSWORD, SECRET, WORK, Service, goal

DAYS = 3 if LONG else 1
HOUR = 3_600
# Seconds between two guesses, each from another network.
GUESS_INTERVAL = 240
FAKETIME = "/usr/lib/*/faketime/libfaketimeMT.so.1"


def log_in(service, password, address):
    form = {"grant_type": "password", "client_id": "pidq", "client_secret": SECRET, "username": "ed", "password": password}
    return requests.post(service.url + "/o/token/", data=form, headers={"X-Forwarded-For": address}, timeout=60).status_code


def test_brute_force():
    found = glob.glob(FAKETIME)
    if not found:
        pytest.skip("faketime is not installed")
    clock = WORK / "clock"
    clock.write_text("+0")
    faketime = {"LD_PRELOAD": found[0], "FAKETIME_TIMESTAMP_FILE": str(clock), "FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
    with Service(PIDQ_TRUSTED_PROXIES="127.0.0.0/8", **faketime) as service:
        statuses, owner_statuses, hashed, guesses = {}, [log_in(service, PASSWORD, "203.0.113.9")], [], 0
        for day in range(DAYS):
            hashed_today = 0
            for second in range(0, 24 * HOUR, GUESS_INTERVAL):
                clock.write_text(f"+{day * 24 * HOUR + second}")
                guesses += 1
                status = log_in(service, f"guess {guesses}", f"198.51.{guesses // 250}.{guesses % 250}")
                statuses[status] = statuses.get(status, 0) + 1
                # A login with status 429 is rejected before hashing.
                hashed_today += status != 429
                if second % (2 * HOUR) == 0:
                    owner_statuses.append(log_in(service, PASSWORD, "203.0.113.9"))
            hashed.append(hashed_today)
        locked_out = sum(status != 200 for status in owner_statuses)
        measurements = {"guesses": guesses, "hashed_a_day": max(hashed), "owner": len(owner_statuses), "locked_out": locked_out, "statuses": str(statuses).replace(" ", "")}
        goal("S2", measurements, "100,0", max(hashed) <= 100 and not locked_out and set(statuses) <= {400, 429})
