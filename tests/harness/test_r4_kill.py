"""R4: the process is killed during writes: acknowledged writes survive, and no write is torn.

PIDQ_KILLS sets the number of kills, PIDQ_KILL_MINUTES a time after which no further kill follows.
"""

import collections
import os
import statistics
import threading
import time

import pytest
import requests

from service import LONG, Service, drawing, goal

CYCLES = int(os.environ.get("PIDQ_KILLS", "1000" if LONG else "20"))
SECONDS = 60 * float(os.environ.get("PIDQ_KILL_MINUTES", "1e6"))
# Kills between two lines of progress.
PROGRESS_INTERVAL = 50


def test_kills():
    with Service() as service:
        state = KillState(service)
        end = time.monotonic() + SECONDS
        while state.kills < CYCLES and time.monotonic() < end:
            state.write_and_kill()
            state.restart()
            state.check()
            if state.kills % PROGRESS_INTERVAL == 0:
                print(time.strftime("%H:%M:%S"), state.measurements(), flush=True)
        if not state.kills:
            pytest.fail("no kill in the given time")
        counts = state.counts
        goal("R4", state.measurements(), "0,0", not counts["lost"] and not counts["torn"])


class KillState:
    """The writes that were acknowledged, and what was found after each restart."""

    def __init__(self, service):
        self.service, self.kills = service, 0
        self.token, self.revoked = service.token(), service.token()
        form = {"token": self.revoked, **service.credentials("robot")}
        assert requests.post(service.url + "/o/revoke_token/", data=form, timeout=30).status_code == 200
        # By graph: version and marker of the last write that was acknowledged.
        self.acknowledged = {}
        self.counts = collections.Counter(writes=0, checked=0, lost=0, torn=0)
        self.start_times = []

    def write_and_kill(self):
        stop = threading.Event()
        threads = [threading.Thread(target=self.write, args=(f"kill-{n}", stop)) for n in range(3)]
        for thread in threads:
            thread.start()
        time.sleep(0.1 + (self.kills % 10) / 40)
        self.service.kill()
        self.kills += 1
        stop.set()
        for thread in threads:
            thread.join()

    def write(self, name, stop):
        session, number = self.service.session(self.token), 0
        while not stop.is_set():
            number += 1
            marker = f"c{self.kills}n{number}"
            try:
                response = self.service.put(session, name, drawing(number % 7 + 1, marker))
            except requests.RequestException:
                return
            if response.status_code in (200, 201):
                self.acknowledged[name] = (response.json()["change_version"], marker)
                self.counts["writes"] += 1

    def restart(self):
        self.start_times.append(self.service.start())

    def check(self):
        """Reads every graph: its latest version is not older than the acknowledged one, which is still there, and both are whole."""
        session = self.service.session(self.token)
        for name, (version, marker) in self.acknowledged.items():
            self.counts["checked"] += 1
            latest = session.get(f"{self.service.url}/graph/{name}", timeout=60)
            if latest.status_code != 200:
                self.counts["lost"] += 1
                continue
            graph = latest.json()["pid_graph"]
            self.counts["lost"] += int(graph["metadata"]["change_version"]) < int(version)
            names = {node["id"].split("-")[0] for node in graph["nodes"]}
            self.counts["torn"] += len(names) != 1 or graph["metadata"]["drawing_name"] != f"Unit {names.pop()}"
            old = session.get(f"{self.service.url}/graph/{name}", headers={"X-Change-Version": version}, timeout=60)
            self.counts["lost"] += old.status_code != 200 or marker not in old.text
        revoked = self.service.session(self.revoked).get(self.service.url + "/graph", timeout=60)
        self.counts["torn"] += revoked.status_code != 401

    def measurements(self):
        median, longest = statistics.median(self.start_times), max(self.start_times)
        return {"cycles": self.kills, **self.counts, "ready_median_s": round(median, 2), "ready_s": round(longest, 2)}
