"""S9: secrets appear in no log, response, database or command line."""

import pathlib

import requests
from service import PASSWORD, SECRET, Service, drawing, goal


def test_canaries():
    with Service(PIDQ_LOG_LEVEL="trace") as service:
        responses = []
        post = lambda path, **form: responses.append(requests.post(service.url + path, data=form, timeout=60))  # noqa: E731
        client = {"client_id": "pidq", "client_secret": SECRET}
        login = {"grant_type": "password", "username": "ed", "password": PASSWORD, **client}
        tokens = requests.post(service.url + "/o/token/", data=login, timeout=60).json()
        next_tokens = requests.post(service.url + "/o/token/", data={"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"], **client}, timeout=60).json()
        canaries = {"password": PASSWORD, "secret": SECRET, "wrong": "canary-wrong-8642", "query": "canary-query-9753", "document": "canary-document-1864"}
        for number, pair in enumerate((tokens, next_tokens)):
            canaries |= {f"access {number}": pair["access_token"], f"refresh {number}": pair["refresh_token"]}
        post("/o/token/", **{**login, "password": canaries["wrong"]})
        post("/o/token/", **{**login, "client_secret": canaries["wrong"]})
        post(f"/o/token/?password={PASSWORD}&client_secret={SECRET}", **login)
        post("/o/introspect/", token=tokens["access_token"], **client)
        session = service.session(next_tokens["access_token"])
        assert service.put(session, "J-1", drawing(2, canaries["document"])).status_code == 201
        responses.append(service.put(session, "J-2", {"pid_graph": {"nodes": [canaries["document"]], "edges": []}}))
        service.run_query(session, "J-1", f'.pid_graph.nodes | filter(.id == "{canaries["query"]}")')
        responses.append(session.get(f"{service.url}/graph/x%20y?access_token={tokens['access_token']}", timeout=30))
        responses.append(requests.get(service.url + "/graph", headers={"Authorization": "Bearer " + canaries["wrong"]}, timeout=30))
        responses.append(requests.get(service.url + "/graph", headers={"Authorization": "Basic " + canaries["wrong"]}, timeout=30))
        post("/o/revoke_token/", token=tokens["access_token"], **client)
        arguments = pathlib.Path(f"/proc/{service.process.pid}/cmdline").read_bytes()
        service.terminate()
        outputs = {"log": service.log.read_bytes(), "arguments": arguments}
        outputs |= {path.name: path.read_bytes() for path in (service.folder / "data").glob("pidq.db*")}
        outputs |= {f"response {number}": response.content + str(response.headers).encode() for number, response in enumerate(responses)}
        hits = [(name, output) for name, text in canaries.items() for output, content in outputs.items() if text.encode() in content]
        for hit in hits:
            print("FOUND", hit)
        lines = outputs["log"].count(b"\n")
        goal("S9", {"canaries": len(canaries), "outputs": len(outputs), "log_lines": lines, "hits": len(hits)}, "0", not hits and lines > 10)
