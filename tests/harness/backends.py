"""PostgreSQL, Redis and NATS as child processes, each at a fixed address for the duration of the test."""

import contextlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from service import free_port

PATH = os.environ["PATH"] + ":/usr/sbin:/usr/local/sbin"


def postgres_programs():
    """Returns the directory of the newest PostgreSQL, or None."""
    found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return found[-1].parent if found else None


def missing_programs():
    """Returns the names of programs that are not installed."""
    programs = [name for name in ("redis-server", "nats-server") if not shutil.which(name, path=PATH)]
    return programs + ([] if postgres_programs() else ["postgresql"])


class Backend:
    """A server on its own port, with a directory that outlives the process."""

    def __init__(self):
        self.port = free_port()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=f"pidq-{self.name}-"))
        self.process = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self):
        """Starts the server; retries while files of a killed process make the start fail."""
        start = time.monotonic()
        while time.monotonic() - start < 60:
            if self.process is None or self.process.poll() is not None:
                self.spawn()
            if self.is_ready():
                return
            time.sleep(0.05)
        raise RuntimeError(f"{self.name} does not start: {(self.folder / 'log').read_text()[-2000:]}")

    def spawn(self):
        with open(self.folder / "log", "ab") as log:
            environment = os.environ | {"PATH": PATH}
            self.process = subprocess.Popen(
                self.command(), cwd=self.folder, env=environment, stdout=log, stderr=log, **self.options()
            )

    def is_ready(self):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
            return True
        return False

    def options(self):
        return {}

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


class Redis(Backend):
    name = "redis"

    def command(self):
        return ["redis-server", "--bind", "127.0.0.1", "--port", str(self.port), "--save", "", "--appendonly", "no"]

    @property
    def url(self):
        return f"redis://127.0.0.1:{self.port}"


class Nats(Backend):
    """NATS with JetStream."""

    name = "nats"

    def command(self):
        return ["nats-server", "-a", "127.0.0.1", "-p", str(self.port), "-js", "-sd", str(self.folder / "streams")]

    @property
    def url(self):
        return f"nats://127.0.0.1:{self.port}"


class Postgres(Backend):
    """PostgreSQL. It refuses to run as root, so the tests of root run it as the user of Debian's package."""

    name = "postgres"

    def __init__(self):
        super().__init__()
        self.bin = postgres_programs()
        self.folder.chmod(0o777)
        initdb = [self.bin / "initdb", "-D", self.folder / "data", "-A", "trust", "-U", "pidq"]
        subprocess.run(initdb, check=True, capture_output=True, cwd=self.folder, **self.options())

    def command(self):
        # Only the process is killed, not the machine: written data survives without fsync.
        return [self.bin / "postgres", "-D", "data", "-k", "", "-c", "listen_addresses=127.0.0.1", "-c", f"port={self.port}", "-c", "fsync=off"]

    def options(self):
        return {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}

    def is_ready(self):
        return subprocess.run([self.bin / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)], check=False).returncode == 0

    def query(self, sql):
        """Returns the rows of a statement as text."""
        command = [self.bin / "psql", "-h", "127.0.0.1", "-p", str(self.port), "-U", "pidq", "-At", "-c", sql, "postgres"]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()

    @property
    def url(self):
        return f"postgres://pidq@127.0.0.1:{self.port}/postgres"
