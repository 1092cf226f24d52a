"""Sends hostile requests, as a separate process with the lowest priority: `attacker.py URL TOKEN JOB SECONDS RATE`.

Prints a line of JSON: how many, how they ended, the longest wait.
"""

import json
import os
import random
import sys
import threading
import time

import requests
from hostile import queries

os.nice(19)
url, token, job, seconds, rate = sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4]), float(sys.argv[5])
begun = time.monotonic()
statuses, worst, odd, lock = {}, [0.0, ""], [], threading.Lock()
attacks = queries(random.Random(int(os.environ.get("SEED", "7"))))


def work():
    session = requests.Session()
    session.headers["Authorization"] = f"Bearer {token}"
    while True:
        with lock:
            if time.monotonic() - begun > seconds:
                return
            body = next(attacks)
        started = time.monotonic()
        try:
            reply = session.post(f"{url}/graph/{job}", data=body, headers={"Content-Type": "application/json"}, timeout=60)
            status, text = reply.status_code, reply.text[:300]
        except requests.RequestException as error:
            status, text = 0, repr(error)
        took = time.monotonic() - started
        with lock:
            statuses[status] = statuses.get(status, 0) + 1
            if took > worst[0]:
                worst[:] = [took, body[:200]]
            if status not in (200, 400, 413, 422, 503):
                odd.append([status, text, body[:300]])
        time.sleep(max(0, 2 / rate - took))


threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(json.dumps({"statuses": statuses, "worst": worst, "odd": odd[:5]}))
