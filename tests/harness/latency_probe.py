"""Well-behaved client with a steady request rate, which measures its latency while other clients attack.

It is thin: on a busy machine, CPU time spent in the client would be measured as latency.
"""

import http.client
import json
import threading
import time

BODY = json.dumps({"query": ".pid_graph.nodes | size()"})


class LatencyProbe:
    """Sends 50 requests a second and measures latency from the scheduled time (no coordinated omission)."""

    def __init__(self, service, rate=50):
        self.service, self.rate = service, rate
        self.token = service.token("reader")

    def measure(self, seconds):
        """Returns the 99th percentile of the latency in seconds and the number of failed requests."""
        latencies, failures, lock = [], [], threading.Lock()
        start, count = time.monotonic(), int(seconds * self.rate)
        numbers = iter(range(count))
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}

        def send_requests():
            connection = http.client.HTTPConnection("127.0.0.1", self.service.port, timeout=30)
            while True:
                with lock:
                    number = next(numbers, None)
                if number is None:
                    return
                scheduled = start + number / self.rate
                time.sleep(max(0, scheduled - time.monotonic()))
                try:
                    connection.request("POST", "/graph/small", BODY, headers)
                    response = connection.getresponse()
                    body = response.read()
                    is_ok = response.status == 200 and json.loads(body)["result"] == [1000]
                except (OSError, http.client.HTTPException, ValueError):
                    is_ok = False
                    connection.close()
                latencies.append(time.monotonic() - scheduled)
                if not is_ok:
                    failures.append(number)

        threads = [threading.Thread(target=send_requests) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        latencies.sort()
        return latencies[int(len(latencies) * 0.99)], len(failures)

    def slowdown(self, attack, seconds):
        """Returns the ratio of the latency under attack to that at rest, and the failures. `attack` gets an event that stops it."""

        def measure_once():
            at_rest = [self.measure(seconds)]
            stop = threading.Event()
            attacker = threading.Thread(target=attack, args=(stop,))
            attacker.start()
            under_attack = self.measure(seconds)
            stop.set()
            attacker.join()
            at_rest.append(self.measure(seconds))
            baseline = max(latency for latency, _ in at_rest)
            return under_attack[0] / baseline, under_attack[1] + sum(failed for _, failed in at_rest)

        first = measure_once()
        return first if first[0] <= 2 and not first[1] else min(first, measure_once())
