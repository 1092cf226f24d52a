"""Runs several replicas of the services behind nginx, with PostgreSQL, Redis and NATS, as processes of one network namespace.

Every process has an address of its own, and every host name of `deploy/nginx/pidq.conf` leads to one of them.
"""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from compose_stack import POSTGRES_BIN
from conftest import DEPLOY, needs

MASTER_KEY = "9d1f6c52-7a43-4f0e-a3b8-2c6a51e0d9f7"
MASTER_SECRET = "root-client-of-the-replicas-0123456789"
DASHBOARD_PASSWORD = "Correct-Horse-7-Battery"
API_HOST, DASHBOARD_HOST = "api.plant.example", "pidq.plant.example"

# nginx as packages of distributions configure it, as far as needed here.
NGINX = """
worker_processes 2;
daemon off;
pid nginx.pid;
error_log stderr;
events {}
http {
    access_log access.log;
    client_body_temp_path temp; proxy_temp_path temp; fastcgi_temp_path temp; uwsgi_temp_path temp; scgi_temp_path temp;
    include pidq.conf;
}
"""


class Process:
    """Process that is started, stopped and killed by the test."""

    def __init__(self, name: str, command: list[str], work: Path, environment: dict[str, str] | None = None):
        self.name, self.command, self.work = name, command, work
        self.environment = {"PATH": f"{os.environ['PATH']}:/usr/sbin", **(environment or {})}
        self.log = work / f"{name}.log"
        self.process: subprocess.Popen | None = None

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command, env=self.environment, stdout=log, stderr=log, start_new_session=True, cwd=self.work
            )

    def stop(self, how: signal.Signals = signal.SIGTERM, timeout: float = 45) -> int:
        """Sends a signal once, and returns the exit status."""
        self.process.send_signal(how)
        return self.process.wait(timeout)

    def kill(self) -> None:
        if self.process and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


def wait_until(condition, what: str, timeout: float = 60) -> None:
    deadline = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < deadline, f"not within {timeout} s: {what}"
        time.sleep(0.1)


def as_postgres(*command: str | Path) -> list[str]:
    return ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", *map(str, command)]


def start_postgres(work: Path, address: str) -> tuple[Process, str]:
    """Starts one PostgreSQL server; returns it and the URL of its database."""
    data = work / "postgres"
    data.mkdir()
    shutil.chown(data, "postgres", "postgres")
    initdb = [POSTGRES_BIN / "initdb", "-D", data, "-U", "pidq", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "-N"]
    subprocess.run(as_postgres(*initdb), check=True, capture_output=True)
    options = ["-c", "max_connections=300", "-c", "shared_buffers=64MB"]
    server = Process("postgres", as_postgres(POSTGRES_BIN / "postgres", "-D", data, "-k", data, "-h", address, *options), work)
    server.start()
    ready = [str(POSTGRES_BIN / "pg_isready"), "-q", "-h", address]
    wait_until(lambda: subprocess.run(ready).returncode == 0, "PostgreSQL")
    subprocess.run([POSTGRES_BIN / "createdb", "-h", address, "-U", "pidq", "pidq"], check=True)
    return server, f"postgres://pidq@{address}/pidq"


@contextmanager
def postgres_server(work: Path, name: str, address: str, *commands: str) -> Iterator[tuple[Path, str]]:
    """PostgreSQL server for the tests of a module: its directory and the URL of its database.

    Skips them if the server or one of the commands is not installed.
    """
    needs("setpriv", *commands)
    if not POSTGRES_BIN.exists():
        pytest.skip("missing: PostgreSQL (Debian: postgresql)")
    directory = work / name
    directory.mkdir()
    server, url = start_postgres(directory, address)
    try:
        yield directory, url
    finally:
        server.kill()


class Replicas:
    """Replicas `api-N`, `worker-N` and `dashboard-N` behind nginx."""

    def __init__(self, pidq: Path, work: Path, database_url: str, count: int, settings: dict[str, str] | None = None):
        self.pidq, self.work, self.count = pidq, work, count
        self.hosts = {API_HOST: "127.0.0.2", DASHBOARD_HOST: "127.0.0.2"}
        self.processes = {
            "redis": Process("redis", ["redis-server", "--bind", "127.0.0.3", "--save", "", "--appendonly", "no"], work),
            "nats": Process("nats", ["nats-server", "--addr", "127.0.0.4", "--port", "4222"], work),
        }
        platform = {
            "PIDQ_DATABASE_URL": database_url,
            "PIDQ_REDIS_URL": "redis://127.0.0.3:6379",
            "PIDQ_NATS_URL": "nats://127.0.0.4:4222",
            "PIDQ_APP_SECRET": "a-secret-of-the-replicas-with-enough-characters",
            "PIDQ_APP_MASTER_KEY": MASTER_KEY,
            "PIDQ_APP_MASTER_SECRET": MASTER_SECRET,
            # The limits count what one person does; here, one client stands for all.
            "PIDQ_RATE_LIMIT": "0",
            "PIDQ_UPLOAD_RATE_LIMIT": "100000",
            "PIDQ_ASK_RATE_LIMIT": "100000",
            **(settings or {}),
        }
        server = {
            **platform,
            "PIDQ_STORE_URL": database_url,
            "PIDQ_DASHBOARD_LISTEN": "",
            "PIDQ_WORKERS": "0",
            "PIDQ_ADMIN_LOGIN": "admin",
            "PIDQ_ADMIN_PASSWORD": DASHBOARD_PASSWORD,
            "PIDQ_CLIENT_ID": "pidq",
            "PIDQ_CLIENT_SECRET": "secret-of-the-dashboard-client-0123456789",
            "PIDQ_PUBLIC_URL": f"https://{API_HOST}",
            "PIDQ_TRUSTED_PROXIES": "127.0.0.0/8",
        }
        dashboard = {
            name: server[name]
            for name in ("PIDQ_APP_SECRET", "PIDQ_CLIENT_ID", "PIDQ_CLIENT_SECRET", "PIDQ_TRUSTED_PROXIES", "PIDQ_RATE_LIMIT")
        }
        # A dashboard calls the API through the balancer.
        dashboard["PIDQ_API_URL"] = f"https://{API_HOST}"
        dashboard["PIDQ_API_CA"] = str(self.certificate)
        dashboard["PIDQ_DASHBOARD_URL"] = f"https://{DASHBOARD_HOST}"
        # No balancer stands in front of a worker, so there is none to wait for.
        worker = {"PIDQ_WORKERS": "1", "PIDQ_SHUTDOWN_DELAY": "0s"}
        for n in range(1, count + 1):
            self.add(f"api-{n}", f"127.0.1.{n}:8000", ["up"], server)
            self.add(f"worker-{n}", f"127.0.2.{n}:9464", ["pipeline", "worker"], {**platform, **worker})
            self.add(f"dashboard-{n}", f"127.0.3.{n}:3000", ["dashboard"], dashboard)
        self.processes["nginx"] = Process("nginx", ["nginx", "-p", str(work / "nginx"), "-c", str(work / "nginx/nginx.conf")], work)

    def add(self, name: str, address: str, command: list[str], settings: dict[str, str]) -> None:
        listen = "PIDQ_ADMIN_LISTEN" if name.startswith("worker") else "PIDQ_LISTEN"
        data = self.work / name
        data.mkdir()
        variables = {"PIDQ_ADMIN_LISTEN": "", "PIDQ_DATA_DIR": str(data), **settings, listen: address}
        if name.startswith("dashboard"):
            variables["PIDQ_DASHBOARD_LISTEN"] = variables.pop("PIDQ_LISTEN")
            del variables["PIDQ_DATA_DIR"]
        self.processes[name] = Process(name, [str(self.pidq), *command], self.work, variables)
        self.hosts[name] = address.split(":")[0]

    def names(self, kind: str) -> list[str]:
        return [f"{kind}-{n}" for n in range(1, self.count + 1)]

    def up(self) -> None:
        self.configure_nginx()
        for name in ("redis", "nats"):
            self.processes[name].start()
        for name in (*self.names("api"), *self.names("worker"), *self.names("dashboard")):
            self.processes[name].start()
            # The first one creates the tables, and the accounts.
            self.wait_ready(name)
        self.processes["nginx"].start()
        time.sleep(0.5)
        assert self.processes["nginx"].process.poll() is None, self.processes["nginx"].log.read_text()

    def configure_nginx(self) -> None:
        directory = self.work / "nginx"
        (directory / "tls").mkdir(parents=True)
        (directory / "temp").mkdir()
        text = (DEPLOY / "nginx/pidq.conf").read_text()
        for kind in ("api", "dashboard"):
            # More replicas: more lines like the two of the file.
            line = next(line for line in text.splitlines() if f"server {kind}-2:" in line)
            more = "".join("\n" + line.replace("-2:", f"-{n}:") for n in range(3, self.count + 1))
            text = text.replace(line, line + more)
        (directory / "pidq.conf").write_text(text)
        (directory / "nginx.conf").write_text(NGINX)
        key, certificate = directory / "tls/pidq.key", directory / "tls/pidq.crt"
        names = f"subjectAltName=DNS:{API_HOST},DNS:{DASHBOARD_HOST}"
        request = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
        # Clients of rustls do not accept the certificate of an authority as that of a server.
        extensions = ["-addext", names, "-addext", "basicConstraints=critical,CA:FALSE"]
        subprocess.run([*request, "-subj", "/CN=pidq", *extensions, "-keyout", key, "-out", certificate], check=True, capture_output=True)
        hosts = self.work / "hosts"
        hosts.write_text("127.0.0.1 localhost\n" + "".join(f"{address} {name}\n" for name, address in self.hosts.items()))
        # In the mount namespace of the tests only.
        subprocess.run(["mount", "--bind", hosts, "/etc/hosts"], check=True)

    @property
    def certificate(self) -> Path:
        return self.work / "nginx/tls/pidq.crt"

    def wait_ready(self, name: str, timeout: float = 60) -> None:
        process = self.processes[name]
        address = process.environment.get("PIDQ_DASHBOARD_LISTEN") or process.environment.get("PIDQ_LISTEN")
        address = address or process.environment["PIDQ_ADMIN_LISTEN"]
        path = "livez" if name.startswith("dashboard") else "readyz"
        check = [str(self.pidq), "health", f"http://{address}/{path}"]

        def is_ready() -> bool:
            assert process.process.poll() is None, f"{name} ended:\n{process.log.read_text()[-3000:]}"
            return subprocess.run(check, capture_output=True).returncode == 0

        wait_until(is_ready, f"{name} is ready", timeout)

    def replace(self, name: str) -> float:
        """Replaces a replica as documented: SIGTERM, its end, a new process, and `/readyz`. Returns the seconds it took."""
        start = time.monotonic()
        process = self.processes[name]
        status = process.stop()
        assert status == 0, f"{name} ended with {status}:\n{process.log.read_text()[-3000:]}"
        process.start()
        self.wait_ready(name)
        return time.monotonic() - start

    def down(self) -> None:
        for process in self.processes.values():
            process.kill()
        subprocess.run(["umount", "/etc/hosts"], check=False, capture_output=True)
