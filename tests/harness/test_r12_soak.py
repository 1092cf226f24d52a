"""R12: mixed load for an hour and a half: memory does not grow, descriptors are released, every status is expected."""

import os
import random
import threading
import time

import requests
from service import LONG, PASSWORD, Service, drawing, goal

# Memory in use varies by half a MiB, and the allocator's overhead by two percent. Over half an hour, that is a slope of
# several MiB per hour in either direction; so the test takes longer.
SECONDS = 5_400 if LONG else 40
# Warm-up without pauses, so that all caches and retained versions are full: minimum seconds, and number of graph writes.
WARM_UP_SECONDS = 300 if LONG else 20
WARM_UP_WRITES = 20_000 if LONG else 0
# In a short run the caches still fill, so the slope is not judged.
MAX_SLOPE = 1 if LONG else float("inf")
# Seconds after which a client gets a new token; tokens are valid for an hour.
TOKEN_RENEWAL_SECONDS = 1_200
# Small, so that they are full when the measurement starts.
CACHES = {"PIDQ_GRAPH_CACHE_SIZE": "16MiB", "PIDQ_RESULT_CACHE_SIZE": "4MiB"}
MIB = 1 << 20


def write_client(service, session, rng):
    graph_id = f"graph-{rng.randrange(20)}"
    response = service.put(session, graph_id, drawing(rng.randrange(1, 400), f"n{rng.randrange(1_000)}"))
    return response.status_code in (200, 201)


def read_client(service, session, rng):
    headers = {"Accept-Encoding": rng.choice(["gzip", "zstd", "identity"]), "If-None-Match": rng.choice(['"x"', "*"])}
    response = session.get(f"{service.url}/graph/graph-{rng.randrange(20)}", headers=headers, timeout=60)
    return response.status_code in (200, 304)


def query_client(service, session, rng):
    # Few queries repeat, so compiled ones are evicted all the time.
    query = f".pid_graph.nodes | filter(.id != \"{rng.randrange(100_000)}\") | map(.id) | limit({rng.randrange(1, 50)})"
    return service.run_query(session, f"graph-{rng.randrange(20)}", query).status_code == 200


def invalid_query_client(service, session, rng):
    query = rng.choice(["filter(", "nothing()", ".a | map(", "range(0, 1000000000)"])
    return service.run_query(session, f"graph-{rng.randrange(20)}", query).status_code in (400, 422)


def unauthenticated_client(service, _session, rng):
    response = requests.get(service.url + rng.choice(["/graph", "/graph/graph-1", "/nowhere", "/livez"]), timeout=60)
    return response.status_code in (200, 401, 404)


def login_client(service, _session, rng):
    form = {"grant_type": "password", "username": f"lib{rng.randrange(8)}", "password": PASSWORD, **service.credentials("pidq")}
    login = requests.post(service.url + "/o/token/", data=form, timeout=60)
    if login.status_code in (429, 503):
        return True
    refresh_form = {"grant_type": "refresh_token", "refresh_token": login.json()["refresh_token"], **service.credentials("pidq")}
    refresh = requests.post(service.url + "/o/token/", data=refresh_form, timeout=60)
    return refresh.status_code == 200 and service.session(refresh.json()["access_token"]).get(service.url + "/graph", timeout=60).status_code == 200


# Clients and the seconds between their requests.
LOAD = [
    (write_client, 0.1), (read_client, 0.02), (read_client, 0.02), (query_client, 0.02), (query_client, 0.02), (invalid_query_client, 0.1),
    (unauthenticated_client, 0.1), (login_client, 2),
]


def descriptors(service):
    return len(os.listdir(f"/proc/{service.process.pid}/fd"))


def slope(samples):
    """Returns the growth in MiB per hour, by least squares."""
    mean_time = sum(at for at, _ in samples) / len(samples)
    mean_size = sum(size for _, size in samples) / len(samples)
    covariance = sum((at - mean_time) * (size - mean_size) for at, size in samples)
    return covariance / sum((at - mean_time) ** 2 for at, _ in samples) * 3_600 / MIB


def test_soak():
    with Service(**CACHES) as service:
        first = service.session()
        for n in range(20):
            service.put(first, f"graph-{n}", drawing(50))
        first.close()
        before, stop, is_warmed_up = descriptors(service), threading.Event(), threading.Event()
        wrong, counts = [], dict.fromkeys((client for client, _ in LOAD), 0)

        def run(client, pause, seed):
            rng, session, renewed = random.Random(seed), service.session(), time.monotonic()
            while not stop.is_set():
                if time.monotonic() - renewed > TOKEN_RENEWAL_SECONDS:
                    session.close()
                    session, renewed = service.session(), time.monotonic()
                try:
                    if not client(service, session, rng):
                        wrong.append(client.__name__)
                except (requests.RequestException, KeyError, ValueError) as error:
                    wrong.append((client.__name__, repr(error)[:200]))
                counts[client] += 1
                time.sleep(pause if is_warmed_up.is_set() else 0)
            session.close()

        threads = [threading.Thread(target=run, args=(client, pause, seed)) for seed, (client, pause) in enumerate(LOAD)]
        for thread in threads:
            thread.start()
        time.sleep(WARM_UP_SECONDS)
        while counts[write_client] < WARM_UP_WRITES:
            time.sleep(1)
        is_warmed_up.set()
        samples, end = [], time.monotonic() + SECONDS
        while time.monotonic() < end:
            samples.append((time.monotonic(), service.rss()[0]))
            time.sleep(1)
        stop.set()
        for thread in threads:
            thread.join()
        time.sleep(2)
        after = descriptors(service)
        for row in wrong[:5]:
            print("WRONG", row)
        measurements = {"requests": sum(counts.values()), "unexpected": len(wrong), "mib_an_hour": round(slope(samples), 2), "rss_mib": samples[-1][1] // MIB, "descriptors": f"{before}->{after}"}
        # A database connection pool opens connections on demand and keeps them.
        goal("R12", measurements, f"0,{MAX_SLOPE},+8", not wrong and slope(samples) <= MAX_SLOPE and after <= before + 8)
