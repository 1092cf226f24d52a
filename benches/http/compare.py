"""The service beside a bare hyper server and nginx that send the same bytes: processor time of the server for each request.

Wall time on a machine that others share says little, so that rates are shown only for orientation. Run it by `run.sh`.
`ONLY` names the rows to measure, by a part of their names.
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
from service import SECRET, Service, free_port  # noqa: E402
from test_s10_smuggling import program, wait_for  # noqa: E402

BARE = os.environ["PIDQ_BARE"]
SECONDS = int(os.environ.get("SECONDS_EACH", "2"))
ROUNDS = int(os.environ.get("ROUNDS", "3"))
# Nodes, how many in a row are of one size, and what stands between two members of the JSON. Neighbours lie together in drawings,
# and programs write JSON without blanks; the scattered graph has neither.
GRAPHS = {"1k": (1_000, 10, ","), "10k": (10_000, 10, ","), "100k": (100_000, 10, ","), "scattered": (10_000, 1, ", ")}

COUNT = ".pid_graph.nodes | size()"
Q1 = '.pid_graph.nodes | filter(.properties.size == "DN50" and .node_type == "pid_component")'

# name, server, graph, query or content coding, at least so much of what bare hyper does
ROWS = [
    ("GET 1k", "pidq", "1k", None, "identity", 0.95),
    ("GET 10k", "pidq", "10k", None, "identity", 0.95),
    ("GET 10k zstd", "pidq", "10k", None, "zstd", 0.95),
    ("GET 10k gzip", "pidq", "10k", None, "gzip", 0.95),
    ("count 1k", "fresh", "1k", COUNT, "identity", 0.85),
    ("count 1k kept", "pidq", "1k", COUNT, "identity", 0.85),
    ("q1 1k", "fresh", "1k", Q1, "identity", 0.85),
    ("q1 1k kept", "pidq", "1k", Q1, "identity", 0.95),
    ("q1 10k", "fresh", "10k", Q1, "identity", 0.65),
    ("q1 10k kept", "pidq", "10k", Q1, "identity", 0.95),
    ("q1 scattered", "fresh", "scattered", Q1, "identity", 0.65),
    ("q1 100k", "fresh", "100k", Q1, "identity", 0.65),
    ("q1 100k kept", "pidq", "100k", Q1, "identity", 0.95),
]
ROWS = [row for row in ROWS if os.environ.get("ONLY", "") in row[0]]

NGINX = """
daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/error; events {{}}
http {{
  access_log off; sendfile on; keepalive_requests 1000000000; {temporary}
  server {{ listen 127.0.0.1:{port}; location / {{ root {folder}/files; default_type application/json; }} }}
}}
"""


def plant(count, run):
    """Nodes as drawings have them: a few hundred bytes each, half of which are of one size, so many in a row."""
    def node(n):
        facts = {"size": "DN50" if n // run % 2 else "DN80", "rating": "PN16", "material": "1.4571", "pressure": n % 40, "temperature": 20 + n % 180}
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


def load(url, token, body, coding, folder):
    """Requests that were answered well, and a second."""
    script = folder / "wrk.lua"
    lines = [f'wrk.headers["Authorization"] = "Bearer {token}"']
    if coding != "identity":
        lines.append(f'wrk.headers["Accept-Encoding"] = "{coding}"')
    if body:
        lines += ['wrk.method = "POST"', f"wrk.body = {json.dumps(body)}", 'wrk.headers["Content-Type"] = "application/json"']
    script.write_text("\n".join(lines))
    command = ["taskset", "-c", "1", "wrk", "-t1", "-c8", f"-d{SECONDS}s", "--timeout", "10s", "-s", str(script), url]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "Non-2xx" not in told, told
    return int(re.search(r"(\d+) requests in", told).group(1)), float(re.search(r"Requests/sec:\s+([\d.]+)", told).group(1))


def measure(server, row, token, folder):
    """Microseconds a request, and requests a second."""
    url, pids, is_ours = server
    name, _, graph, query, coding, _ = row
    path = f"/graph/{graph}" if is_ours else f"/{name.replace(' ', '-')}"
    body = json.dumps({"query": query}) if query else None
    before = cpu(pids)
    count, rate = load(url + path, token, body, coding, folder)
    return (cpu(pids) - before) / max(count, 1), rate


def token_of(service):
    """A token for the first client, which may do everything."""
    form = {"grant_type": "client_credentials", "client_id": "pidq", "client_secret": SECRET, "scope": "read write"}
    return requests.post(service.url + "/o/token/", data=form, timeout=60).json()["access_token"]


def fill(service, files):
    """Graphs, and the answers of this service as files."""
    session = service.session(token_of(service))
    for name, (count, run, comma) in GRAPHS.items():
        text = json.dumps(plant(count, run), separators=(comma, ":"))
        reply = session.put(f"{service.url}/graph/{name}", data=text, headers={"Content-Type": "application/json"}, timeout=60)
        assert reply.status_code == 201, reply.text
    for name, _, graph, query, coding, _ in ROWS:
        session.headers["Accept-Encoding"] = coding
        address = f"{service.url}/graph/{graph}"
        reply = session.post(address, json={"query": query}, stream=True, timeout=60) if query else session.get(address, stream=True, timeout=60)
        assert reply.status_code == 200, reply.text
        (files / name.replace(" ", "-")).write_bytes(reply.raw.read(decode_content=False))


def main():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="pidq-http-"))
    files = folder / "files"
    files.mkdir()
    os.chmod(folder, 0o755)
    settings = {"before": ("taskset", "-c", "0"), "PIDQ_LOG_LEVEL": "error"}
    kept = Service(folder / "kept", **settings)
    # Every run is one, and none is kept.
    fresh = Service(folder / "fresh", PIDQ_RESULT_CACHE="0", **settings)
    with kept, fresh:
        for service in (fresh, kept):
            fill(service, files)
        ports = {"bare": free_port(), "nginx": free_port()}
        temporary = " ".join(f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        (folder / "nginx.conf").write_text(NGINX.format(folder=folder, port=ports["nginx"], temporary=temporary))
        started = {"bare": subprocess.Popen(["taskset", "-c", "0", BARE, str(ports["bare"]), str(files)])}
        if program("nginx"):
            started["nginx"] = subprocess.Popen(["taskset", "-c", "0", program("nginx"), "-c", str(folder / "nginx.conf"), "-e", "stderr"], stderr=subprocess.DEVNULL)
        try:
            for name in started:
                wait_for(ports[name])
            ours = {name: ((service.url, [service.process.pid], True), token_of(service)) for name, service in (("pidq", kept), ("fresh", fresh))}
            others = {name: (f"http://127.0.0.1:{ports[name]}", [one.pid, *children(one.pid)], False) for name, one in started.items()}
            table(ours, others, files, folder)
        finally:
            for one in started.values():
                one.terminate()
            shutil.rmtree(folder, ignore_errors=True)


def table(ours, others, files, folder):
    print(f"{'':<16}{'bytes':>10}" + "".join(f"{name + ' us':>12}{'rps':>9}" for name in ["pidq", *others]) + f"{'of bare':>10}{'goal':>7}")
    missed = 0
    for row in ROWS:
        best = {}
        server, token = ours[row[1]]
        for _ in range(ROUNDS):
            for name, one in ({"pidq": server} | others).items():
                if name == "nginx" and row[3]:
                    continue
                figures = measure(one, row, token, folder)
                best[name] = min(best.get(name, figures), figures)
        part, goal = best["bare"][0] / best["pidq"][0], row[5]
        missed += part < goal
        cells = "".join(f"{best[name][0]:>12.1f}{best[name][1]:>9.0f}" if name in best else f"{'':>21}" for name in ["pidq", *others])
        print(f"{row[0]:<16}{(files / row[0].replace(' ', '-')).stat().st_size:>10}{cells}{part:>9.0%} {goal:>6.0%}{'' if part >= goal else '  missed'}", flush=True)
    print(f"{missed} of {len(ROWS)} missed" if missed else "all kept")


main()
