"""Tests of the client with responses that the service never sends. All others are in test_service.py."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pidq


class ScriptedHandler(BaseHTTPRequestHandler):
    """A server other than the service, such as a proxy, that sends scripted responses."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        status, text = self.server.responses[min(self.server.request_count, len(self.server.responses) - 1)]
        self.server.request_count += 1
        self.server.bodies.append(body)
        self.send_response(status)
        if status == 307:
            self.send_header("Location", text.decode())
            text = b""
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_PUT = do_DELETE = do_POST

    def log_message(self, *_):
        pass


@contextmanager
def scripted_server(*responses, bodies=None):
    """Starts a server that sends the given responses in order and repeats the last one."""
    bodies = [] if bodies is None else bodies
    server = ThreadingHTTPServer(("127.0.0.1", 0), ScriptedHandler)
    server.responses, server.request_count, server.bodies = responses, 0, bodies
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def http_error(responses, **login):
    with scripted_server(*responses) as url, pidq.Client(url, **login) as client:
        try:
            client.query("job", "1")
        except pidq.HttpError as error:
            return error
    raise AssertionError("no HttpError was raised")


def test_error_responses_without_problem_details_are_errors():
    for text in (b"<h1>Bad Gateway</h1>", b"", b"[]", b"{}", b"null"):
        error = http_error([(502, text)], token="t")
        assert (error.status, error.code, error.pq_code, error.span) == (502, "http-502", None, None)
        assert str(error) == "502 http-502: status 502"


def test_a_token_without_expiry_and_refresh_token_works():
    login = {"client_id": "robot", "client_secret": "hush"}
    responses = [(200, b'{"access_token": "a", "token_type": "Bearer"}'), (418, b'{"title": "Teapot"}')]
    error = http_error(responses, **login)
    assert (error.status, str(error)) == (418, "418 http-418: Teapot")


def test_token_errors_may_be_minimal():
    login = {"client_id": "robot", "client_secret": "hush"}
    assert http_error([(400, b'{"error": "invalid_client"}')], **login).code == "invalid_client"
    assert http_error([(503, b"later")], **login).status == 503


#: All calls of a client, by name.
CALLS = {
    "query": lambda client: client.query("job", "1"),
    "graph": lambda client: client.graph("job"),
    "put": lambda client: client.put("job", {}),
    "export": lambda client: client.export("job", "csv"),
    "delete": lambda client: client.delete("job"),
    "jobs": lambda client: list(client.list_graphs()),
    "versions": lambda client: client.versions("job"),
    "query_all": lambda client: list(client.query_all("1")),
}


def code_of(call, url, **options):
    with pidq.Client(url, **options) as client:
        try:
            call(client)
        except pidq.HttpError as error:
            return error.code
    return None


def test_a_redirect_is_an_error():
    with scripted_server((307, b"https://elsewhere.example/graph")) as url:
        for name, call in CALLS.items():
            assert code_of(call, url, token="t") == "redirected", name


def test_responses_of_another_server_are_errors():
    for text in (b"<h1>Welcome</h1>", b"[1]", b"{}", b"null"):
        with scripted_server((200, text)) as url:
            for name in ("query", "jobs", "versions", "delete"):
                assert code_of(CALLS[name], url, token="t") == "unexpected-response", (name, text)
            login = {"client_id": "robot", "client_secret": "hush"}
            assert code_of(CALLS["query"], url, **login) == "unexpected-response"
    assert http_error([(400, b'{"code": 5, "span": "x", "detail": null}')], token="t").span is None


def test_secrets_do_not_follow_redirects():
    secrets = []
    with scripted_server((200, b"{}"), bodies=secrets) as elsewhere, scripted_server((307, elsewhere.encode())) as url:
        login = {"username": "ada", "password": "hush", "client_id": "robot", "client_secret": "hush"}
        assert code_of(CALLS["query"], url, follow_redirects=True, **login) == "redirected"
    assert secrets == []


def test_documents_are_stored_from_every_type():
    for document in ({"a": 1}, b'{"a": 1}', '{"a": 1}', pidq.Graph.from_json(b'{"a": 1}')):
        bodies = []
        with scripted_server((200, b"{}"), bodies=bodies) as url, pidq.Client(url, token="t") as client:
            client.put("job", document)
        assert bodies == [b'{"a": 1}']


def test_a_compiled_query_includes_its_parameters():
    bodies = []
    with scripted_server((200, b'{"result": [1]}'), bodies=bodies) as url, pidq.Client(url, token="t") as client:
        assert client.query("job", pidq.Query("filter(.a > $least)", least=2)) == [1]
        prepared = pidq.Query.prepare("filter(.a > $least)")
        assert client.query("job", prepared.bind(least=2)) == client.query("job", prepared, least=2) == [1]
        try:
            client.query(5, "1")
        except TypeError as error:
            assert "a graph id must be a str" in str(error)
    assert [json.loads(body) for body in bodies] == 3 * [{"query": "filter(.a > $least)", "params": {"least": 2}}]
