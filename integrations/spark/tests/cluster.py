"""A Spark cluster of real processes: one master and two workers, each of which starts an executor."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

START_TIMEOUT = 120

#: Variables that executors need if pidq is not installed, but used from its sources.
INHERITED = ("PYTHONPATH", "PIDQ_LIBRARY", "PYTHONDONTWRITEBYTECODE")


class Cluster:
    """Started by the constructor, stopped by `stop`."""

    def __init__(self, folder, workers=2):
        import pyspark

        self.folder = folder
        self.home = Path(pyspark.__file__).parent
        self.address = f"spark://127.0.0.1:{free_port()}"
        self.processes = []
        port = self.address.rpartition(":")[2]
        self.start("master", "master.Master", "--host", "127.0.0.1", "--port", port, "--webui-port", str(free_port()))
        for number in range(workers):
            options = ["--host", "127.0.0.1", "--cores", "1", "--memory", "1g", "--webui-port", str(free_port())]
            self.start(f"worker-{number}", "worker.Worker", *options, "--work-dir", str(folder / "work"), self.address)
        for number in range(workers):
            self.wait_for(f"worker-{number}", "Successfully registered with master")

    def start(self, name, main, *options):
        environment = os.environ | {
            "SPARK_HOME": str(self.home),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_DAEMON_MEMORY": "256m",
            "PYSPARK_PYTHON": sys.executable,
        }
        command = [self.home / "bin/spark-class", f"org.apache.spark.deploy.{main}", *options]
        with self.log(name).open("w") as log:
            self.processes.append(subprocess.Popen(command, stdout=log, stderr=log, env=environment))

    def log(self, name):
        return self.folder / f"{name}.log"

    def wait_for(self, name, text):
        deadline = time.monotonic() + START_TIMEOUT
        while text not in self.log(name).read_text():
            if time.monotonic() > deadline or any(process.poll() is not None for process in self.processes):
                raise RuntimeError(f"{name} did not start:\n{self.log(name).read_text()}")
            time.sleep(0.2)

    def session(self):
        """Returns a session whose executors are on this cluster."""
        from pyspark.sql import SparkSession

        os.environ["PYSPARK_PYTHON"] = sys.executable
        builder = SparkSession.builder.master(self.address).appName("pidq").config("spark.driver.host", "127.0.0.1")
        settings = {
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.executor.memory": "512m",
            "spark.executor.cores": "1",
            "spark.ui.enabled": "false",
            "spark.sql.shuffle.partitions": "8",
            "spark.local.dir": str(self.folder / "local"),
            "spark.sql.warehouse.dir": str(self.folder / "warehouse"),
        }
        settings |= {f"spark.executorEnv.{name}": os.environ[name] for name in INHERITED if name in os.environ}
        for name, value in settings.items():
            builder = builder.config(name, value)
        return builder.getOrCreate()

    def executors(self):
        """Returns the process ids of the executors, which are children of the workers."""
        processes = [child for worker in self.processes[1:] for child in children(worker.pid)]
        return [process for process in processes if "CoarseGrainedExecutorBackend" in command(process)]

    def stop(self):
        for process in reversed(self.processes):
            process.send_signal(signal.SIGTERM)
        for process in self.processes:
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()


def children(parent):
    """Returns the ids of the child processes of a process."""
    tasks = Path(f"/proc/{parent}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split()]


def command(process):
    """Returns the command line of a process; empty if it has ended."""
    try:
        return Path(f"/proc/{process}/cmdline").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def free_port():
    """Returns a free port; one of `PIDQ_TEST_PORTS` (`first-last`) if that is set."""
    first, _, last = os.environ.get("PIDQ_TEST_PORTS", "0-0").partition("-")
    for port in range(int(first), int(last) + 1):
        with socket.socket() as listener:
            try:
                listener.bind(("127.0.0.1", port))
            except OSError:
                continue
            if port == 0 or port not in _used:
                _used.add(listener.getsockname()[1])
                return listener.getsockname()[1]
    raise RuntimeError("no port is free")


_used = set()
