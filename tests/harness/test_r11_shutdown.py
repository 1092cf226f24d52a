"""R11: SIGTERM under load: no response is truncated, and the process exits with code 0."""

import http.client
import json
import threading
import time

from service import LONG, Service, drawing, goal

RUNS = 200 if LONG else 5


def test_shutdowns():
    with Service() as service:
        service.put(service.session(), "small", drawing(2_000))
        token, truncated, codes, slowest, responses = service.token(), [], [], 0.0, 0
        for _ in range(RUNS):
            stop, counts = threading.Event(), []

            def send_queries():
                count = 0
                while not stop.is_set():
                    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=30)
                    try:
                        connection.connect()
                    except OSError:
                        break
                    try:
                        query = json.dumps({"query": ".pid_graph.nodes | map(.id)"})
                        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
                        connection.request("POST", "/graph/small", query, headers)
                        response = connection.getresponse()
                        body = response.read()
                        if response.status == 200 and len(json.loads(body)["result"]) != 2_000:
                            truncated.append("short")
                        count += 1
                    except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError):
                        # Accepted by the kernel but never by the server: no response.
                        pass
                    except (http.client.IncompleteRead, ValueError) as error:
                        truncated.append(repr(error))
                    finally:
                        connection.close()
                counts.append(count)

            threads = [threading.Thread(target=send_queries) for _ in range(6)]
            for thread in threads:
                thread.start()
            time.sleep(0.4)
            code, seconds = service.terminate()
            stop.set()
            for thread in threads:
                thread.join()
            responses += sum(counts)
            codes.append(code)
            slowest = max(slowest, seconds)
            service.start()
        passed = not truncated and set(codes) == {0} and slowest <= 10
        goal("R11", {"shutdowns": RUNS, "responses": responses, "truncated": len(truncated), "exit": sorted(set(codes)), "slowest_s": round(slowest, 2)}, "truncated:0,exit:0,10s", passed)
