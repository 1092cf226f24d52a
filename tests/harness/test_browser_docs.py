"""`/docs` in a real browser: all operations are shown, and the page's Content-Security-Policy blocks none of its resources."""

import html
import http.server
import re
import shutil
import subprocess
import tempfile
import threading

import pytest
import requests
from service import WORK, goal

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

# A policy that blocks the page's own style, to verify that the browser reports violations.
STRICT_POLICY = "default-src 'none'"
PAGE = b"<!doctype html><title>x</title><style>body{color:red}</style><p>x</p>"


def browse(url, *options):
    """Returns the DOM of a page and the browser's console output."""
    with tempfile.TemporaryDirectory(prefix="pidq-browser-") as profile:
        command = [
            BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
            "--no-first-run", "--disable-extensions", "--disable-background-networking", "--enable-logging=stderr",
            "--window-size=1280,1600", f"--user-data-dir={profile}", *options, url,
        ]
        process = subprocess.run(command, capture_output=True, text=True, timeout=180, check=False)
    console = [line for line in process.stderr.splitlines() if ":CONSOLE" in line]
    return process.stdout, console


def policy_violations():
    """Returns the console output of a page that violates its own policy."""

    class ViolatingPage(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Security-Policy", STRICT_POLICY)
            self.end_headers()
            self.wfile.write(PAGE)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), ViolatingPage) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        _, console = browse(f"http://127.0.0.1:{server.server_port}/", "--dump-dom")
        server.shutdown()
    return console


@pytest.mark.skipif(not BROWSER, reason="there is no Chromium (Debian: chromium)")
def test_docs_in_a_browser(service):
    assert policy_violations(), "the console must show violations of a policy, or this test could not fail"
    document, console = browse(service.url + "/docs", "--dump-dom")
    assert not console, console
    policy = requests.get(service.url + "/docs", timeout=10).headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy, policy
    openapi = requests.get(service.url + "/openapi.json", timeout=10).json()
    expected = {(method.upper(), path) for path, methods in openapi["paths"].items() for method in methods}
    heads = re.findall(r"<h3><span[^>]*>([A-Z]+)</span><code>([^<]*)</code></h3>", document)
    found = {(method, html.unescape(path)) for method, path in heads}
    links = set(re.findall(r'<a href="#([^"]+)">', document))
    dead = links - set(re.findall(r'<article id="([^"]+)">', document))
    screenshot = WORK / "docs.png"
    browse(service.url + "/docs", f"--screenshot={screenshot}")
    assert screenshot.stat().st_size > 10_000, "the page is empty"
    missing = len(expected - found)
    goal("docs", {"operations": len(found), "missing": missing, "dead_links": len(dead)}, "0,0", not missing and not dead)
