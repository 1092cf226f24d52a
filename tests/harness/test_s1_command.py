"""S1: the command as a client: over TLS, with a token that expires between two requests, and with a stopped service."""

import json
import os
import signal
import subprocess
import threading
import time

from certificates import CertificateAuthority
from service import PASSWORD, PIDQ, SECRET, Service, drawing, goal


def pidq_graph(service, *arguments, credentials=None):
    """Runs `pidq graph --url` and returns its exit status, standard output and standard error."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PIDQ_")}
    environment |= credentials or {"PIDQ_CLIENT_ID": "pidq", "PIDQ_CLIENT_SECRET": SECRET}
    process = subprocess.run([PIDQ, "graph", "--url", service.url, *arguments], env=environment, capture_output=True, text=True, timeout=120)
    assert SECRET not in process.stdout + process.stderr and PASSWORD not in process.stdout + process.stderr
    return process.returncode, process.stdout, process.stderr


def test_command(tmp_path):
    authority, files = CertificateAuthority(tmp_path), (tmp_path / "cert.pem", tmp_path / "key.pem")
    for file, content in zip(files, authority.issue_server_certificate()):
        file.write_bytes(content)
    graph = tmp_path / "plant.json"
    graph.write_text(json.dumps(drawing(500)))
    ca_option = ("--ca", str(authority.file))
    wrong = []

    def check(name, passed, output):
        if not passed:
            wrong.append((name, output))

    tls = {"PIDQ_TLS_CERT": str(files[0]), "PIDQ_TLS_KEY": str(files[1])}
    with Service(ca_file=str(authority.file), **tls) as service:
        output = pidq_graph(service, "list")
        check("an unknown CA is rejected, with a hint", output[0] == 2 and "--ca" in output[2], output)
        output = pidq_graph(service, *ca_option, "import", str(graph))
        check("a graph is imported over TLS", output[0] == 0 and "plant version 1 stored: 500 nodes" in output[1], output)
        user = {"PIDQ_CLIENT_ID": "pidq", "PIDQ_CLIENT_SECRET": SECRET, "PIDQ_USERNAME": "ann", "PIDQ_PASSWORD": PASSWORD}
        output = pidq_graph(service, *ca_option, "query", ".pid_graph.nodes | size()", "plant", credentials=user)
        check("a user runs a query", output == (0, "500\n", ""), output)
        output = pidq_graph(service, *ca_option, "export", "plant")
        check("a graph is exported", output[0] == 0 and len(json.loads(output[1])["pid_graph"]["nodes"]) == 500, output[0])
        secret = tmp_path / "secret"
        secret.write_text(service.secrets["reader"] + "\n")
        output = pidq_graph(service, *ca_option, "delete", "plant", credentials={"PIDQ_CLIENT_ID": "reader", "PIDQ_CLIENT_SECRET_FILE": str(secret)})
        check("a read-only client cannot delete", output[0] == 2 and "error[insufficient-scope]" in output[2], output)
        service.process.send_signal(signal.SIGSTOP)
        start = time.monotonic()
        kill = threading.Timer(1, service.kill)
        kill.start()
        output = pidq_graph(service, *ca_option, "list")
        kill.join()
        check("a service that stops is reported", output[0] == 2 and "cannot reach" in output[2] and time.monotonic() - start < 60, output)
    goal("S1-command", {"checks": 6, "wrong": len(wrong)}, "0", not wrong, **({"first": wrong[0]} if wrong else {}))
