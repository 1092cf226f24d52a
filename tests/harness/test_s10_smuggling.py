"""S10: request smuggling, direct and behind nginx and haproxy: a request hidden in a body is never answered."""

import contextlib
import re
import shutil
import socket
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from framings import all_of_them
from service import Service, free_port, goal

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
    text = {"nginx": NGINX, "haproxy": HAPROXY}[name].format(folder=folder, port=port, server=service.port, temporary=temporary)
    config = folder / f"{name}.conf"
    config.write_text(text)
    options = {"nginx": ["-c", str(config), "-e", "stderr"], "haproxy": ["-q", "-f", str(config)]}[name]
    with subprocess.Popen([program(name), *options], stderr=subprocess.DEVNULL) as process:
        try:
            wait_for(port)
            yield port
        finally:
            process.terminate()


def program(name):
    """Finds a program; servers are often not on the PATH."""
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin")


def wait_for(port):
    end = time.monotonic() + 10
    while True:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        assert time.monotonic() < end, "the proxy does not get ready"
        time.sleep(0.02)


def answers(port, data, timeout):
    """Returns all received data, and True if the other side closed the connection."""
    got = b""
    with socket.create_connection(("127.0.0.1", port), timeout=timeout) as line:
        try:
            line.sendall(data)
            while block := line.recv(65_536):
                got += block
        except (ConnectionResetError, BrokenPipeError):
            return got, True
        except TimeoutError:
            return got, False
    return got, True


def follow(port, number):
    """Returns True if subsequent requests get their own responses."""
    for turn in range(3):
        name = f"after-{number}-{turn}"
        request = f"GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Request-Id: {name}\r\n\r\n"
        got, _ = answers(port, request.encode(), 5)
        if not got.startswith(b"HTTP/1.1 200") or name.encode() not in got:
            return f"the next one got {got[:200]!r}"
    return None


def statuses(got):
    return [int(status) for status in re.findall(rb"HTTP/1\.[01] (\d\d\d)", got)]


def direct(port, number, data, expected):
    """Returns the errors in the responses to a request."""
    got, is_closed = answers(port, data, 0.4 if expected else 3)
    seen = statuses(got)
    if b"smuggled" in got or seen.count(404) > 0:
        return f"the hidden request was answered: {got!r}"
    if expected and len(seen) != expected:
        return f"{seen} instead of {expected}"
    if not expected and (seen != [400] or not is_closed):
        return f"{seen}, {'closed' if is_closed else 'open'}"
    return follow(port, number)


def behind(port, number, data, _expected):
    """Returns the errors behind a proxy, which may reject a request, normalize it or see two; every request must get its own response."""
    answers(port, data, 0.3)
    return follow(port, number)


def test_smuggling():
    framings = list(all_of_them())
    with Service() as service, contextlib.ExitStack() as stack:
        ways = {"direct": (service.port, direct)}
        for name in ("nginx", "haproxy"):
            if program(name):
                ways[name] = (stack.enter_context(proxy(name, service)), behind)

        def run_all(way):
            port, check = ways[way]
            found = [(way, name, check(port, number, data.encode("utf-8"), expected)) for number, (name, data, expected) in enumerate(framings)]
            return [row for row in found if row[2]]

        with ThreadPoolExecutor(len(ways)) as pool:
            wrong = [row for rows in pool.map(run_all, ways) for row in rows]
        for row in wrong:
            print("WRONG", row)
        bad = sum(not expected for _, _, expected in framings)
        measurements = {"framings": len(framings), "bad": bad, "ways": "+".join(ways), "wrong": len(wrong)}
        goal("S10", measurements, ">=60,0", not wrong and len(framings) >= 60)
        if len(ways) < 3:
            pytest.skip("nginx or haproxy is not there: the framings went to the service alone")
