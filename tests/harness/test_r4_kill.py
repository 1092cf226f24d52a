"""R4: the process is killed during writes: acknowledged writes survive, and no write is torn."""

import threading
import time

import requests
from service import LONG, Service, drawing, goal

CYCLES = 1_000 if LONG else 20


def test_kills():
    with Service() as service:
        token, lost, torn, slowest, writes = service.token(), 0, 0, 0.0, 0
        acknowledged = {}
        revoked = service.token()
        form = {"token": revoked, **service.credentials("robot")}
        assert requests.post(service.url + "/o/revoke_token/", data=form, timeout=30).status_code == 200
        for cycle in range(CYCLES):
            stop = threading.Event()

            def write(name):
                session, number = service.session(token), 0
                while not stop.is_set():
                    number += 1
                    try:
                        response = service.put(session, name, drawing(number % 7 + 1, f"c{cycle}n{number}"))
                    except requests.RequestException:
                        return
                    if response.status_code in (200, 201):
                        acknowledged[name] = (response.json()["change_version"], f"c{cycle}n{number}")

            threads = [threading.Thread(target=write, args=(f"kill-{n}",)) for n in range(3)]
            for thread in threads:
                thread.start()
            time.sleep(0.1 + (cycle % 10) / 40)
            service.kill()
            stop.set()
            for thread in threads:
                thread.join()
            slowest = max(slowest, service.start())
            session = service.session(token)
            for name, (version, marker) in acknowledged.items():
                writes += 1
                latest = session.get(f"{service.url}/graph/{name}", timeout=30)
                if latest.status_code != 200:
                    lost += 1
                    continue
                graph = latest.json()["pid_graph"]
                if int(graph["metadata"]["change_version"]) < int(version):
                    lost += 1
                names = {node["id"].split("-")[0] for node in graph["nodes"]}
                if len(names) != 1 or graph["metadata"]["drawing_name"] != f"Unit {names.pop()}":
                    torn += 1
                old = session.get(f"{service.url}/graph/{name}", headers={"X-Change-Version": version}, timeout=30)
                if old.status_code != 200 or marker not in old.text:
                    lost += 1
            if service.session(revoked).get(service.url + "/graph", timeout=30).status_code != 401:
                torn += 1
        measurements = {"cycles": CYCLES, "checked": writes, "lost": lost, "torn": torn, "ready_s": round(slowest, 2)}
        goal("R4", measurements, "0,0", not lost and not torn)
