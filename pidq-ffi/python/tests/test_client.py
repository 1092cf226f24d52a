"""What the client makes of answers that the service never gives. All else is asked of it: test_service.py."""

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pidq


class Stranger(BaseHTTPRequestHandler):
    """Something that stands where the service should be, such as a proxy."""

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        status, text = self.server.answers[min(self.server.asked, len(self.server.answers) - 1)]
        self.server.asked += 1
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


@contextmanager
def stranger(*answers):
    """Gives one answer after the other; the last one again and again."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Stranger)
    server.answers, server.asked = answers, 0
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def refused(answers, **login):
    with stranger(*answers) as url, pidq.Client(url, **login) as client:
        try:
            client.query("job", "1")
        except pidq.HttpError as error:
            return error
    raise AssertionError("it was not refused")


def test_refusals_that_are_no_problems_are_errors_too():
    for text in (b"<h1>Bad Gateway</h1>", b"", b"[]", b"{}", b"null"):
        error = refused([(502, text)], token="t")
        assert (error.status, error.code, error.pq_code, error.span) == (502, "http-502", None, None)
        assert str(error) == "502 http-502: status 502"


def test_a_token_without_an_end_and_without_refreshing_is_enough():
    login = {"client_id": "robot", "client_secret": "hush"}
    error = refused([(200, b'{"access_token": "a", "token_type": "Bearer"}'), (418, b'{"title": "Teapot"}')], **login)
    assert (error.status, str(error)) == (418, "418 http-418: Teapot")


def test_who_gives_tokens_may_say_little():
    login = {"client_id": "robot", "client_secret": "hush"}
    assert refused([(400, b'{"error": "invalid_client"}')], **login).code == "invalid_client"
    assert refused([(503, b"later")], **login).status == 503
