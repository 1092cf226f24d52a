"""Test of an upgrade: replicas are replaced one at a time behind nginx while clients work, and no request fails."""

import json
import time
import uuid
from pathlib import Path

import pytest

from conftest import ROOT
from load import Connection, EventReader, Load, ask_streamed, upload
from replicas import API_HOST, DASHBOARD_HOST, DASHBOARD_PASSWORD, MASTER_KEY, MASTER_SECRET, Replicas, postgres_server

QUESTION = "What is PSV-2015A set at?"


@pytest.fixture(scope="module")
def replicas(namespace, pidq: Path, work: Path):
    """Two replicas of each service."""
    commands = ("nginx", "redis-server", "nats-server", "openssl")
    with postgres_server(work, "rolling", "127.0.0.5", *commands) as (directory, url):
        replicas = Replicas(pidq, directory, url, 2)
        try:
            replicas.up()
            yield replicas
        finally:
            replicas.down()


@pytest.fixture(scope="module")
def token(replicas: Replicas) -> str:
    form = f"grant_type=client_credentials&client_id={MASTER_KEY}&client_secret={MASTER_SECRET}"
    connection = Connection(API_HOST, replicas.certificate)
    headers = {"content-type": "application/x-www-form-urlencoded"}
    status, answer = connection.send("POST", "/o/token/", form.encode(), headers)
    assert status == 200, answer
    return json.loads(answer)["access_token"]


def test_replacing_every_replica_fails_no_request_and_loses_nothing(replicas: Replicas, token: str):
    def connect(host: str = API_HOST, token: str = token) -> Connection:
        return Connection(host, replicas.certificate, token)

    setup = connect()
    fields = {"name": "Unit 20", "embedding_model": "hash-512", "text_splitter": "recursive_character", "classifications": ["manual"]}
    pipeline = setup.json("POST", "/api/pipelines", fields)["id"]
    first = upload(setup, pipeline, "V-201.txt", "The relief valve PSV-2015A is set at 38.5 barg.")
    graphs = [f"plant-{n}" for n in range(6)]
    for graph in graphs:
        setup.json("PUT", f"/graph/{graph}", drawing(graph))
    wait_ready(setup, pipeline, [first])
    session = sign_in(connect(DASHBOARD_HOST, ""))

    load, uploaded, versions = Load(), [], []

    def read(connection: Connection, number: list[int]):
        number[0] += 1
        graph = graphs[number[0] % len(graphs)]
        assert connection.json("GET", f"/graph/{graph}")["pid_graph"]["nodes"]

    def query(connection: Connection):
        # A POST is not idempotent for nginx: it is never sent twice.
        answer = connection.json("POST", "/graph/plant-0", {"query": '.pid_graph.nodes | filter(.tag == "P-101A") | size()'})
        assert answer["result"] in (1, [1]), answer

    def write(connection: Connection):
        note = uuid.uuid4().hex
        connection.json("PUT", "/graph/written", drawing("written", note))
        versions.append(note)

    def store_document(connection: Connection):
        number = len(uploaded)
        name = f"P-{number}.txt"
        uploaded.append(None)
        uploaded[number] = upload(connection, pipeline, name, f"The pump P-{number} delivers {number} m3/h.")

    def slow_upload(connection: Connection):
        """Sends a body in pieces, over as many seconds as a replica takes to end."""

        def pieces():
            yield b'{"pid_graph":{"nodes":[],"edges":[]},"note":"'
            for _ in range(30):
                time.sleep(0.2)
                yield b"x" * 1000
            yield b'"}'

        response = connection.open("PUT", "/graph/slow", pieces(), {"content-type": "application/json"})
        assert response.status in (200, 201), f"slow upload: {response.status} {response.read()[:300]!r}"
        response.read()
        connection.close() if response.will_close else None

    def ask(connection: Connection):
        answer = connection.json("POST", f"/api/pipelines/{pipeline}/query", {"query": QUESTION, "classification": "manual"})
        assert "38.5 barg" in answer["answer"], answer

    def ask_stream(connection: Connection):
        answer = ask_streamed(connection, pipeline, QUESTION)
        assert "38.5 barg" in answer["answer"], answer

    def browse(connection: Connection):
        status, page = connection.send("GET", "/", None, {"accept": "text/html"})
        assert status == 200 and b"<title>" in page, status
        status, answer = connection.send("GET", "/api/pipelines", None, {"cookie": session})
        assert status == 200 and pipeline in answer.decode(), f"{status} {answer[:300]!r}"

    for name, step, pause in [
        ("graphs read", lambda connection, number=[0]: read(connection, number), 0.02),
        ("graphs queried", query, 0.02),
        ("graphs written", write, 0.05),
        ("documents uploaded", store_document, 0.3),
        ("slow uploads", slow_upload, 0.1),
        ("questions", ask, 0.1),
        ("streamed questions", ask_stream, 0.1),
        # Pauses near the time after which connections are closed: these meet connections that are about to be closed.
        ("rare queries", query, 3.9),
        ("dashboard", browse, 0.2),
    ]:
        load.add(name, lambda connection=connect(DASHBOARD_HOST if name == "dashboard" else API_HOST), step=step: step(connection), pause)
    events = EventReader(connect())
    events.start()
    load.start()
    time.sleep(2)
    seconds = {name: replicas.replace(name) for kind in ("api", "worker", "dashboard") for name in replicas.names(kind)}
    time.sleep(2)
    outcomes = load.stop()
    wait_ready(setup, pipeline, uploaded)
    wait_for_events(events, uploaded)
    events.stop()

    report = "\n".join(f"{o.name}: {o.done} done, slowest {o.slowest:.1f} s, failures {o.failures}" for o in outcomes)
    print(f"{report}\nevent streams: {events.streams}, failures {events.failures}\nreplaced in seconds: {seconds}")
    assert not any(outcome.failures for outcome in outcomes) and not events.failures, report
    assert all(outcome.done for outcome in outcomes), report
    documents = list_documents(setup, pipeline)
    assert sorted(documents) == sorted([first, *uploaded]), "each document is stored once"
    assert setup.json("GET", "/graph/written")["note"] == versions[-1]
    newest = setup.json("GET", "/graph/written/versions")
    assert newest["latest_version"] == str(len(versions)), f"{len(versions)} writes: {newest}"
    ready = [event for event in events.events if event["type"].endswith("document.ready")]
    subjects = [json.dumps(event) for event in ready]
    for document in uploaded:
        assert sum(document in text for text in subjects) == 1, f"one event of {document}"


def drawing(graph: str, note: str = "") -> dict:
    """Returns the example drawing as the content of a graph."""
    content = json.loads((ROOT / "examples/data/plant.json").read_text())
    content["pid_graph"]["metadata"]["job_id"] = graph
    return content | {"note": note}


def wait_ready(connection: Connection, pipeline: str, documents: list[str]) -> None:
    deadline = time.monotonic() + 90
    for document in documents:
        while (state := connection.json("GET", f"/api/pipelines/{pipeline}/documents/{document}"))["status"] != "ready":
            assert time.monotonic() < deadline and state["status"] != "failed", state
            time.sleep(0.2)


def wait_for_events(events: EventReader, documents: list[str]) -> None:
    """Waits until the reader has the last event of every document."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        ready = " ".join(json.dumps(event) for event in list(events.events) if event["type"].endswith("document.ready"))
        if all(document in ready for document in documents):
            return
        time.sleep(0.2)


def list_documents(connection: Connection, pipeline: str) -> list[str]:
    ids, cursor = [], ""
    while cursor is not None:
        page = connection.json("GET", f"/api/pipelines/{pipeline}/documents?limit=200{cursor}")
        ids += [document["id"] for document in page["data"]]
        cursor = f"&cursor={page['next_cursor']}" if page.get("next_cursor") else None
    return ids


def sign_in(connection: Connection) -> str:
    """Signs in to the dashboard; returns the cookie of the session."""
    body = json.dumps({"login": "admin", "password": DASHBOARD_PASSWORD}).encode()
    headers = {"content-type": "application/json", "sec-fetch-site": "same-origin"}
    response = connection.open("POST", "/session", body, headers)
    answer = response.read()
    assert response.status == 200, answer
    cookies = response.headers.get_all("set-cookie")
    return "; ".join(cookie.split(";")[0] for cookie in cookies)
