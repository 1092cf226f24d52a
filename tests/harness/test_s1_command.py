"""S1: the command as a client: over TLS, with a token that expires between two requests, and with a stopped service."""

import json
import os
import signal
import subprocess
import threading
import time

from certificates import Authority
from service import PASSWORD, PIDQ, SECRET, Service, drawing, goal


def pidq_graph(service, *arguments, who=None):
    """Runs `pidq graph --url` and returns its exit status, standard output and standard error."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PIDQ_")}
    environment |= who or {"PIDQ_CLIENT_ID": "pidq", "PIDQ_CLIENT_SECRET": SECRET}
    done = subprocess.run([PIDQ, "graph", "--url", service.url, *arguments], env=environment, capture_output=True, text=True, timeout=120)
    assert SECRET not in done.stdout + done.stderr and PASSWORD not in done.stdout + done.stderr
    return done.returncode, done.stdout, done.stderr


def test_command(tmp_path):
    authority, files = Authority(tmp_path), (tmp_path / "cert.pem", tmp_path / "key.pem")
    for file, text in zip(files, authority.pair()):
        file.write_bytes(text)
    graph = tmp_path / "plant.json"
    graph.write_text(json.dumps(drawing(500)))
    believe = ("--ca", str(authority.file))
    wrong = []

    def check(claim, holds, output):
        if not holds:
            wrong.append((claim, output))

    tls = {"PIDQ_TLS_CERT": str(files[0]), "PIDQ_TLS_KEY": str(files[1])}
    with Service(authority=str(authority.file), **tls) as service:
        output = pidq_graph(service, "list")
        check("an unknown authority is refused, with advice", output[0] == 2 and "--ca" in output[2], output)
        output = pidq_graph(service, *believe, "import", str(graph))
        check("a graph is put in over TLS", output[0] == 0 and "plant version 1 stored: 500 nodes" in output[1], output)
        user = {"PIDQ_CLIENT_ID": "pidq", "PIDQ_CLIENT_SECRET": SECRET, "PIDQ_USERNAME": "ann", "PIDQ_PASSWORD": PASSWORD}
        output = pidq_graph(service, *believe, "query", ".pid_graph.nodes | size()", "plant", who=user)
        check("a user asks", output == (0, "500\n", ""), output)
        output = pidq_graph(service, *believe, "export", "plant")
        check("a graph comes back", output[0] == 0 and len(json.loads(output[1])["pid_graph"]["nodes"]) == 500, output[0])
        secret = tmp_path / "secret"
        secret.write_text(service.secrets["reader"] + "\n")
        output = pidq_graph(service, *believe, "delete", "plant", who={"PIDQ_CLIENT_ID": "reader", "PIDQ_CLIENT_SECRET_FILE": str(secret)})
        check("a read-only client cannot delete", output[0] == 2 and "error[insufficient-scope]" in output[2], output)
        service.process.send_signal(signal.SIGSTOP)
        begun = time.monotonic()
        gone = threading.Timer(1, service.kill)
        gone.start()
        output = pidq_graph(service, *believe, "list")
        gone.join()
        check("a service that ends is output", output[0] == 2 and "cannot reach" in output[2] and time.monotonic() - begun < 60, output)
    goal("S1-command", {"checks": 6, "wrong": len(wrong)}, "0", not wrong, **({"first": wrong[0]} if wrong else {}))
