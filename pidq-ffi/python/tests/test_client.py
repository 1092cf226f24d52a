"""The client of the HTTP service, against a small stand-in that keeps to the contract."""

import asyncio
import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

import pidq

DOCUMENT = {"pid_graph": {"nodes": [{"id": "P-101"}, {"id": "V-7"}], "edges": [], "metadata": {"schema_version": "1"}}}
LOGIN = {"username": "ada@example.org", "password": "secret", "client_id": "notebook", "client_secret": "hush"}


class StandIn(BaseHTTPRequestHandler):
    """Answers as the contract says: tokens that rotate, queries, problems."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/o/token/":
            return self.token({name: values[0] for name, values in parse_qs(body.decode()).items()})
        if self.path != "/graph/job%201":
            return self.problem(404, {"code": "graph-not-found", "title": "Not Found", "detail": "no such graph"})
        if self.is_known():
            self.ask(json.loads(body))

    def do_GET(self):
        if self.is_known():
            self.reply(200, DOCUMENT)

    def do_PUT(self):
        if self.is_known():
            graph = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self.reply(201, {"job_id": "job 1", "change_version": "1", "nodes": len(graph["pid_graph"]["nodes"])})

    def ask(self, request):
        try:
            value = pidq.query(DOCUMENT, request["query"], **request.get("params", {}))
        except pidq.Error as error:
            return self.problem(
                400,
                {
                    "code": "query-syntax",
                    "detail": error.message,
                    "pq_code": error.code,
                    "span": error.details["span"],
                    "help": error.hint,
                },
            )
        kind = "array" if isinstance(value, list) else "value"
        body = {
            "query": request["query"],
            "schema_version": "1",
            "change_version": "7",
            "result": value if kind == "array" else [value],
        }
        self.reply(200, body, {"X-Result-Kind": kind})

    def token(self, form):
        server = self.server
        server.forms.append(form)
        right = form.get("refresh_token") == f"r{server.issued}" or form.get("password") == LOGIN["password"]
        if form["client_secret"] != LOGIN["client_secret"] or not right:
            return self.reply(400, {"error": "invalid_grant", "error_description": "Invalid credentials given."})
        server.issued += 1
        self.reply(
            200,
            {
                "access_token": f"a{server.issued}",
                "token_type": "Bearer",
                "expires_in": server.life,
                "refresh_token": f"r{server.issued}",
                "scope": "read write",
            },
        )

    def is_known(self):
        if self.headers["Authorization"] == f"Bearer a{self.server.issued}":
            return True
        self.problem(401, {"code": "unauthorized", "title": "Unauthorized"})
        return False

    def problem(self, status, problem):
        self.reply(
            status, {"type": "about:blank", "status": status, **problem}, {"Content-Type": "application/problem+json"}
        )

    def reply(self, status, body, headers=None):
        text = json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


@contextmanager
def service(life=3600):
    server = ThreadingHTTPServer(("127.0.0.1", 0), StandIn)
    server.forms, server.issued, server.life = [], 0, life
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server, f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def refused(work):
    try:
        work()
    except pidq.HttpError as error:
        return error
    raise AssertionError("it was not refused")


def test_a_client_logs_in_once_and_asks():
    with service() as (server, url), pidq.Client(url, **LOGIN) as client:
        assert client.query("job 1", ".pid_graph.nodes | map(.id)") == ["P-101", "V-7"]
        assert client.query("job 1", ".pid_graph.nodes | filter(.id == $id) | size()", id="V-7") == 1
        assert client.answer("job 1", "1")["change_version"] == "7"
        assert client.graph("job 1").query("nodes() | size()") == 2
        assert client.put("job 1", DOCUMENT)["nodes"] == 2
        assert [form["grant_type"] for form in server.forms] == ["password"]


def test_tokens_are_renewed_before_they_end_and_when_they_are_revoked():
    with service(life=1) as (server, url), pidq.Client(url, **LOGIN) as client:
        assert client.query("job 1", "1") == 1 and client.query("job 1", "2") == 2
        assert [form["grant_type"] for form in server.forms] == ["password", "refresh_token"]
        server.life, server.issued = 3600, 50
        assert client.query("job 1", "3") == 3
        assert server.forms[-1]["grant_type"] == "password"


def test_refusals_are_errors_with_all_that_is_known():
    with service() as (_, url), pidq.Client(url, **LOGIN) as client:
        error = refused(lambda: client.query("job 1", ".a | fliter(1)"))
        assert (error.status, error.code, error.pq_code, error.span) == (400, "query-syntax", "PQ1001", (5, 11))
        assert error.hint == "did you mean `filter`?"
        assert refused(lambda: client.query("other", "1")).code == "graph-not-found"
        wrong = pidq.Client(url, **{**LOGIN, "password": "guess"})
        assert refused(lambda: wrong.query("job 1", "1")).code == "invalid_grant"
        assert refused(lambda: pidq.Client(url, token="old").query("job 1", "1")).status == 401


def test_tasks_that_need_a_token_get_it_once():
    async def ask(url):
        async with pidq.AsyncClient(url, **LOGIN) as client:
            answers = await asyncio.gather(*(client.query("job 1", f"{n} + 1") for n in range(8)))
            graph = await client.graph("job 1")
            return answers, graph.query("nodes() | size()")

    with service() as (server, url):
        assert asyncio.run(ask(url)) == (list(range(1, 9)), 2)
        assert len(server.forms) == 1
