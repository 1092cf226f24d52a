"""Benchmark of the service against a bare hyper server and nginx that send the same bytes: server CPU time per request.

Wall time on a shared machine is unreliable, so rates and latencies are shown for orientation only; the latency of one
connection and the speedup by a second core are only in them. Run it with `run.sh`.
`ONLY` selects the rows whose names contain it.
"""

import collections
import contextlib
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
from certificates import CertificateAuthority  # noqa: E402
from service import SECRET, Service, free_port  # noqa: E402
from test_s10_smuggling import find_program, wait_for_port  # noqa: E402

BARE = os.environ["PIDQ_BARE"]
SECONDS = int(os.environ.get("SECONDS_EACH", "2"))
ROUNDS = int(os.environ.get("ROUNDS", "3"))
# Number of nodes, components per run of nodes, and separator of two JSON fields. As in the drawings of
# benches/synthetic_plant.rs: 72 of 100 are components, ten or eleven in a row, and there is no whitespace. The scattered graph
# has neither.
GRAPHS = {"1k": (1_000, 11, 15, ","), "10k": (10_000, 11, 15, ","), "100k": (100_000, 11, 15, ","), "scattered": (10_000, 1, 2, ", ")}

COUNT = ".pid_graph.nodes | size()"
Q1 = '.pid_graph.nodes | filter(.node_type == "pid_component")'

# CPU cores of the server and of wrk, threads and connections of wrk, TLS.
Scenario = collections.namedtuple("Scenario", "server wrk threads connections tls")
SCENARIOS = {
    "plain": Scenario("0", "1", 1, 8, False),
    "TLS": Scenario("0", "1", 1, 8, True),
    "one": Scenario("0", "1", 1, 1, False),
    "two cores": Scenario("0,1", "0,1", 2, 16, False),
}

# Name, scenario, result cache, graph, query (else GET), content coding, minimum ratio to bare hyper. Scattered nodes have
# no goal, because reading them is bound by memory latency.
ROWS = [
    ("GET 1k", "plain", True, "1k", None, "identity", 0.95),
    ("GET 10k", "plain", True, "10k", None, "identity", 0.95),
    ("GET 10k zstd", "plain", True, "10k", None, "zstd", 0.95),
    ("GET 10k gzip", "plain", True, "10k", None, "gzip", 0.95),
    ("count 1k", "plain", False, "1k", COUNT, "identity", 0.85),
    ("count 1k cached", "plain", True, "1k", COUNT, "identity", 0.85),
    ("q1 1k", "plain", False, "1k", Q1, "identity", 0.85),
    ("q1 1k cached", "plain", True, "1k", Q1, "identity", 0.95),
    ("q1 10k", "plain", False, "10k", Q1, "identity", 0.65),
    ("q1 10k cached", "plain", True, "10k", Q1, "identity", 0.95),
    ("q1 scattered", "plain", False, "scattered", Q1, "identity", 0),
    ("q1 100k", "plain", False, "100k", Q1, "identity", 0.65),
    ("q1 100k cached", "plain", True, "100k", Q1, "identity", 0.95),
    ("TLS GET 1k", "TLS", True, "1k", None, "identity", 0.95),
    ("TLS GET 10k", "TLS", True, "10k", None, "identity", 0.95),
    ("TLS count 1k", "TLS", False, "1k", COUNT, "identity", 0.85),
    ("TLS q1 10k", "TLS", False, "10k", Q1, "identity", 0.65),
    ("TLS q1 1k cached", "TLS", True, "1k", Q1, "identity", 0.95),
    ("one GET 1k", "one", True, "1k", None, "identity", 0.95),
    ("one count 1k", "one", False, "1k", COUNT, "identity", 0.85),
    ("one q1 1k", "one", False, "1k", Q1, "identity", 0.85),
    ("two GET 1k", "two cores", True, "1k", None, "identity", 0.95),
    ("two count 1k", "two cores", False, "1k", COUNT, "identity", 0.85),
    ("two q1 10k", "two cores", False, "10k", Q1, "identity", 0.65),
]
ROWS = [row for row in ROWS if os.environ.get("ONLY", "") in row[0]]

NGINX = """
daemon off; worker_processes {workers}; pid {folder}/{port}.pid; error_log {folder}/error; events {{}}
http {{
  access_log off; sendfile on; keepalive_requests 1000000000; {temporary}
  server {{
    listen 127.0.0.1:{port}{ssl}; location / {{ root {folder}/files; default_type application/json; }}
    ssl_certificate {certificate}; ssl_certificate_key {key};
  }}
}}
"""


def generate_graph(count, components, every):
    """Generates typical nodes of about 330 bytes; a fixed share per run of nodes are components."""
    def node(n):
        kind = "pid_component" if n % every < components else "pid_nozzle"
        properties = {"size": "DN50" if n // 7 % 2 else "DN80", "rating": "PN16", "material": "1.4571", "pressure": n % 40, "temperature": 20 + n % 180}
        position = {"x": n % 500 * 1.5, "y": n // 500 * 2.5, "width": 12, "height": 8}
        names = {"tag": f"V-{n:06}", "class": "gate_valve" if n % 2 else "pump", "line": f"{n // 40:04}-PL-50-A1", "description": f"Service of area {n // 900}, unit {n // 90}"}
        return {"id": f"N-{n}", "node_type": kind, **names, "properties": properties, "position": position}

    edges = [{"id": f"e{n}", "source": f"N-{n}", "target": f"N-{n + 1}", "edge_type": "piping", "line": f"{n // 40:04}-PL-50-A1", "attributes": {"nominal_diameter": 50, "insulation": "none"}} for n in range(count - 1)]
    return {"pid_graph": {"nodes": [node(n) for n in range(count)], "edges": edges, "metadata": {"drawing_name": "plant"}}}


def cpu(pids):
    """Returns the CPU time so far, in microseconds."""
    ticks = 0
    for pid in pids:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        ticks += int(stat[11]) + int(stat[12])
    return ticks * 1e6 / os.sysconf("SC_CLK_TCK")


def children(pid):
    return [int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def load(url, scenario, token, body, coding, folder):
    """Returns successful requests, requests per second, and median latency in microseconds."""
    script = folder / "wrk.lua"
    lines = [f'wrk.headers["Authorization"] = "Bearer {token}"']
    if coding != "identity":
        lines.append(f'wrk.headers["Accept-Encoding"] = "{coding}"')
    if body:
        lines += ['wrk.method = "POST"', f"wrk.body = {json.dumps(body)}", 'wrk.headers["Content-Type"] = "application/json"']
    script.write_text("\n".join(lines))
    wrk = ["wrk", f"-t{scenario.threads}", f"-c{scenario.connections}", f"-d{SECONDS}s", "--latency", "--timeout", "10s", "-s", str(script), url]
    output = subprocess.run(["taskset", "-c", scenario.wrk, *wrk], capture_output=True, text=True, check=True).stdout
    assert "Non-2xx" not in output and " 0 requests in" not in output, output
    number, unit = re.search(r"50%\s+([\d.]+)(us|ms|s)", output).groups()
    median = float(number) * {"us": 1, "ms": 1e3, "s": 1e6}[unit]
    return int(re.search(r"(\d+) requests in", output).group(1)), float(re.search(r"Requests/sec:\s+([\d.]+)", output).group(1)), median


def measure(server, row, token, folder):
    """Returns microseconds per request, requests per second, and median latency in microseconds."""
    url, pids, is_pidq = server
    name, scenario, _, graph, query, coding, _ = row
    path = f"/graph/{graph}" if is_pidq else f"/{name.replace(' ', '-')}"
    body = json.dumps({"query": query}) if query else None
    before = cpu(pids)
    count, rate, median = load(url + path, SCENARIOS[scenario], token, body, coding, folder)
    return (cpu(pids) - before) / max(count, 1), rate, median


def token_of(service):
    """Returns a token of the first client, which has all permissions."""
    form = {"grant_type": "client_credentials", "client_id": "pidq", "client_secret": SECRET, "scope": "read write"}
    return requests.post(service.url + "/o/token/", data=form, timeout=60, verify=service.verify).json()["access_token"]


def store_graphs(service, files):
    """Stores the graphs in a service, and its responses as files for the peers."""
    session = service.session(token_of(service))
    # CA settings of the environment would take precedence over the test CA.
    session.trust_env, session.verify = False, service.verify
    for name, (count, components, every, separator) in GRAPHS.items():
        text = json.dumps(generate_graph(count, components, every), separators=(separator, ":"))
        response = session.put(f"{service.url}/graph/{name}", data=text, headers={"Content-Type": "application/json"}, timeout=60)
        assert response.status_code == 201, response.text
    for name, _, _, graph, query, coding, _ in ROWS:
        session.headers["Accept-Encoding"] = coding
        address = f"{service.url}/graph/{graph}"
        response = session.post(address, json={"query": query}, stream=True, timeout=60) if query else session.get(address, stream=True, timeout=60)
        assert response.status_code == 200, response.text
        (files / name.replace(" ", "-")).write_bytes(response.raw.read(decode_content=False))


def create_services(folder, pair, ca_file):
    """Creates the services that the rows need, by cores, TLS and result cache."""
    services = {}
    for _, scenario, is_cached, *_ in ROWS:
        scenario = SCENARIOS[scenario]
        settings = {"command_prefix": ("taskset", "-c", scenario.server), "PIDQ_LOG_LEVEL": "error", "PIDQ_MAX_RESULT_SIZE": "64MiB"}
        if scenario.tls:
            settings |= {"ca_file": str(ca_file), "PIDQ_TLS_CERT": str(pair[0]), "PIDQ_TLS_KEY": str(pair[1])}
        if not is_cached:
            # Every request runs, since no result is cached.
            settings["PIDQ_RESULT_CACHE_SIZE"] = "0"
        key = (scenario.server, scenario.tls, is_cached)
        if key not in services:
            services[key] = Service(folder / f"data-{len(services)}", **settings)
    return services


def start_peers(folder, files, pair):
    """Starts the peer servers that the rows need: addresses and processes, by name, cores and TLS."""
    temporary = " ".join(f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    started = {}
    for cores, tls in {(SCENARIOS[row[1]].server, SCENARIOS[row[1]].tls) for row in ROWS}:
        pinned, scheme = ["taskset", "-c", cores], "https" if tls else "http"
        port = free_port()
        certificate = [str(file) for file in pair] if tls else []
        process = subprocess.Popen([*pinned, BARE, str(port), str(files), *certificate])
        started["bare", cores, tls] = (f"{scheme}://127.0.0.1:{port}", process, port)
        if find_program("nginx"):
            port = free_port()
            config = folder / f"nginx-{port}.conf"
            config.write_text(NGINX.format(folder=folder, port=port, temporary=temporary, ssl=" ssl" if tls else "",
                                           certificate=pair[0], key=pair[1], workers=len(cores.split(","))))
            process = subprocess.Popen([*pinned, find_program("nginx"), "-c", str(config), "-e", "stderr"], stderr=subprocess.DEVNULL)
            started["nginx", cores, tls] = (f"{scheme}://127.0.0.1:{port}", process, port)
    return started


def main():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="pidq-http-"))
    files = folder / "files"
    files.mkdir()
    os.chmod(folder, 0o755)
    authority, pair = CertificateAuthority(folder), (folder / "certificate.pem", folder / "key.pem")
    for file, content in zip(pair, authority.issue_server_certificate()):
        file.write_bytes(content)
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        services = {key: stack.enter_context(service) for key, service in create_services(folder, pair, authority.file).items()}
        for service in services.values():
            store_graphs(service, files)
        peers = start_peers(folder, files, pair)
        for _, process, port in peers.values():
            stack.callback(process.terminate)
        for _, process, port in peers.values():
            wait_for_port(port)
        print_table(services, peers, files, folder)


def servers(row, services, peers):
    """Returns the contestants of a row, with a token: the service, bare hyper, and nginx if it has the response as a file."""
    name, scenario, is_cached, _, query, *_ = row
    scenario = SCENARIOS[scenario]
    service = services[scenario.server, scenario.tls, is_cached]
    token = token_of(service)
    found = {"pidq": ((service.url, [service.process.pid], True), token)}
    for peer in ("bare", "nginx"):
        if (peer, scenario.server, scenario.tls) in peers and not (peer == "nginx" and query):
            url, process, _ = peers[peer, scenario.server, scenario.tls]
            found[peer] = ((url, [process.pid, *children(process.pid)], False), token)
    return found


def print_table(services, peers, files, folder):
    names = ["pidq", *sorted({name for name, *_ in peers})]
    print(f"{'':<16}{'bytes':>10}" + "".join(f"{name + ' us':>12}{'rps':>9}{'50% us':>9}" for name in names) + f"{'of bare':>10}{'goal':>7}")
    missed = 0
    for row in ROWS:
        best = {}
        contestants = servers(row, services, peers)
        for _ in range(ROUNDS):
            for name, (server, token) in contestants.items():
                measurement = measure(server, row, token, folder)
                best[name] = min(best.get(name, measurement), measurement)
        ratio, goal = best["bare"][0] / best["pidq"][0], row[6]
        missed += ratio < goal
        cells = "".join(f"{best[name][0]:>12.1f}{best[name][1]:>9.0f}{best[name][2]:>9.0f}" if name in best else f"{'':>30}" for name in names)
        print(f"{row[0]:<16}{(files / row[0].replace(' ', '-')).stat().st_size:>10}{cells}{ratio:>9.0%} {goal:>6.0%}{'' if ratio >= goal else '  missed'}", flush=True)
    print(f"{missed} of {len(ROWS)} missed" if missed else "all goals met")


main()
