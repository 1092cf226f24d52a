"""Client that sends hostile requests, in a process with the lowest priority: `hostile_client.py URL TOKEN GRAPH_ID SECONDS RATE`.

Prints a line of JSON: the number of responses by status, the slowest request, and unexpected responses.
"""

import json
import os
import random
import sys
import threading
import time

import requests
from hostile_bodies import bodies

os.nice(19)
url, token, graph_id, seconds, rate = sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4]), float(sys.argv[5])
start = time.monotonic()
statuses, slowest, unexpected, lock = {}, [0.0, ""], [], threading.Lock()
attacks = bodies(random.Random(int(os.environ.get("SEED", "7"))))


def send_requests():
    session = requests.Session()
    session.headers["Authorization"] = f"Bearer {token}"
    while True:
        with lock:
            if time.monotonic() - start > seconds:
                return
            body = next(attacks)
        sent_at = time.monotonic()
        try:
            response = session.post(f"{url}/graph/{graph_id}", data=body, headers={"Content-Type": "application/json"}, timeout=60)
            status, text = response.status_code, response.text[:300]
        except requests.RequestException as error:
            status, text = 0, repr(error)
        seconds_taken = time.monotonic() - sent_at
        with lock:
            statuses[status] = statuses.get(status, 0) + 1
            if seconds_taken > slowest[0]:
                slowest[:] = [seconds_taken, body[:200]]
            if status not in (200, 400, 413, 422, 503):
                unexpected.append([status, text, body[:300]])
        time.sleep(max(0, 2 / rate - seconds_taken))


threads = [threading.Thread(target=send_requests) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(json.dumps({"statuses": statuses, "slowest": slowest, "unexpected": unexpected[:5]}))
