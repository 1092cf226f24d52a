"""A well-behaved client with a steady request rate, which measures its latency while others attack.

It is thin: what a client spends itself on a machine that is busy would count as waiting.
"""

import http.client
import json
import threading
import time

BODY = json.dumps({"query": ".pid_graph.nodes | size()"})


class Good:
    """Sends 50 requests a second and measures latency from the scheduled time (no coordinated omission)."""

    def __init__(self, service, rate=50):
        self.service, self.rate = service, rate
        self.token = service.token("reader")

    def phase(self, seconds):
        """Returns the 99th percentile of the latency in seconds and the number of failed requests."""
        waits, failures, lock = [], [], threading.Lock()
        begun, count = time.monotonic(), int(seconds * self.rate)
        turns = iter(range(count))
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}

        def work():
            connection = http.client.HTTPConnection("127.0.0.1", self.service.port, timeout=30)
            while True:
                with lock:
                    turn = next(turns, None)
                if turn is None:
                    return
                due = begun + turn / self.rate
                time.sleep(max(0, due - time.monotonic()))
                try:
                    connection.request("POST", "/graph/small", BODY, headers)
                    reply = connection.getresponse()
                    body = reply.read()
                    is_good = reply.status == 200 and json.loads(body)["result"] == [1000]
                except (OSError, http.client.HTTPException, ValueError):
                    is_good = False
                    connection.close()
                waits.append(time.monotonic() - due)
                if not is_good:
                    failures.append(turn)

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        waits.sort()
        return waits[int(len(waits) * 0.99)], len(failures)

    def ratio(self, attack, seconds):
        """Returns the ratio of the latency under attack to that at rest, and the failures. `attack` gets an event that ends it."""

        def once():
            quiet = [self.phase(seconds)]
            end = threading.Event()
            attacker = threading.Thread(target=attack, args=(end,))
            attacker.start()
            busy = self.phase(seconds)
            end.set()
            attacker.join()
            quiet.append(self.phase(seconds))
            worst = max(wait for wait, _ in quiet)
            return busy[0] / worst, busy[1] + sum(failed for _, failed in quiet)

        first = once()
        return first if first[0] <= 2 and not first[1] else min(first, once())
