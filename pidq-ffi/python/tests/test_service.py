"""Tests of the client against a running service with its own users and clients.

``PIDQ_COMMAND`` is the command ``pidq``; without it there is nothing to start, and the tests say so.
"""

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import time
from pathlib import Path

import httpx
import pytest

import pidq

COMMAND = os.environ.get("PIDQ_COMMAND")
pytestmark = pytest.mark.skipif(COMMAND is None, reason="PIDQ_COMMAND is not the command pidq")

PASSWORD = "correct-horse-battery-7531"
DOCUMENT = {"pid_graph": {"nodes": [{"id": "P-101", "kw": 15}, {"id": "V-7"}], "edges": []}}
NODES = ".pid_graph.nodes"


class Service:
    """A service on this machine, with an editor ``ada`` and a client ``notebook``."""

    def __init__(self, folder, **settings):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PIDQ_")}
        self.environment = {
            **kept,
            "PIDQ_LISTEN": f"127.0.0.1:{port}",
            "PIDQ_ADMIN_LISTEN": "",
            "PIDQ_DATA_DIR": str(folder / "data"),
            "PIDQ_ADMIN_PASSWORD": PASSWORD,
            "PIDQ_CLIENT_SECRET": "pidq_cs_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG",
            "PIDQ_RATE_LIMIT": "0",
            "PIDQ_SHUTDOWN_DELAY": "0s",
            **settings,
        }
        self.log = open(folder / "log", "ab")
        self.process = None

    def start(self):
        self.process = subprocess.Popen(
            [COMMAND, "serve"], env=self.environment, stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL
        )
        for _ in range(600):
            assert self.process.poll() is None, open(self.log.name).read()
            with contextlib.suppress(httpx.HTTPError):
                if httpx.get(self.url + "/readyz").status_code == 200:
                    return
            time.sleep(0.05)
        raise AssertionError("the service does not get ready")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)

    def run(self, *arguments, stdin=""):
        """Runs ``pidq`` on the data of the service, as an administrator does."""
        done = subprocess.run(
            [COMMAND, *arguments], env=self.environment, input=stdin, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, (arguments, done.stdout, done.stderr)
        return done.stdout

    def add_client(self, name, *options):
        lines = self.run("clients", "add", name, *options).splitlines()
        return {line.split(":")[0]: line.split(":")[1].strip() for line in lines}

    def login(self):
        return {"username": "ada@plant.example", "password": PASSWORD, **self.notebook}


@contextlib.contextmanager
def started(folder, **settings):
    service = Service(folder, **settings)
    service.start()
    try:
        service.run("users", "add", "ada@plant.example", "--role", "editor", stdin=PASSWORD + "\n")
        service.notebook = service.add_client("notebook")
        service.robot = service.add_client("robot", "--grant", "client_credentials", "--scope", "read")
        yield service
    finally:
        service.stop()
        service.log.close()


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with started(tmp_path_factory.mktemp("service")) as service:
        yield service


@pytest.fixture
def client(service):
    with pidq.Client(service.url, **service.login()) as client:
        client.put("job-1", DOCUMENT)
        yield client


def http_error(work):
    with pytest.raises(pidq.HttpError) as caught:
        work()
    return caught.value


def counted(client):
    """Records the request paths of a client."""
    paths = []
    client._http.event_hooks = {"request": [lambda request: paths.append(request.url.path)]}
    return paths


def test_graphs_are_stored_queried_and_downloaded(client):
    assert client.query("job-1", f"{NODES} | map(.id)") == ["P-101", "V-7"]
    assert client.query("job-1", f"{NODES} | filter(.id == $id) | size()", id="V-7") == 1
    answer = client.query_raw("job-1", ".nothing")
    assert answer.value is None and answer.kind in ("none", "value") and int(answer["change_version"]) >= 1
    assert client.query("job-1", "[]") == [] and client.query("job-1", "[[1]]") == [[1]]
    assert client.graph("job-1").query("nodes() | size()") == 2


def test_a_token_is_requested_once(service):
    with pidq.Client(service.url, **service.login()) as client:
        paths = counted(client)
        client.put("once", DOCUMENT)
        client.query("once", "1")
        client.query("once", "2")
        assert paths == ["/o/token/", "/graph/once", "/graph/once", "/graph/once"]


def test_client_credentials_grant_their_scope(service, client):
    with pidq.Client(service.url, **service.robot) as robot:
        assert robot.query("job-1", f"{NODES} | size()") == 2
        error = http_error(lambda: robot.put("job-1", DOCUMENT))
        assert (error.status, error.code) == (403, "insufficient-scope")


def test_a_token_is_refreshed_before_it_expires(service, client):
    paths = counted(client)
    client.query("job-1", "1")
    first, refresh = client._access, client._refresh
    client._expires_at = time.monotonic() + 5
    assert client.query("job-1", "2") == 2
    assert client._access != first and client._refresh != refresh
    assert paths.count("/o/token/") == 1


def test_a_revoked_token_is_replaced(service, client):
    client.query("job-1", "1")
    for taken in ("_access", "_refresh"):
        before = client._access
        form = {"token": getattr(client, taken), **service.notebook}
        assert httpx.post(service.url + "/o/revoke_token/", data=form).status_code == 200
        assert client.query("job-1", "3") == 3
        assert client._access != before
    # The same for a stream that starts with an error.
    httpx.post(service.url + "/o/revoke_token/", data={"token": client._access, **service.notebook})
    assert [row["result"] for row in client.query_all("1", ids=["job-1"])] == [[1]]
    # A client with only a token cannot get another one.
    assert http_error(lambda: pidq.Client(service.url, token="pidq_at_old").query("job-1", "1")).status == 401


def test_wrong_credentials_are_errors(service):
    for wrong in ({"password": "guess-guess-guess"}, {"client_secret": "guess"}):
        error = http_error(
            lambda wrong=wrong: pidq.Client(service.url, **{**service.login(), **wrong}).query("job-1", "1")
        )
        assert error.code in ("invalid_grant", "invalid_client") and error.status in (400, 401)


def test_concurrent_changes_are_not_lost(client):
    first = client.put("shared", DOCUMENT)
    assert first["nodes"] == 2 and first.etag
    more = {"pid_graph": {"nodes": [{"id": "T-1"}], "edges": []}}
    second = client.put("shared", json.dumps(more).encode(), if_match=first.etag)
    assert second["change_version"] == "2" and second.etag != first.etag
    error = http_error(lambda: client.put("shared", DOCUMENT, if_match=first.etag))
    assert (error.status, error.code) == (412, "precondition-failed")
    assert [version["change_version"] for version in client.versions("shared")] == ["2", "1"]
    assert client.graph("shared").query("nodes() | map(.id)") == ["T-1"]
    assert {entry["job_id"]: entry["etag"] for entry in client.list_graphs("shared")} == {"shared": second.etag}
    client.delete("shared")
    assert http_error(lambda: client.graph("shared")).code == "graph-not-found"


def test_problems_are_exceptions_with_all_details(client):
    error = http_error(lambda: client.query("job-1", f"{NODES} | fliter(.a)"))
    assert (error.status, error.pq_code, error.span) == (422, "PQ1001", (19, 25))
    assert error.code == "unknown-function" and error.hint == "did you mean `filter`?" and "fliter" in str(error)
    error = http_error(lambda: client.query("job-1", f"{NODES} | filter("))
    assert (error.status, error.code, error.stage) == (400, "query-syntax", "http")
    assert http_error(lambda: client.query("job-1", "$missing")).status in (400, 422)
    assert http_error(lambda: client.query("nobody-has-it", "1")).code == "graph-not-found"
    assert http_error(lambda: client.put("a job", DOCUMENT)).code == "invalid-job-id"
    assert http_error(lambda: client.put("job-1", b"{")).code == "malformed-json"
    assert isinstance(error, pidq.Error) and error.details["request_id"]


def test_results_are_exported_in_other_formats(client):
    assert client.export("job-1", "csv", f"{NODES} | pick(.id, .kw)").decode().split() == ["id,kw", "P-101,15", "V-7,"]
    assert client.export("job-1", "csv", f"{NODES} | filter(.id == $id) | pick(.id)", id="V-7").split() == [
        b"id",
        b"V-7",
    ]
    assert b"<graphml" in client.export("job-1", "graphml") and b"<svg" in client.export("job-1", "svg")
    assert client.export("job-1", "xlsx", NODES)[:2] == b"PK"
    assert http_error(lambda: client.export("job-1", "picture")).status in (400, 406)


def test_queries_read_other_versions_and_other_graphs(client):
    first = client.put("revised", DOCUMENT)["change_version"]
    client.put("revised", {"pid_graph": {"nodes": [], "edges": []}})
    old = pidq.StoredGraph(version=first)
    size = "$old.pid_graph.nodes | size()"
    assert client.query("revised", size, old=old) == 2
    assert client.query("revised", size, old=pidq.StoredGraph()) == 0
    response = client.query_raw("job-1", f"[({size}), $least]", old=pidq.StoredGraph("revised", first), least=3)
    assert response.value == [2, 3]
    assert response["graph_params"]["old"] == {"job_id": "revised", "change_version": first}
    assert b"2" in client.export("revised", "ndjson", size, old=old)
    missing = http_error(lambda: client.query("job-1", size, old=pidq.StoredGraph("gone")))
    assert (missing.status, missing.details["graph_param"]) == (404, "old")
    assert http_error(lambda: list(client.query_all(size, ids=["job-1"], old=old))).status == 422


def test_drawings_in_other_formats_are_stored(client):
    skid = (Path(__file__).parents[3] / "examples" / "data" / "skid.xml").read_bytes()
    stored = client.put("skid", skid, content_type="application/xml")
    assert stored["format"] == "proteus" and stored["nodes"] == client.query("skid", f"{NODES} | size()") > 0
    assert http_error(lambda: client.put("skid", b"<PlantModel", content_type="application/xml")).code == (
        "unreadable-drawing"
    )


def test_many_graphs_are_queried_at_once(client):
    for number in range(5):
        client.put(f"fleet-{number}", {"pid_graph": {"nodes": [{"id": f"N{at}"} for at in range(number)], "edges": []}})
    rows = list(client.query_all(f"{NODES} | size()", prefix="fleet-"))
    assert [(row["job_id"], row["result"]) for row in rows] == [(f"fleet-{n}", [n]) for n in range(5)]
    rows = list(client.query_all(f"{NODES} | filter(.id == $id)", ids=["fleet-3", "gone"], id="N2"))
    assert rows[0]["result"] == [{"id": "N2"}] and "result" not in rows[1] and rows[1]["error"]
    error = http_error(lambda: list(client.query_all("fliter(1)", prefix="fleet-")))
    assert (error.status, error.hint) == (422, "did you mean `filter`?")
    assert len(list(client.list_graphs("fleet-"))) == 5
    # Stopping early closes the connection.
    assert next(iter(client.query_all("1", prefix="fleet-")))["job_id"] == "fleet-0"
    assert client.query("fleet-1", "1") == 1


def test_a_client_survives_a_restart_of_the_service(tmp_path):
    with started(tmp_path) as service, pidq.Client(service.url, **service.login()) as client:
        client.put("job-1", DOCUMENT)
        service.stop()
        service.start()
        assert client.query("job-1", f"{NODES} | size()") == 2
        service.run("users", "disable", "ada@plant.example")
        # Another process revoked the token: the service caches tokens for at most a second.
        until = time.monotonic() + 10
        with pytest.raises(pidq.HttpError) as caught:
            while time.monotonic() < until:
                client.query("job-1", "1")
        assert caught.value.status in (400, 401)


def test_the_async_client_matches_the_sync_client(service, client):
    paths = []

    async def noted(request):
        paths.append(request.url.path)

    async def ask():
        async with pidq.AsyncClient(service.url, **service.login()) as there:
            stored = await there.put("async-1", DOCUMENT)
            with pytest.raises(pidq.HttpError) as caught:
                await there.put("async-1", {"pid_graph": {"nodes": [], "edges": []}}, if_match='"1-0000"')
            assert caught.value.status == 412 and stored.etag
            answers = await asyncio.gather(*(there.query("async-1", f"{n} + 1") for n in range(8)))
            assert answers == list(range(1, 9))
            assert (await there.graph("async-1")).query("nodes() | size()") == 2
            assert b"<graphml" in await there.export("async-1", "graphml")
            rows = [row async for row in there.query_all(f"{NODES} | size()", prefix="async-")]
            assert [row["result"] for row in rows] == [[2]]
            assert [entry["job_id"] async for entry in there.list_graphs("async-")] == ["async-1"]
            assert len(await there.versions("async-1")) == 1
            assert await there.query("job-1", "$it.pid_graph.nodes | size()", it=pidq.StoredGraph("async-1")) == 2
            httpx.post(service.url + "/o/revoke_token/", data={"token": there._access, **service.notebook})
            there._http.event_hooks = {"request": [noted]}
            again = await asyncio.gather(*(there.query("async-1", str(n)) for n in range(8)))
            # One task for all: the refresh token was revoked together with the token, so it logs in again.
            assert again == list(range(8)) and paths.count("/o/token/") == 2
            await there.delete("async-1")
            with pytest.raises(pidq.HttpError) as caught:
                await there.query("async-1", "1")
            assert caught.value.code == "graph-not-found"

    asyncio.run(ask())
