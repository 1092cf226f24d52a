"""The server as a child process, with two tenants and accounts of every role."""

import contextlib
import functools
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import requests

SERVER = os.environ.get("PIDQ_SERVER", "target/debug/pidq-server")
# The command, which manages accounts.
PIDQ = os.environ.get("PIDQ_COMMAND", str(pathlib.Path(SERVER).with_name("pidq")))
WORK = pathlib.Path(os.environ.get("PIDQ_HARNESS", "target/harness"))
LONG = bool(os.environ.get("LONG"))

PASSWORD = "canary-password-7531"
SECRET = "pidq_cs_canary0123456789abcdefghijklmnopqrstuvwxyz"

# login: tenant, role. All have the same password.
USERS = {
    "ann": ("main", "admin"),
    "ed": ("main", "editor"),
    "vic": ("main", "viewer"),
    "eve": ("other", "editor"),
    "adam": ("other", "admin"),
} | {f"lib{n}": ("main", "editor") for n in range(8)}

# client: tenant, scopes. They are created after `pidq`, the first client, whose secret is SECRET.
CLIENTS = {
    "reader": ("main", "read"),
    "writer": ("main", "write"),
    "robot": ("main", "read write"),
    "rival": ("other", "read write"),
}

# Pages of the program file belong to the page cache. A debug build has twice as many, and read-ahead decides how many are mapped:
# the short form, which runs a debug build, counts only memory of the process.
CURRENT_MEMORY = "VmRSS" if LONG else "RssAnon"


def goal(name, value, limit, passed, **more):
    """Reports a measured value and fails if it exceeds its limit."""
    measurements = " ".join(f"{key}={item}" for key, item in {**value, **more}.items())
    line = f"GOAL {name} {measurements} limit={limit} {'ok' if passed else 'FAILED'}"
    print(f"\n{line}", flush=True)
    with open(WORK / "goals.txt", "a", encoding="utf-8") as goals:
        goals.write(line + "\n")
    assert passed, line


def within_limit(value, limit):
    """Returns True if a timing is within its limit. Other load on the machine affects it, so the short run only reports it."""
    return not LONG or value <= limit


def free_port():
    """Returns a free port of PIDQ_HARNESS_PORTS: below the ephemeral range, so that it is still free after a kill and restart."""
    first, last = map(int, os.environ.get("PIDQ_HARNESS_PORTS", "20000-32000").split("-"))
    for port in random.sample(range(first, last + 1), min(last + 1 - first, 1_000)):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise RuntimeError("no port is free")


def drawing(nodes=3, name="N"):
    """Returns a graph that is a chain of nodes."""
    items = [{"id": f"{name}-{n}", "node_type": "pid_component", "class": "valve" if n % 2 else "pump"} for n in range(nodes)]
    edges = [{"id": f"e{n}", "source": f"{name}-{n}", "target": f"{name}-{n + 1}", "edge_type": "piping"} for n in range(nodes - 1)]
    return {"pid_graph": {"nodes": items, "edges": edges, "metadata": {"drawing_name": f"Unit {name}"}}}


def run_pidq(data_dir, *arguments, stdin=""):
    """Runs the command on the data of a service and returns its output."""
    command = [PIDQ, *arguments, "--data-dir", str(data_dir)]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, check=True, timeout=60).stdout


@functools.cache
def accounts():
    """Creates a data directory with accounts of every role, with the command; returns it and the secrets of the clients."""
    folder = WORK / f"accounts{os.environ.get('PYTEST_XDIST_WORKER', '')}"
    shutil.rmtree(folder, ignore_errors=True)
    with Service(folder) as first:
        first.terminate()
    for login, (tenant, role) in USERS.items():
        run_pidq(folder, "users", "add", login, "--tenant", tenant, "--role", role, stdin=PASSWORD + "\n")
    secrets = {"pidq": SECRET}
    for client, (tenant, scopes) in CLIENTS.items():
        grants = [f"--grant={grant}" for grant in ("password", "refresh_token", "client_credentials")]
        output = run_pidq(folder, "clients", "add", client, "--tenant", tenant, *grants, *(f"--scope={scope}" for scope in scopes.split()))
        secrets[client] = output.split("client_secret:")[1].strip()
    return folder, secrets


class Service:
    """A server process and its data directory: a given one, or a new one with all accounts."""

    command = (SERVER,)
    # Timeout of the start, in seconds.
    start_timeout = 60

    def __init__(self, data_dir=None, ca_file=None, command_prefix=(), **settings):
        """With `ca_file`, the service has a certificate of this CA and is used over TLS."""
        self.data_dir, self.command_prefix, self.verify = data_dir, command_prefix, ca_file or True
        self.port = free_port()
        self.url = f"{'https' if ca_file else 'http'}://127.0.0.1:{self.port}"
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="pidq-harness-"))
        self.log = self.folder / "log"
        self.settings = {
            "PIDQ_LISTEN": f"127.0.0.1:{self.port}",
            "PIDQ_ADMIN_LISTEN": "",
            "PIDQ_DATA_DIR": str(data_dir or self.folder / "data"),
            "PIDQ_ADMIN_LOGIN": "admin",
            "PIDQ_ADMIN_PASSWORD": PASSWORD,
            "PIDQ_CLIENT_SECRET": SECRET,
            "PIDQ_RATE_LIMIT": "0",
            "PIDQ_SHUTDOWN_DELAY": "0s",
            **settings,
        }
        self.process = None

    def __enter__(self):
        if not self.data_dir:
            shutil.copytree(accounts()[0], self.folder / "data")
        self.start()
        return self

    def __exit__(self, *_):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self):
        """Starts the process and returns the seconds until it was ready."""
        start = time.monotonic()
        environment = {key: value for key, value in os.environ.items() if not key.startswith("PIDQ_")} | self.settings
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([*self.command_prefix, *self.command], env=environment, stdout=log, stderr=log)
        while time.monotonic() - start < self.start_timeout:
            if self.process.poll() is not None:
                raise RuntimeError(self.log.read_text())
            with contextlib.suppress(requests.RequestException):
                if requests.get(self.url + "/readyz", timeout=5, verify=self.verify).status_code == 200:
                    return time.monotonic() - start
            time.sleep(0.01)
        raise RuntimeError("the server is not ready in time")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def terminate(self):
        """Sends SIGTERM and returns the exit code and the seconds that the shutdown took."""
        start = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=60), time.monotonic() - start

    @property
    def secrets(self):
        """Returns the secrets of the clients by id."""
        return accounts()[1]

    def credentials(self, client):
        return {"client_id": client, "client_secret": self.secrets[client]}

    def add_users(self, count):
        """Creates editors with the common password and returns their logins."""
        logins = [f"user-{number:04}" for number in range(count)]
        for login in logins:
            run_pidq(self.settings["PIDQ_DATA_DIR"], "users", "add", login, "--role", "editor", stdin=PASSWORD + "\n")
        return logins

    def token(self, client="robot", **form):
        """Returns an access token of a client, or of a user if a username is given."""
        form = {"grant_type": "client_credentials", **self.credentials(client), **form}
        response = requests.post(self.url + "/o/token/", data=form, timeout=60)
        assert response.status_code == 200, response.text
        return response.json()["access_token"]

    def user_token(self, login, **form):
        client = "pidq" if USERS[login][0] == "main" else "rival"
        return self.token(client, grant_type="password", username=login, password=PASSWORD, **form)

    def session(self, token=None):
        session = requests.Session()
        session.headers["Authorization"] = f"Bearer {token or self.token()}"
        return session

    def put(self, session, graph_id, graph, **headers):
        return session.put(f"{self.url}/graph/{graph_id}", json=graph, headers=headers, timeout=60)

    def run_query(self, session, graph_id, query, **fields):
        return session.post(f"{self.url}/graph/{graph_id}", json={"query": query, **fields}, timeout=60)

    def rss(self):
        """Returns the current and peak resident memory in bytes; the short form leaves the program file out of the current one."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        lines = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
        return tuple(int(lines[key].split()[0]) * 1024 for key in (CURRENT_MEMORY, "VmHWM"))

    def cpu(self):
        """Returns the CPU time used so far, in seconds."""
        stat = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")


def json_lines(command, **options):
    """Returns the JSON lines printed by a Node.js program."""
    process = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, **options)
    rows = [json.loads(line) for line in process.stdout.splitlines() if line.startswith("[")]
    return rows, process.stderr[-2000:] if process.returncode else ""


MASTER_KEY = "0199aaaa-0000-7000-8000-000000000001"


class Platform(Service):
    """The document platform as a child process, and sessions with the master key."""

    name = "server"
    command = (PIDQ, "pipeline", "serve")

    def __init__(self, **settings):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="pidq-platform-"))
        super().__init__(data_dir=folder, PIDQ_APP_MASTER_KEY=MASTER_KEY, PIDQ_APP_MASTER_SECRET=SECRET, PIDQ_UPLOAD_RATE_LIMIT="0", PIDQ_ASK_RATE_LIMIT="0", **settings)
        for account_setting in ("PIDQ_ADMIN_LOGIN", "PIDQ_ADMIN_PASSWORD", "PIDQ_CLIENT_SECRET"):
            del self.settings[account_setting]

    def __exit__(self, *exception):
        super().__exit__(*exception)
        shutil.rmtree(self.data_dir, ignore_errors=True)

    def session(self):
        form = {"grant_type": "client_credentials", "client_id": MASTER_KEY, "client_secret": SECRET}
        token = requests.post(self.url + "/o/token/", data=form, timeout=30).json()["access_token"]
        session = requests.Session()
        session.headers["Authorization"] = f"Bearer {token}"
        return session

    def pipeline(self, session, name="plant"):
        body = {"name": name, "embedding_model": "hash-512", "text_splitter": "recursive_character", "classifications": ["manual"]}
        return session.post(self.url + "/api/pipelines", json=body, timeout=30).json()["id"]


class Worker(Platform):
    """A separate worker, which serves no requests."""

    name = "worker"
    command = (PIDQ, "pipeline", "worker")

    def start(self):
        environment = {key: value for key, value in os.environ.items() if not key.startswith("PIDQ_")} | self.settings
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([*self.command_prefix, *self.command], env=environment, stdout=log, stderr=log)
