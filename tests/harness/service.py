"""The server as a process of its own, with two tenants and somebody of every kind."""

import base64
import contextlib
import hashlib
import json
import os
import pathlib
import shutil
import signal
import socket
import sqlite3
import subprocess
import tempfile
import time

import requests

SERVER = os.environ.get("PIDQ_SERVER", "target/debug/pidq-server")
WORK = pathlib.Path(os.environ.get("PIDQ_HARNESS", "target/harness"))
LONG = bool(os.environ.get("LONG"))

PASSWORD = "canary-password-7531"
SECRET = "pidq_cs_canary0123456789abcdefghijklmnopqrstuvwxyz"

# login: tenant, role
USERS = {
    "ann": ("main", "admin"),
    "ed": ("main", "editor"),
    "vic": ("main", "viewer"),
    "eve": ("other", "editor"),
    "adam": ("other", "admin"),
} | {f"lib{n}": ("main", "editor") for n in range(8)}

# client: tenant, scopes
CLIENTS = {
    "reader": ("main", "read"),
    "writer": ("main", "write"),
    "robot": ("main", "read write"),
    "rival": ("other", "read write"),
}


def goal(name, value, limit, passed, **more):
    """Tells a figure, and fails where it is beyond its limit."""
    figures = " ".join(f"{key}={figure}" for key, figure in {**value, **more}.items())
    line = f"GOAL {name} {figures} limit={limit} {'ok' if passed else 'FAILED'}"
    print(f"\n{line}", flush=True)
    with open(WORK / "goals.txt", "a", encoding="utf-8") as goals:
        goals.write(line + "\n")
    assert passed, line


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def drawing(nodes=3, name="N"):
    """A chain of so many nodes."""
    items = [{"id": f"{name}-{n}", "node_type": "pid_component", "class": "valve" if n % 2 else "pump"} for n in range(nodes)]
    edges = [{"id": f"e{n}", "source": f"{name}-{n}", "target": f"{name}-{n + 1}", "edge_type": "piping"} for n in range(nodes - 1)]
    return {"pid_graph": {"nodes": items, "edges": edges, "metadata": {"drawing_name": f"Unit {name}"}}}


class Service:
    """A server process and its folder."""

    def __init__(self, **settings):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="pidq-harness-"))
        self.log = self.folder / "log"
        self.settings = {
            "PIDQ_LISTEN": f"127.0.0.1:{self.port}",
            "PIDQ_ADMIN_LISTEN": "",
            "PIDQ_DATA_DIR": str(self.folder / "data"),
            "PIDQ_ADMIN_LOGIN": "admin",
            "PIDQ_ADMIN_PASSWORD": PASSWORD,
            "PIDQ_CLIENT_SECRET": SECRET,
            "PIDQ_RATE": "0",
            "PIDQ_DRAIN_WAIT": "0s",
            **settings,
        }
        self.process = None

    def __enter__(self):
        self.start()
        self.populate()
        return self

    def __exit__(self, *_):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self):
        """Starts it and tells how many seconds it took until it was ready."""
        begun = time.monotonic()
        environment = {key: value for key, value in os.environ.items() if not key.startswith("PIDQ_")} | self.settings
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([SERVER], env=environment, stdout=log, stderr=log)
        while time.monotonic() - begun < 60:
            if self.process.poll() is not None:
                raise RuntimeError(self.log.read_text())
            with contextlib.suppress(requests.RequestException):
                if requests.get(self.url + "/readyz", timeout=5).status_code == 200:
                    return time.monotonic() - begun
            time.sleep(0.01)
        raise RuntimeError("the server does not get ready")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def terminate(self):
        """Asks it to end, and tells its exit code and the seconds that it took."""
        begun = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=60), time.monotonic() - begun

    def populate(self):
        """Makes users with the password of the first one, and clients with its secret."""
        now = int(time.time() * 1000)
        fingerprint = base64.urlsafe_b64encode(hashlib.sha256(SECRET.encode()).digest()).rstrip(b"=").decode()
        with contextlib.closing(sqlite3.connect(self.folder / "data" / "pidq.db", timeout=20)) as database, database:
            (hashed,) = database.execute("select password from users where login = 'admin'").fetchone()
            for login, (tenant, role) in USERS.items():
                row = (f"u-{login}", login, tenant, role, "", hashed, 0, now)
                database.execute("insert into users values (?, ?, ?, ?, ?, ?, ?, ?, null)", row)
            for client, (tenant, scopes) in CLIENTS.items():
                row = (client, client, tenant, fingerprint, "password refresh_token client_credentials", scopes, now)
                database.execute("insert into clients values (?, ?, ?, ?, ?, ?, ?, null)", row)
            database.execute("update clients set tenant = null where id = 'pidq'")

    def token(self, client="robot", **form):
        """An access token: of a client, or of a user where a name is given."""
        form = {"grant_type": "client_credentials", "client_id": client, "client_secret": SECRET, **form}
        reply = requests.post(self.url + "/o/token/", data=form, timeout=60)
        assert reply.status_code == 200, reply.text
        return reply.json()["access_token"]

    def user_token(self, login, **form):
        return self.token("pidq", grant_type="password", username=login, password=PASSWORD, **form)

    def session(self, token=None):
        session = requests.Session()
        session.headers["Authorization"] = f"Bearer {token or self.token()}"
        return session

    def put(self, session, job, graph, **headers):
        return session.put(f"{self.url}/graph/{job}", json=graph, headers=headers, timeout=60)

    def ask(self, session, job, query, **more):
        return session.post(f"{self.url}/graph/{job}", json={"query": query, **more}, timeout=60)

    def rss(self):
        """Resident and highest resident bytes."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        lines = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
        return tuple(int(lines[key].split()[0]) * 1024 for key in ("VmRSS", "VmHWM"))

    def cpu(self):
        """Seconds of processor time so far."""
        stat = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")


def lines_of(command, **options):
    """The lines of JSON that a program of node prints."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, **options)
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
    return rows, done.stderr[-2000:] if done.returncode else ""
