"""S10: request smuggling, direct and behind nginx and haproxy: a request hidden in a body is never processed."""

import contextlib
import re
import shutil
import socket
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from service import Service, free_port, goal
from smuggling_requests import all_requests

NGINX = """
daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/nginx.error;
events {{}}
http {{
  access_log off;
  {temporary}
  upstream pidq {{ server 127.0.0.1:{server}; keepalive 1; }}
  server {{
    listen 127.0.0.1:{port};
    location / {{ proxy_pass http://pidq; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_request_buffering off; }}
  }}
}}
"""

HAPROXY = """
defaults
  mode http
  timeout connect 2s
  timeout client 10s
  timeout server 10s
  http-reuse always
frontend outside
  bind 127.0.0.1:{port}
  default_backend pidq
backend pidq
  server pidq 127.0.0.1:{server} pool-max-conn 1
"""


@contextlib.contextmanager
def proxy(name, service):
    """Starts a proxy in front of the service."""
    port, folder = free_port(), service.folder
    temporary = " ".join(f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    content = {"nginx": NGINX, "haproxy": HAPROXY}[name].format(folder=folder, port=port, server=service.port, temporary=temporary)
    config = folder / f"{name}.conf"
    config.write_text(content)
    options = {"nginx": ["-c", str(config), "-e", "stderr"], "haproxy": ["-q", "-f", str(config)]}[name]
    with subprocess.Popen([find_program(name), *options], stderr=subprocess.DEVNULL) as process:
        try:
            wait_for_port(port)
            yield port
        finally:
            process.terminate()


def find_program(name):
    """Returns the path of a program; servers are often not on the PATH."""
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin")


def wait_for_port(port):
    deadline = time.monotonic() + 10
    while True:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        assert time.monotonic() < deadline, "the proxy does not get ready"
        time.sleep(0.02)


def exchange(port, data, timeout):
    """Returns all received data, and True if the other side closed the connection."""
    received = b""
    with socket.create_connection(("127.0.0.1", port), timeout=timeout) as connection:
        try:
            connection.sendall(data)
            while block := connection.recv(65_536):
                received += block
        except (ConnectionResetError, BrokenPipeError):
            return received, True
        except TimeoutError:
            return received, False
    return received, True


def check_next_responses(port, number):
    """Returns an error unless each of the next requests gets its own response."""
    for n in range(3):
        name = f"after-{number}-{n}"
        request = f"GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Request-Id: {name}\r\n\r\n"
        received, _ = exchange(port, request.encode(), 5)
        if not received.startswith(b"HTTP/1.1 200") or name.encode() not in received:
            return f"the next request received {received[:200]!r}"
    return None


def statuses(received):
    return [int(status) for status in re.findall(rb"HTTP/1\.[01] (\d\d\d)", received)]


def check_direct(port, number, data, expected):
    """Returns an error unless the service itself handles a request correctly."""
    received, is_closed = exchange(port, data, 0.4 if expected else 3)
    found_statuses = statuses(received)
    if b"smuggled" in received or found_statuses.count(404) > 0:
        return f"the hidden request was processed: {received!r}"
    if expected and len(found_statuses) != expected:
        return f"{found_statuses} instead of {expected}"
    if not expected and (found_statuses != [400] or not is_closed):
        return f"{found_statuses}, {'closed' if is_closed else 'open'}"
    return check_next_responses(port, number)


def check_proxied(port, number, data, _expected):
    """Returns an error unless every request behind a proxy gets its own response. The proxy may reject a request, normalize it or see two."""
    exchange(port, data, 0.3)
    return check_next_responses(port, number)


def test_smuggling():
    cases = list(all_requests())
    with Service() as service, contextlib.ExitStack() as stack:
        routes = {"direct": (service.port, check_direct)}
        for name in ("nginx", "haproxy"):
            if find_program(name):
                routes[name] = (stack.enter_context(proxy(name, service)), check_proxied)

        def run_all(route):
            port, check = routes[route]
            results = [(route, name, check(port, number, data.encode("utf-8"), expected)) for number, (name, data, expected) in enumerate(cases)]
            return [row for row in results if row[2]]

        with ThreadPoolExecutor(len(routes)) as pool:
            wrong = [row for rows in pool.map(run_all, routes) for row in rows]
        for row in wrong:
            print("WRONG", row)
        invalid = sum(not expected for _, _, expected in cases)
        measurements = {"requests": len(cases), "invalid": invalid, "routes": "+".join(routes), "wrong": len(wrong)}
        goal("S10", measurements, ">=60,0", not wrong and len(cases) >= 60)
        if len(routes) < 3:
            pytest.skip("nginx or haproxy is not installed: the requests went to the service only")
