"""Test of a failover: three replicas of the services on PostgreSQL with Patroni, whose primary is killed under load.

It takes minutes, and needs Patroni, etcd and HAProxy: `scripts/deploy_test.sh failover` fetches the former two, and runs it.
"""

import json
import os
import signal
import subprocess
import threading
import time
import urllib.request
import uuid
from pathlib import Path

import pytest

from compose_stack import POSTGRES_BIN
from conftest import DEPLOY, needs
from load import Connection, upload
from replicas import API_HOST, Process, Replicas, as_postgres, wait_until
from test_rolling_upgrade import drawing, list_documents, wait_ready
from test_migrations import sign_in

pytestmark = pytest.mark.failover

DATABASE = "127.0.0.7"
NODES = {"postgres-1": "127.0.5.1", "postgres-2": "127.0.5.2"}
ETCD = {"etcd-1": "127.0.6.1", "etcd-2": "127.0.6.2", "etcd-3": "127.0.6.3"}
PASSWORD = "password-of-this-test"
# On a machine of its own, each server has this directory.
OWN_SOCKETS = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o mode=1777 tmpfs /var/run/postgresql && exec "$@"', "node"]


class Cluster:
    """etcd, PostgreSQL with Patroni, and HAProxy."""

    def __init__(self, work: Path):
        self.work = work
        self.processes: dict[str, Process] = {}
        etcd, patroni = os.environ["PIDQ_TEST_ETCD"], os.environ["PIDQ_TEST_PATRONI"]
        members = ",".join(f"{name}=http://{address}:2380" for name, address in ETCD.items())
        for name, address in ETCD.items():
            peer, client = f"http://{address}:2380", f"http://{address}:2379"
            urls = ["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer]
            urls += ["--listen-client-urls", client, "--advertise-client-urls", client]
            data = ["--data-dir", str(work / name), "--initial-cluster", members]
            self.processes[name] = Process(name, [etcd, "--name", name, *data, *urls], work)
        for name, address in NODES.items():
            # As a service manager makes it, on a machine of its own.
            directory = work / name
            directory.mkdir()
            subprocess.run(["chown", "postgres:postgres", directory], check=True)
            environment = {
                "PATRONI_NAME": name,
                "PATRONI_ETCD3_HOSTS": ",".join(f"{address}:2379" for address in ETCD.values()),
                "PATRONI_RESTAPI_LISTEN": f"{address}:8008",
                "PATRONI_RESTAPI_CONNECT_ADDRESS": f"{address}:8008",
                "PATRONI_POSTGRESQL_LISTEN": f"{address}:5432",
                "PATRONI_POSTGRESQL_CONNECT_ADDRESS": f"{address}:5432",
                "PATRONI_POSTGRESQL_DATA_DIR": str(directory / "data"),
                "PATRONI_POSTGRESQL_BIN_DIR": str(POSTGRES_BIN),
                "PATRONI_POSTGRESQL_PGPASS": str(directory / "pgpass"),
                "PATRONI_SUPERUSER_PASSWORD": PASSWORD,
                "PATRONI_REPLICATION_PASSWORD": PASSWORD,
                "PYTHONPATH": patroni,
                "LC_ALL": "C.UTF-8",
            }
            command = as_postgres("/usr/bin/python3", "-m", "patroni", work / "patroni.yml")
            self.processes[name] = Process(name, [*OWN_SOCKETS, *command], work, environment)
        (work / "patroni.yml").write_text((DEPLOY / "patroni/patroni.yml").read_text())
        haproxy = (DEPLOY / "patroni/haproxy.cfg").read_text().replace("bind :5432", f"bind {DATABASE}:5432")
        for name, address in NODES.items():
            haproxy = haproxy.replace(f"{name}:5432", f"{address}:5432")
            haproxy = haproxy.replace(f"{address}:5432 check port", f"{address}:5432 check addr {address} port")
        (work / "haproxy.cfg").write_text(haproxy)
        self.processes["haproxy"] = Process("haproxy", ["haproxy", "-db", "-f", str(work / "haproxy.cfg")], work)

    def up(self) -> str:
        """Starts everything; returns the URL of the database."""
        for name in (*ETCD, "postgres-1"):
            self.processes[name].start()
        wait_until(lambda: self.roles().get("postgres-1") == "leader", "there is a primary", 90)
        self.processes["postgres-2"].start()
        wait_until(lambda: "sync_standby" in self.roles().values(), "there is a synchronous replica", 90)
        self.processes["haproxy"].start()
        url = f"postgres://postgres:{PASSWORD}@{DATABASE}/postgres"
        ready = [POSTGRES_BIN / "psql", "-X", "-q", url, "-c", "create database pidq"]
        wait_until(lambda: subprocess.run(ready, capture_output=True).returncode == 0, "HAProxy leads to the primary")
        return f"postgres://postgres:{PASSWORD}@{DATABASE}/pidq"

    def roles(self) -> dict[str, str]:
        """Returns the roles of the members that are running, as one that responds tells them."""
        for address in NODES.values():
            try:
                with urllib.request.urlopen(f"http://{address}:8008/cluster", timeout=2) as response:
                    members = json.load(response)["members"]
            except OSError:
                continue
            return {member["name"]: member["role"] for member in members if member["state"] in ("running", "streaming")}
        return {}

    def kill_primary(self) -> str:
        """Ends the machine of the primary, as far as processes can tell."""
        primary = next(name for name, role in self.roles().items() if role == "leader")
        postmaster = int((self.work / primary / "data/postmaster.pid").read_text().split()[0])
        self.processes[primary].kill()
        os.kill(postmaster, signal.SIGKILL)
        return primary

    def down(self) -> None:
        for name in NODES:
            pid = self.work / name / "data/postmaster.pid"
            self.processes[name].kill()
            if pid.exists():
                try:
                    os.kill(int(pid.read_text().split()[0]), signal.SIGKILL)
                except ProcessLookupError:
                    pass
        for process in self.processes.values():
            process.kill()


class Writer(threading.Thread):
    """Client that writes until it is stopped, and keeps what was acknowledged; failures are expected."""

    def __init__(self, write):
        super().__init__(daemon=True)
        self.write = write
        self.acknowledged: list[tuple[float, str]] = []
        self.failures: list[str] = []
        self.stopping = False

    def run(self) -> None:
        while not self.stopping:
            try:
                name = self.write()
                self.acknowledged.append((time.monotonic(), name))
            except (AssertionError, OSError, ValueError) as error:
                self.failures.append(str(error)[:200])
            except Exception as error:  # noqa: BLE001: a response that was cut off
                self.failures.append(repr(error)[:200])
            time.sleep(0.1)

    def longest_pause(self) -> float:
        times = [at for at, _ in self.acknowledged]
        return max(later - earlier for earlier, later in zip(times, times[1:]))


@pytest.fixture(scope="module")
def cluster(namespace, work: Path):
    needs("haproxy", "setpriv", "nginx", "redis-server", "nats-server", "openssl")
    if not POSTGRES_BIN.exists():
        pytest.skip("missing: PostgreSQL (Debian: postgresql)")
    if not os.environ.get("PIDQ_TEST_PATRONI"):
        pytest.skip("run scripts/deploy_test.sh failover")
    directory = work / "patroni"
    directory.mkdir()
    cluster = Cluster(directory)
    try:
        yield cluster
    finally:
        cluster.down()
        for log in sorted(directory.glob("*.log")):
            print(f"-- {log.name}\n{log.read_text()[-3000:]}")


def test_nothing_that_was_acknowledged_is_lost_when_the_primary_is_killed(cluster: Cluster, pidq: Path, work: Path):
    directory = work / "failover"
    directory.mkdir()
    replicas = Replicas(pidq, directory, cluster.up(), 3)
    try:
        replicas.up()
        run(cluster, replicas)
    finally:
        replicas.down()


def run(cluster: Cluster, replicas: Replicas) -> None:
    setup = Connection(API_HOST, replicas.certificate)
    setup.token = sign_in(setup)
    fields = {"name": "Unit 20", "embedding_model": "hash-512", "text_splitter": "recursive_character", "classifications": ["manual"]}
    pipeline = setup.json("POST", "/api/pipelines", fields)["id"]
    setup.json("PUT", "/graph/read", drawing("read"))

    def connect() -> Connection:
        return Connection(API_HOST, replicas.certificate, setup.token)

    def write_graph(connection: Connection) -> str:
        name = f"unit-{uuid.uuid4().hex}"
        connection.json("PUT", f"/graph/{name}", drawing(name))
        return name

    def store_document(connection: Connection) -> str:
        name = uuid.uuid4().hex
        return upload(connection, pipeline, f"{name}.txt", f"The pump {name} runs.")

    def read(connection: Connection) -> str:
        assert connection.json("GET", "/graph/read")["pid_graph"]["nodes"]
        return "read"

    graphs, documents, reads = (
        Writer(lambda connection=connect(), step=step: step(connection)) for step in (write_graph, store_document, read)
    )
    writers = (graphs, documents, reads)
    for writer in writers:
        writer.start()
    time.sleep(5)
    killed_at, killed = time.monotonic(), cluster.kill_primary()
    wait_until(lambda: all(w.acknowledged and w.acknowledged[-1][0] > killed_at + 3 for w in (graphs, documents)), "writes go on", 120)
    time.sleep(5)
    for writer in writers:
        writer.stopping = True
    for writer in writers:
        writer.join(60)
    seconds = {name: round(w.longest_pause(), 1) for name, w in (("graphs", graphs), ("documents", documents), ("reads", reads))}
    counts = {name: len(w.acknowledged) for name, w in (("graphs", graphs), ("documents", documents), ("reads", reads))}
    print(f"\nkilled {killed}; acknowledged {counts}; longest time without a success in seconds: {seconds}")
    for name, writer in (("graphs", graphs), ("documents", documents), ("reads", reads)):
        print(f"{name}: {len(writer.failures)} failures, such as {writer.failures[:1]}")

    wait_ready(setup, pipeline, [name for _, name in documents.acknowledged])
    assert {name for _, name in documents.acknowledged} <= set(list_documents(setup, pipeline))
    for _, name in graphs.acknowledged:
        assert setup.json("GET", f"/graph/{name}")["pid_graph"]["nodes"], name
    assert max(seconds.values()) < 60, seconds
    # The machine comes back, as a replica.
    cluster.processes[killed].start()
    wait_until(lambda: cluster.roles().get(killed) == "sync_standby", f"{killed} is a replica again", 90)
