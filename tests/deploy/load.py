"""Clients of the services that work while replicas are replaced: each repeats one kind of request, and nothing that fails.

A client keeps its connection open, as programs do, and opens another only if the last response says so. Every response that is not
the expected one, and every broken connection, is a failure.
"""

import http.client
import json
import socket
import ssl
import threading
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Outcome:
    """Counts, slowest response and failures of a client."""

    name: str
    done: int = 0
    slowest: float = 0.0
    failures: list[str] = field(default_factory=list)


class Connection:
    """Connection to a host over TLS, or to an address without; opened again after a response that ends it."""

    def __init__(self, host: str, certificate: Path, token: str = "", address: str = ""):
        self.host, self.token, self.address = host, token, address
        self.tls = None if address else ssl.create_default_context(cafile=str(certificate))
        self.connection: http.client.HTTPConnection | None = None

    def open(self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None):
        """Sends a request and returns the response, of which only the head is read."""
        if self.connection is None:
            over_tls = {"timeout": 60, "context": self.tls}
            self.connection = (
                http.client.HTTPSConnection(self.host, **over_tls) if self.tls else http.client.HTTPConnection(self.address, timeout=60)
            )
        token = {"authorization": f"Bearer {self.token}"} if self.token else {}
        try:
            self.connection.request(method, path, body, token | (headers or {}))
            return self.connection.getresponse()
        except BaseException:
            self.close()
            raise

    def send(self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None) -> tuple[int, bytes]:
        response = self.open(method, path, body, headers)
        try:
            answer = response.read()
        except BaseException:
            self.close()
            raise
        if response.will_close:
            self.close()
        return response.status, answer

    def json(self, method: str, path: str, value: object = None, headers: dict[str, str] | None = None):
        """Returns the JSON of a successful response; any other is an error."""
        body = None if value is None else json.dumps(value).encode()
        status, answer = self.send(method, path, body, {"content-type": "application/json"} | (headers or {}))
        if not 200 <= status < 300:
            raise AssertionError(f"{method} {path}: {status} {answer[:300]!r}")
        return json.loads(answer) if answer else None

    def close(self) -> None:
        if self.connection:
            self.connection.close()
        self.connection = None


class Load:
    """Clients that run until `stop`."""

    def __init__(self):
        self.stopping = threading.Event()
        self.outcomes: list[Outcome] = []
        self.threads: list[threading.Thread] = []

    def add(self, name: str, step, pause: float) -> None:
        """Adds a client that calls `step`, again and again."""
        outcome = Outcome(name)
        self.outcomes.append(outcome)
        self.threads.append(threading.Thread(target=self.repeat, args=(outcome, step, pause), daemon=True))

    def repeat(self, outcome: Outcome, step, pause: float) -> None:
        while not self.stopping.is_set():
            start = time.monotonic()
            try:
                step()
                outcome.done += 1
            except (AssertionError, OSError, http.client.HTTPException, ValueError, KeyError) as error:
                outcome.failures.append(f"{time.strftime('%H:%M:%S')} {type(error).__name__}: {str(error)[:300]}")
            outcome.slowest = max(outcome.slowest, time.monotonic() - start)
            self.stopping.wait(pause)

    def start(self) -> None:
        for thread in self.threads:
            thread.start()

    def stop(self) -> list[Outcome]:
        self.stopping.set()
        for thread in self.threads:
            thread.join(90)
        return self.outcomes


def upload(connection: Connection, pipeline: str, name: str, text: str) -> str:
    """Uploads a text and returns the id of the document."""
    boundary = uuid.uuid4().hex
    parts = (
        f'--{boundary}\r\ncontent-disposition: form-data; name="classification"\r\n\r\nmanual\r\n'
        f'--{boundary}\r\ncontent-disposition: form-data; name="file"; filename="{name}"\r\n'
        f"content-type: text/plain\r\n\r\n{text}\r\n--{boundary}--\r\n"
    )
    headers = {"content-type": f"multipart/form-data; boundary={boundary}"}
    status, answer = connection.send("POST", f"/api/pipelines/{pipeline}/documents", parts.encode(), headers)
    assert status == 202 or status == 201, f"upload: {status} {answer[:300]!r}"
    return json.loads(answer)["id"]


def ask_streamed(connection: Connection, pipeline: str, question: str) -> dict:
    """Asks a question, reads the answer as a stream, and returns the object of its last event."""
    body = json.dumps({"query": question, "classification": "manual", "stream": True}).encode()
    headers = {"content-type": "application/json", "accept": "text/event-stream"}
    status, answer = connection.send("POST", f"/api/pipelines/{pipeline}/query", body, headers)
    assert status == 200, f"question: {status} {answer[:300]!r}"
    events = [event for event in answer.decode().split("\n\n") if event.startswith(("event:", "id:", "data:"))]
    kind, data = events[-1].split("\ndata: ", 1)
    assert kind.endswith("event: done"), f"the stream ended with {kind!r}"
    return json.loads(data)


class EventReader(threading.Thread):
    """Reader of the event stream, which resumes with `Last-Event-ID` whenever the stream ends, as browsers do."""

    def __init__(self, connection: Connection):
        super().__init__(daemon=True)
        self.connection = connection
        self.events: list[dict] = []
        self.streams = 0
        self.failures: list[str] = []
        self.stopping = False

    def run(self) -> None:
        last = ""
        while not self.stopping:
            try:
                response = self.connection.open("GET", "/api/events", None, {"last-event-id": last} if last else {})
                assert response.status == 200, f"{response.status} {response.read()[:300]!r}"
                self.streams += 1
                for line in response:
                    if line.startswith(b"id:"):
                        last = line[3:].strip().decode()
                    elif line.startswith(b"data:"):
                        self.events.append(json.loads(line[5:]))
            except (AssertionError, OSError, http.client.HTTPException) as error:
                if not self.stopping:
                    self.failures.append(f"{type(error).__name__}: {error}")
            self.connection.close()
            time.sleep(0.2)

    def stop(self) -> None:
        self.stopping = True
        if self.connection.connection and self.connection.connection.sock:
            self.connection.connection.sock.shutdown(socket.SHUT_RDWR)
