"""S6: the OpenAPI document is valid, and schemathesis tests the API by it; that it equals the route table is tested by the server."""

import contextlib
import http.server
import json
import pathlib
import re
import subprocess
import sys
import threading

import openapi_spec_validator
import requests
from service import LONG, SECRET, WORK, Platform, drawing, goal

CASES = 5_000 if LONG else 300

# 428 is the status of RFC 6585 for a missing condition.
CONFIG = """
[checks.missing_required_header]
expected-statuses = ["400", "401", "403", "406", "415", "422", "428"]
"""

# A schema cannot express the query language, the signature of a cursor, two parameters that must agree, the credentials of a
# login, or a file format: requests of these operations that match the schema may be rejected. All others must not be.
GRAPH_CONFIG = """
[checks.positive_data_acceptance]
expected-statuses = ["2xx", "304", "401", "403", "404", "409", "412"]

[[operations]]
include-path-regex = "^/graph(/|$)"
checks.positive_data_acceptance.expected-statuses = ["2xx", "304", "400", "401", "403", "404", "409", "412", "422"]

[[operations]]
include-path = "/o/token/"
checks.positive_data_acceptance.expected-statuses = ["2xx", "400", "401"]
"""

# As above; an event stream does not end.
PLATFORM_CONFIG = """
[checks.positive_data_acceptance]
expected-statuses = ["2xx", "304", "400", "401", "403", "404", "409", "412", "422"]

[[operations]]
include-path = "/api/events"
request-timeout = 2

[[operations]]
include-path-regex = "/(documents|preview)$"
checks.positive_data_acceptance.expected-statuses = ["2xx", "304", "400", "401", "403", "404", "409", "412", "415", "422"]
"""


def test_schemathesis(service):
    session = service.session()
    for graph_id in ("0", "A", "J-1"):
        service.put(session, graph_id, drawing(3, graph_id))
    run_schemathesis("S6", service, session, 8)


def test_platform_schemathesis():
    """Tests first with random ids, then with existing ones, because requests with random ids end with 404."""
    with language_model() as url:
        settings = {"PIDQ_LLM_ALLOW": url, "PIDQ_REQUESTS_PER_CALLER_LIMIT": "500", "PIDQ_APP_SECRET": SECRET}
        with Platform(**settings) as platform:
            session = platform.session()
            run_schemathesis("S6-pipeline", platform, session, 50)
            # Stateful tests also delete resources that they find in lists.
            ids = create_resources(platform, session, url)
            run_schemathesis("S6-pipeline-known", platform, session, 36, ids)


@contextlib.contextmanager
def language_model():
    """Starts a language model with one fixed answer and returns its URL."""

    class Model(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.respond({"data": [{"id": "plant-model"}]})

        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            message = {"role": "assistant", "content": "It is closed [1]."}
            self.respond({"choices": [{"message": message, "finish_reason": "stop"}]})

        def respond(self, value):
            body = json.dumps(value).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()


def create_resources(platform, session, url):
    """Creates one resource of each kind and returns the ids by path parameter."""
    api = platform.url + "/api"
    pipeline = platform.pipeline(session)
    form = {"file": ("a.txt", "Valve HV-1 is closed."), "classification": (None, "manual")}
    document = session.post(f"{api}/pipelines/{pipeline}/documents?wait=60", files=form, timeout=90)
    endpoint = {"api_key": "none", "model": "plant-model", "base_url": url}
    query = {"query": "valve HV-1", "classification": "manual", "llm_endpoint": endpoint}
    responses = {
        "document_id": document,
        "query_id": session.post(f"{api}/pipelines/{pipeline}/query", json=query, timeout=60),
        "connection_id": session.post(f"{api}/llm-connections", json={"name": "plant", **endpoint}, timeout=30),
        "key_id": session.post(f"{api}/keys", json={"name": "plant", "scopes": ["query"]}, timeout=30),
        "webhook_id": session.post(f"{api}/webhooks", json={"url": url}, timeout=30),
        "operation_id": session.post(f"{api}/pipelines/{pipeline}/reindex", json={}, timeout=30),
    }
    for name, response in responses.items():
        assert response.ok, f"{name}: {response.text}"
    return {"pipeline_id": pipeline, "base_url": url} | {name: response.json()["id"] for name, response in responses.items()}


def settings_with_ids(ids):
    """Returns settings that put existing ids into all requests except deletions: always into paths, mostly into bodies."""
    paths = [f'"path.{name}" = "{value}"' for name, value in ids.items() if name != "base_url"]
    bodies = {
        "classification": "manual", "embedding_model": "hash-512", "text_splitter": "recursive_character",
        "llm_connection": ids["connection_id"], "base_url": ids["base_url"], "llm_endpoint.base_url": ids["base_url"],
    }
    lists = [f"[dictionaries.d{n}]\nvalues = [\"{value}\"]\n" for n, value in enumerate(bodies.values())]
    fields = [f'"body.{name}" = {{ dictionary = "d{n}", probability = 0.8 }}' for n, name in enumerate(bodies)]
    return "\n".join([*lists, '[[operations]]\nexclude-method = "DELETE"', f"parameters = {{ {', '.join(paths + fields)} }}\n", PLATFORM_CONFIG])


def run_schemathesis(name, service, session, divisor, ids=None):
    openapi_spec_validator.validate(requests.get(service.url + "/openapi.json", timeout=30).json())
    config = WORK / "schemathesis.toml"
    specific = settings_with_ids(ids) if ids else GRAPH_CONFIG if name == "S6" else PLATFORM_CONFIG
    config.write_text(CONFIG + specific)
    command = [
        str(pathlib.Path(sys.executable).with_name("st")),
        "--config-file", str(config), "run", service.url + "/openapi.json",
        "--header", "Authorization: " + session.headers["Authorization"],
        "--max-examples", str(max(CASES // divisor, 10)), "--continue-on-failure", "--no-color", "--seed", "7",
        "--request-timeout", "30", "--checks", "all", "--suppress-health-check", "all",
        # Stateful tests delete resources.
        *(["--phases", "examples,coverage,fuzzing"] if ids else []),
    ]
    process = subprocess.run(command, capture_output=True, text=True, timeout=3_000, check=False, cwd=WORK)
    (WORK / f"{name}.log").write_text(process.stdout + process.stderr)
    cases = sum(int(n) for n in re.findall(r"(\d+) generated", process.stdout))
    found = re.search(r"(\d+) found", process.stdout) or re.search(r"(\d+) unique failures?", process.stdout)
    findings = int(found.group(1)) if found else (0 if process.returncode == 0 else 1)
    if findings:
        print(process.stdout[-12_000:])
    goal(name, {"cases": cases, "findings": findings}, f">={CASES},0", cases >= CASES and findings == 0)
