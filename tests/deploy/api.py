"""Client of the platform for the deployment tests."""

import json
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid


class Api:
    """Requests with the token of a client, repeated while a service restarts."""

    def __init__(self, base: str, client: str, secret: str, patience: float = 90):
        self.base, self.client, self.secret, self.patience = base, client, secret, patience
        self.token = ""

    def sign_in(self) -> None:
        form = {"grant_type": "client_credentials", "client_id": self.client, "client_secret": self.secret}
        body = urllib.parse.urlencode(form).encode()
        self.token = self.request("POST", "/o/token/", body, {"content-type": "application/x-www-form-urlencoded"})["access_token"]

    def request(self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None):
        """Returns the JSON of a successful response. Failures of the connection and 5xx are repeated, and so are requests
        of which an earlier attempt is still in progress."""
        deadline = time.monotonic() + self.patience
        while True:
            token = {"authorization": f"Bearer {self.token}"} if self.token else {}
            status, answer = send(method, self.base + path, body, token | (headers or {}))
            if 200 <= status < 300:
                return json.loads(answer) if answer else None
            is_final = 0 < status < 500 and b'"idempotency-conflict"' not in answer
            if is_final or time.monotonic() > deadline:
                raise AssertionError(f"{method} {path}: {status} {answer[:500]!r}")
            time.sleep(0.3)

    def post(self, path: str, value: object):
        # A repeated request has the same key, and so the effect of one.
        headers = {"content-type": "application/json", "idempotency-key": str(uuid.uuid4())}
        return self.request("POST", path, json.dumps(value).encode(), headers)

    def upload(self, pipeline: str, name: str, text: str) -> str:
        """Uploads a text and returns the id of the document."""
        boundary = uuid.uuid4().hex
        parts = (
            f'--{boundary}\r\ncontent-disposition: form-data; name="classification"\r\n\r\nmanual\r\n'
            f'--{boundary}\r\ncontent-disposition: form-data; name="file"; filename="{name}"\r\n'
            f"content-type: text/plain\r\n\r\n{text}\r\n--{boundary}--\r\n"
        )
        headers = {"content-type": f"multipart/form-data; boundary={boundary}", "idempotency-key": str(uuid.uuid4())}
        return self.request("POST", f"/api/pipelines/{pipeline}/documents", parts.encode(), headers)["id"]

    def wait_ready(self, pipeline: str, document: str) -> None:
        deadline = time.monotonic() + self.patience
        while (state := self.request("GET", f"/api/pipelines/{pipeline}/documents/{document}"))["status"] != "ready":
            assert time.monotonic() < deadline and state["status"] != "failed", state
            time.sleep(0.3)

    def ask(self, pipeline: str, question: str) -> dict:
        return self.post(f"/api/pipelines/{pipeline}/query", {"query": question, "classification": "manual"})


def send(method: str, url: str, body: bytes | None, headers: dict[str, str]) -> tuple[int, bytes]:
    """Returns status and body; the status is 0 if there is no response."""
    try:
        request = urllib.request.Request(url, body, headers, method=method)
        with urllib.request.urlopen(request, timeout=20) as response:
            return response.status, response.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()
    except OSError as error:
        return 0, str(error).encode()
