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
WARM = 300 if LONG else 20
FULL = 20_000 if LONG else 0
# In a short run the caches still fill, so the slope is not judged.
SLOPE = 1 if LONG else float("inf")
# Seconds after which a client gets a new token; tokens are valid for an hour.
RENEW = 1_200
# Small, so that they are full when the measurement starts.
CACHES = {"PIDQ_GRAPH_CACHE_SIZE": "16MiB", "PIDQ_RESULT_CACHE_SIZE": "4MiB"}
MIB = 1 << 20


def writer(service, session, dice):
    job = f"job-{dice.randrange(20)}"
    reply = service.put(session, job, drawing(dice.randrange(1, 400), f"n{dice.randrange(1_000)}"))
    return reply.status_code in (200, 201)


def reader(service, session, dice):
    headers = {"Accept-Encoding": dice.choice(["gzip", "zstd", "identity"]), "If-None-Match": dice.choice(['"x"', "*"])}
    reply = session.get(f"{service.url}/graph/job-{dice.randrange(20)}", headers=headers, timeout=60)
    return reply.status_code in (200, 304)


def query_client(service, session, dice):
    # Few queries repeat, so compiled ones are evicted all the time.
    query = f".pid_graph.nodes | filter(.id != \"{dice.randrange(100_000)}\") | map(.id) | limit({dice.randrange(1, 50)})"
    return service.ask(session, f"job-{dice.randrange(20)}", query).status_code == 200


def invalid_query_client(service, session, dice):
    query = dice.choice(["filter(", "nothing()", ".a | map(", "range(0, 1000000000)"])
    return service.ask(session, f"job-{dice.randrange(20)}", query).status_code in (400, 422)


def unauthenticated_client(service, _session, dice):
    reply = requests.get(service.url + dice.choice(["/graph", "/graph/job-1", "/nowhere", "/livez"]), timeout=60)
    return reply.status_code in (200, 401, 404)


def login_client(service, _session, dice):
    login = {"grant_type": "password", "username": f"lib{dice.randrange(8)}", "password": PASSWORD, **service.credentials("pidq")}
    made = requests.post(service.url + "/o/token/", data=login, timeout=60)
    if made.status_code in (429, 503):
        return True
    form = {"grant_type": "refresh_token", "refresh_token": made.json()["refresh_token"], **service.credentials("pidq")}
    again = requests.post(service.url + "/o/token/", data=form, timeout=60)
    return again.status_code == 200 and service.session(again.json()["access_token"]).get(service.url + "/graph", timeout=60).status_code == 200


# Clients and the seconds between their requests.
LOAD = [
    (writer, 0.1), (reader, 0.02), (reader, 0.02), (query_client, 0.02), (query_client, 0.02), (invalid_query_client, 0.1),
    (unauthenticated_client, 0.1), (login_client, 2),
]


def descriptors(service):
    return len(os.listdir(f"/proc/{service.process.pid}/fd"))


def slope(samples):
    """Returns the growth in MiB per hour, by least squares."""
    middle = sum(at for at, _ in samples) / len(samples)
    mean = sum(size for _, size in samples) / len(samples)
    rise = sum((at - middle) * (size - mean) for at, size in samples)
    return rise / sum((at - middle) ** 2 for at, _ in samples) * 3_600 / MIB


def test_soak():
    with Service(**CACHES) as service:
        first = service.session()
        for n in range(20):
            service.put(first, f"job-{n}", drawing(50))
        first.close()
        before, over, warm = descriptors(service), threading.Event(), threading.Event()
        wrong, done = [], dict.fromkeys((act for act, _ in LOAD), 0)

        def run(act, pause, seed):
            dice, session, renewed = random.Random(seed), service.session(), time.monotonic()
            while not over.is_set():
                if time.monotonic() - renewed > RENEW:
                    session.close()
                    session, renewed = service.session(), time.monotonic()
                try:
                    if not act(service, session, dice):
                        wrong.append(act.__name__)
                except (requests.RequestException, KeyError, ValueError) as error:
                    wrong.append((act.__name__, repr(error)[:200]))
                done[act] += 1
                time.sleep(pause if warm.is_set() else 0)
            session.close()

        threads = [threading.Thread(target=run, args=(act, pause, seed)) for seed, (act, pause) in enumerate(LOAD)]
        for thread in threads:
            thread.start()
        time.sleep(WARM)
        while done[writer] < FULL:
            time.sleep(1)
        warm.set()
        samples, end = [], time.monotonic() + SECONDS
        while time.monotonic() < end:
            samples.append((time.monotonic(), service.rss()[0]))
            time.sleep(1)
        over.set()
        for thread in threads:
            thread.join()
        time.sleep(2)
        after = descriptors(service)
        for row in wrong[:5]:
            print("WRONG", row)
        measurements = {"requests": sum(done.values()), "unexpected": len(wrong), "mib_an_hour": round(slope(samples), 2), "rss_mib": samples[-1][1] // MIB, "descriptors": f"{before}->{after}"}
        # A database connection pool opens connections on demand and keeps them.
        goal("R12", measurements, f"0,{SLOPE},+8", not wrong and slope(samples) <= SLOPE and after <= before + 8)
