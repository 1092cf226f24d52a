"""The service beside a bare hyper server and nginx that send the same bytes: processor time of the server for each request.

Wall time on a machine that others share says little, so that rates are shown only for orientation. Run it by `run.sh`.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/harness"))

import requests  # noqa: E402
from service import Service, free_port  # noqa: E402
from test_s10_smuggling import program, wait_for  # noqa: E402

BARE = os.environ["PIDQ_BARE"]
SECONDS = int(os.environ.get("SECONDS_EACH", "2"))
ROUNDS = int(os.environ.get("ROUNDS", "3"))
SIZES = {"1k": 1_000, "10k": 10_000, "100k": 100_000}

COUNT = ".pid_graph.nodes | size()"
Q1 = '.pid_graph.nodes | filter(.properties.size == "DN50" and .node_type == "pid_component")'

# name, method, graph, query, at least so much of what bare hyper does
ROWS = [
    ("GET 1k", "GET", "1k", None, 0.95),
    ("GET 10k", "GET", "10k", None, 0.95),
    ("POST count 1k", "POST", "1k", COUNT, 0.85),
    ("POST q1 1k", "POST", "1k", Q1, 0.85),
    ("POST q1 10k", "POST", "10k", Q1, 0.65),
    ("POST q1 100k", "POST", "100k", Q1, 0.65),
]

NGINX = """
daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/error; events {{}}
http {{
  access_log off; sendfile on; keepalive_requests 1000000000; {temporary}
  server {{ listen 127.0.0.1:{port}; location / {{ root {folder}/files; default_type application/json; }} }}
}}
"""


def plant(count):
    """Nodes as drawings have them: a few hundred bytes each, half of which are of one size."""
    def node(n):
        facts = {"size": "DN50" if n % 2 else "DN80", "rating": "PN16", "material": "1.4571", "pressure": n % 40, "temperature": 20 + n % 180}
        place = {"x": n % 500 * 1.5, "y": n // 500 * 2.5, "width": 12, "height": 8}
        return {"id": f"N-{n}", "node_type": "pid_component", "class": "gate_valve" if n % 2 else "pump", "tag": f"V-{n:06}", "properties": facts, "position": place}

    edges = [{"id": f"e{n}", "source": f"N-{n}", "target": f"N-{n + 1}", "edge_type": "piping"} for n in range(count - 1)]
    return {"pid_graph": {"nodes": [node(n) for n in range(count)], "edges": edges, "metadata": {"drawing_name": "plant"}}}


def cpu(pids):
    """Microseconds of processor time so far."""
    ticks = 0
    for pid in pids:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        ticks += int(stat[11]) + int(stat[12])
    return ticks * 1e6 / os.sysconf("SC_CLK_TCK")


def children(pid):
    return [int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def load(url, token, body, folder):
    """Requests that were answered well, and a second."""
    script = folder / "wrk.lua"
    lines = [f'wrk.headers["Authorization"] = "Bearer {token}"']
    if body:
        lines += ['wrk.method = "POST"', f"wrk.body = {json.dumps(body)}", 'wrk.headers["Content-Type"] = "application/json"']
    script.write_text("\n".join(lines))
    command = ["taskset", "-c", "1", "wrk", "-t1", "-c8", f"-d{SECONDS}s", "--timeout", "10s", "-s", str(script), url]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "Non-2xx" not in told, told
    return int(re.search(r"(\d+) requests in", told).group(1)), float(re.search(r"Requests/sec:\s+([\d.]+)", told).group(1))


def measure(server, name, row, token, folder):
    """Microseconds a request, and requests a second."""
    url, pids = server
    _, method, graph, query, _ = row
    path = f"/graph/{graph}" if name == "pidq" else f"/{row[0].replace(' ', '-')}"
    body = json.dumps({"query": query}) if method == "POST" else None
    before = cpu(pids)
    count, rate = load(url + path, token, body, folder)
    return (cpu(pids) - before) / max(count, 1), rate


def main():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="pidq-http-"))
    files = folder / "files"
    files.mkdir()
    os.chmod(folder, 0o755)
    with Service(before=("taskset", "-c", "0"), PIDQ_LOG_LEVEL="error") as service:
        session = service.session()
        for name, size in SIZES.items():
            reply = service.put(session, name, plant(size))
            assert reply.status_code == 201, reply.text
        for name, method, graph, query, _ in ROWS:
            reply = service.ask(session, graph, query) if query else session.get(f"{service.url}/graph/{graph}", headers={"Accept-Encoding": "identity"}, timeout=60)
            (files / name.replace(" ", "-")).write_bytes(reply.content)
        ports = {"bare": free_port(), "nginx": free_port()}
        temporary = " ".join(f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        (folder / "nginx.conf").write_text(NGINX.format(folder=folder, port=ports["nginx"], temporary=temporary))
        started = {"bare": subprocess.Popen(["taskset", "-c", "0", BARE, str(ports["bare"]), str(files)])}
        if program("nginx"):
            started["nginx"] = subprocess.Popen(["taskset", "-c", "0", program("nginx"), "-c", str(folder / "nginx.conf"), "-e", "stderr"], stderr=subprocess.DEVNULL)
        try:
            for name in started:
                wait_for(ports[name])
            servers = {"pidq": (service.url, [service.process.pid])} | {name: (f"http://127.0.0.1:{ports[name]}", [one.pid, *children(one.pid)]) for name, one in started.items()}
            token = session.headers["Authorization"].split()[1]
            table(servers, token, files, folder)
        finally:
            for one in started.values():
                one.terminate()
            shutil.rmtree(folder, ignore_errors=True)


def table(servers, token, files, folder):
    print(f"{'':<16}{'bytes':>10}" + "".join(f"{name + ' us':>12}{'rps':>9}" for name in servers) + f"{'of bare':>10}{'goal':>7}")
    missed = 0
    for row in ROWS:
        best = {}
        for _ in range(ROUNDS):
            for name, server in servers.items():
                if name == "nginx" and row[1] == "POST":
                    continue
                figures = measure(server, name, row, token, folder)
                best[name] = min(best.get(name, figures), figures)
        part = best["bare"][0] / best["pidq"][0]
        missed += part < row[4]
        cells = "".join(f"{best[name][0]:>12.1f}{best[name][1]:>9.0f}" if name in best else f"{'':>21}" for name in servers)
        print(f"{row[0]:<16}{(files / row[0].replace(' ', '-')).stat().st_size:>10}{cells}{part:>9.0%} {row[4]:>6.0%}{'' if part >= row[4] else '  missed'}", flush=True)
    print(f"{missed} of {len(ROWS)} missed" if missed else "all kept")


main()
