"""R12: an hour and a half of everything at once: memory does not grow, descriptors go back, no status is a surprise."""

import os
import random
import threading
import time

import requests
from service import LONG, PASSWORD, Service, drawing, goal

# What is in use stays within half a MiB; what the allocator holds beside it goes up and down by two of a hundred. In half an
# hour that is a slope of several MiB an hour in either direction.
SECONDS = 5_400 if LONG else 40
# Before the counting everybody goes on without a pause, so that all that is kept is full: at least for so many seconds, and
# until so many graphs were written.
WARM = 300 if LONG else 20
FULL = 20_000 if LONG else 0
# A short run sees the caches fill, and cannot tell.
SLOPE = 1 if LONG else float("inf")
# Seconds after which a client gets another token: they are good for an hour.
RENEW = 1_200
# Small, so that they are full when the counting begins.
CACHES = {"PIDQ_GRAPH_CACHE": "16MiB", "PIDQ_RESULT_CACHE": "4MiB"}
MIB = 1 << 20


def writer(service, session, dice):
    job = f"job-{dice.randrange(20)}"
    reply = service.put(session, job, drawing(dice.randrange(1, 400), f"n{dice.randrange(1_000)}"))
    return reply.status_code in (200, 201)


def reader(service, session, dice):
    headers = {"Accept-Encoding": dice.choice(["gzip", "zstd", "identity"]), "If-None-Match": dice.choice(['"x"', "*"])}
    reply = session.get(f"{service.url}/graph/job-{dice.randrange(20)}", headers=headers, timeout=60)
    return reply.status_code in (200, 304)


def asker(service, session, dice):
    # Few texts come again, so that the compiled ones are thrown away all the time.
    query = f".pid_graph.nodes | filter(.id != \"{dice.randrange(100_000)}\") | map(.id) | limit({dice.randrange(1, 50)})"
    return service.ask(session, f"job-{dice.randrange(20)}", query).status_code == 200


def mistaken(service, session, dice):
    query = dice.choice(["filter(", "nothing()", ".a | map(", "range(0, 1000000000)"])
    return service.ask(session, f"job-{dice.randrange(20)}", query).status_code in (400, 422)


def stranger(service, _session, dice):
    reply = requests.get(service.url + dice.choice(["/graph", "/graph/job-1", "/nowhere", "/livez"]), timeout=60)
    return reply.status_code in (200, 401, 404)


def newcomer(service, _session, dice):
    login = {"grant_type": "password", "username": f"lib{dice.randrange(8)}", "password": PASSWORD, **service.credentials("pidq")}
    made = requests.post(service.url + "/o/token/", data=login, timeout=60)
    if made.status_code in (429, 503):
        return True
    form = {"grant_type": "refresh_token", "refresh_token": made.json()["refresh_token"], **service.credentials("pidq")}
    again = requests.post(service.url + "/o/token/", data=form, timeout=60)
    return again.status_code == 200 and service.session(again.json()["access_token"]).get(service.url + "/graph", timeout=60).status_code == 200


# Who comes, and the seconds between two of them.
LOAD = [(writer, 0.1), (reader, 0.02), (reader, 0.02), (asker, 0.02), (asker, 0.02), (mistaken, 0.1), (stranger, 0.1), (newcomer, 2)]


def descriptors(service):
    return len(os.listdir(f"/proc/{service.process.pid}/fd"))


def slope(samples):
    """MiB an hour, by least squares."""
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

        def go_on(act, pause, seed):
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

        threads = [threading.Thread(target=go_on, args=(act, pause, seed)) for seed, (act, pause) in enumerate(LOAD)]
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
        figures = {"requests": sum(done.values()), "unexpected": len(wrong), "mib_an_hour": round(slope(samples), 2), "rss_mib": samples[-1][1] // MIB, "descriptors": f"{before}->{after}"}
        # A pool of databases opens what it needs and keeps it.
        goal("R12", figures, f"0,{SLOPE},+8", not wrong and slope(samples) <= SLOPE and after <= before + 8)
