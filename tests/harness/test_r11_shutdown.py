"""R11: SIGTERM under load: no response is truncated, and the process exits with code 0."""

import http.client
import json
import threading
import time

from service import LONG, Service, drawing, goal

TIMES = 200 if LONG else 5


def test_shutdowns():
    with Service() as service:
        service.put(service.session(), "small", drawing(2_000))
        token, cut, codes, slowest, answers = service.token(), [], [], 0.0, 0
        for _ in range(TIMES):
            end, counts = threading.Event(), []

            def ask():
                count = 0
                while not end.is_set():
                    line = http.client.HTTPConnection("127.0.0.1", service.port, timeout=30)
                    try:
                        line.connect()
                    except OSError:
                        break
                    try:
                        body = json.dumps({"query": ".pid_graph.nodes | map(.id)"})
                        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
                        line.request("POST", "/graph/small", body, headers)
                        reply = line.getresponse()
                        text = reply.read()
                        if reply.status == 200 and len(json.loads(text)["result"]) != 2_000:
                            cut.append("short")
                        count += 1
                    except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError):
                        # Accepted by the kernel but never by the server: no response.
                        pass
                    except (http.client.IncompleteRead, ValueError) as error:
                        cut.append(repr(error))
                    finally:
                        line.close()
                counts.append(count)

            threads = [threading.Thread(target=ask) for _ in range(6)]
            for thread in threads:
                thread.start()
            time.sleep(0.4)
            code, took = service.terminate()
            end.set()
            for thread in threads:
                thread.join()
            answers += sum(counts)
            codes.append(code)
            slowest = max(slowest, took)
            service.start()
        passed = not cut and set(codes) == {0} and slowest <= 10
        goal("R11", {"terms": TIMES, "answers": answers, "cut": len(cut), "exit": sorted(set(codes)), "slowest_s": round(slowest, 2)}, "cut:0,exit:0,10s", passed)
