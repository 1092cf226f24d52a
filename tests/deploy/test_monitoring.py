"""Tests of the alert rules, the dashboard and the metrics that both use, by promtool and against the tables of metrics."""

import json
import os
import re
import subprocess
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from conftest import DEPLOY, ROOT, needs

RULES = DEPLOY / "prometheus/alerts.yaml"
RULE_TESTS = sorted((DEPLOY / "prometheus").glob("*_test.yaml"))
ALERTS = [rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]]
DASHBOARD = json.loads((DEPLOY / "grafana/pidq.json").read_text())
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
PAGE = (ROOT / "docs/monitoring.md").read_text()
# Variables of Grafana, and values with which an expression is valid.
VARIABLES = {"$__rate_interval": "5m", "$instance": ".*", "$prompt_price": "1", "$completion_price": "1"}
# Labels that Prometheus adds, or that samples of histograms have.
OTHER_LABELS = {"instance", "job", "le"}


@pytest.fixture(scope="session")
def metrics(pidq: Path) -> dict[str, tuple[str, set[str]]]:
    """Type and labels of each metric, from the manual."""
    table = {}
    for page in ("operate", "pipeline"):
        text = subprocess.run([pidq, "manual", page], capture_output=True, text=True, check=True).stdout
        for name, kind, labels in re.findall(r"^\| `(pidq_\w+)` \| (counter|gauge|histogram) \| (.*?) \|", text, re.M):
            table[name] = (kind, set(re.findall(r"`(\w+)`", labels)))
    assert len(table) > 25
    return table


def samples(metrics: dict) -> dict[str, set[str]]:
    """Returns the labels of each sample that Prometheus stores."""
    found = {"up": set()}
    for name, (kind, labels) in metrics.items():
        for suffix in ("_bucket", "_count", "_sum") if kind == "histogram" else ("",):
            found[name + suffix] = labels
    return found


def check_names(expression: str, metrics: dict) -> None:
    """Fails if an expression uses a metric or a label that does not exist."""
    known = samples(metrics)
    for name, _, selectors in re.findall(r'\b(pidq_\w+|up)\b(\{((?:[^"{}]|"[^"]*")*)\})?', expression):
        assert name in known, f"{name} in {expression}"
        for label in re.findall(r'(\w+)\s*(?:=~|!~|!=|=)\s*"', selectors):
            assert label in known[name] | OTHER_LABELS, f"{label} of {name} in {expression}"


def promtool(*arguments: object, stdin: str | None = None) -> str:
    """Runs promtool, and returns its output; fails if it reports an error."""
    needs("promtool")
    run = subprocess.run(["promtool", *map(str, arguments)], input=stdin, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout + run.stderr


def test_rules_are_valid_and_alert_when_they_should():
    promtool("check", "rules", RULES)
    promtool("test", "rules", *RULE_TESTS)


def test_each_alert_has_a_case_in_which_it_fires_and_one_in_which_it_does_not():
    tests = [test for file in RULE_TESTS for test in yaml.safe_load(file.read_text())["tests"]]
    cases = [check for test in tests for check in test["alert_rule_test"]]
    for fires in (True, False):
        assert sorted({case["alertname"] for case in cases if bool(case["exp_alerts"]) == fires}) == sorted(rule["alert"] for rule in ALERTS)


def test_promtool_notices_an_alert_that_does_not_fire(tmp_path: Path):
    needs("promtool")
    (tmp_path / "alerts.yaml").write_text(RULES.read_text().replace("> 0.02", "> 0.2"))
    (tmp_path / "alerts_test.yaml").write_text(RULE_TESTS[0].read_text())
    run = subprocess.run(["promtool", "test", "rules", tmp_path / "alerts_test.yaml"], capture_output=True, text=True)
    assert run.returncode != 0 and "PidqErrors" in run.stdout + run.stderr


def test_alerts_use_existing_metrics_and_labels(metrics: dict):
    for rule in ALERTS:
        check_names(rule["expr"], metrics)


def test_a_misspelled_metric_or_label_is_noticed(metrics: dict):
    for expression in ("rate(pidq_http_request_total[5m])", 'pidq_pipeline_jobs{kid="ingest"}', "pidq_http_request_seconds"):
        with pytest.raises(AssertionError):
            check_names(expression, metrics)


def test_each_alert_links_to_its_first_steps():
    table = dict(re.findall(r"^\| \[(\w+)\]\(#\w+\) \| (\w+) \|", PAGE, re.M))
    headings = re.findall(r"^### (Pidq\w+)$", PAGE, re.M)
    assert table == {rule["alert"]: rule["labels"]["severity"] for rule in ALERTS}
    assert sorted(headings) == sorted(table)
    for rule in ALERTS:
        link = rule["annotations"]["runbook_url"]
        assert link == f"https://github.com/pidq/pidq/blob/main/docs/monitoring.md#{rule['alert'].lower()}"


def test_the_page_names_existing_settings(pidq: Path):
    manual = "".join(
        subprocess.run([pidq, "manual", page], capture_output=True, text=True, check=True).stdout
        for page in ("operate", "pipeline", "dashboard")
    )
    for name in set(re.findall(r"`(PIDQ_\w+)", PAGE)):
        assert f"`{name}`" in manual, name
    for panel in re.findall(r"\*([A-Z][^*,]+)\*", PAGE):
        assert panel in {panel["title"] for panel in PANELS} or any(p["title"].startswith(panel) for p in PANELS), panel


def test_configurations_of_the_page_are_valid(tmp_path: Path):
    (tmp_path / "alerts.yaml").write_text(RULES.read_text())
    blocks = re.findall(r"^```yaml\n(scrape_configs.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 2
    for number, block in enumerate(blocks):
        file = tmp_path / f"prometheus-{number}.yaml"
        file.write_text(block)
        assert "SUCCESS" in promtool("check", "config", file)


def test_counters_of_alerts_exist_before_their_first_event(namespace, pidq: Path, tmp_path: Path):
    """Prometheus computes no increase from a series that begins with its first event."""
    with service(pidq, tmp_path, "up") as (_, admin):
        scraped = fetch(f"{admin}/metrics")
    for series in (
        'pidq_http_connections_broken_total{reason="accept"}',
        'pidq_http_certificate_reloads_total{reason="failed"}',
        'pidq_pipeline_documents_failed_total{code="corrupt-document"}',
        'pidq_pipeline_documents_failed_total{code="too-many-chunks"}',
    ):
        assert f"{series} 0" in scraped, series


def test_every_expression_of_the_dashboard_is_valid(metrics: dict, tmp_path: Path):
    expressions = [target["expr"] for panel in PANELS for target in panel["targets"]]
    for expression in expressions:
        check_names(expression, metrics)
    for name, value in VARIABLES.items():
        expressions = [expression.replace(name, value) for expression in expressions]
    assert not [expression for expression in expressions if "$" in expression]
    rules = [{"record": f"panel:{number}", "expr": expression} for number, expression in enumerate(expressions)]
    file = tmp_path / "panels.yaml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}))
    assert f"{len(rules)} rules found" in promtool("check", "rules", file)


def test_the_dashboard_shows_every_metric(metrics: dict):
    text = json.dumps(DASHBOARD)
    assert [name for name in metrics if not re.search(rf"\b{name}(_bucket)?\b", text)] == []


def test_the_panels_of_the_dashboard_do_not_overlap():
    taken = set()
    identifiers = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(identifiers) == len(set(identifiers))
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        cells = {(place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])}
        assert not cells & taken and place["x"] + place["w"] <= 24, panel["title"]
        taken |= cells
    for panel in PANELS:
        assert panel["datasource"]["uid"] == "${datasource}" and panel["description"].endswith("."), panel["title"]


@contextmanager
def service(pidq: Path, directory: Path, *command: str):
    """Starts a service; yields the URLs of its API and of its metrics."""
    arguments = [pidq, *command, "--data-dir", directory, "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"]
    variables = os.environ | {"PIDQ_ADMIN_PASSWORD": "a long password", "PIDQ_CLIENT_SECRET": "x" * 40, "PIDQ_DASHBOARD_LISTEN": ""}
    process = subprocess.Popen(arguments, env=variables, stderr=subprocess.PIPE, text=True)
    try:
        addresses = []
        while len(addresses) < 2:
            line = process.stderr.readline()
            assert line, "the service does not start"
            addresses += [record["address"] for record in [json.loads(line)] if record.get("message") == "listening"]
        yield [f"http://{address}" for address in addresses]
    finally:
        process.kill()
        process.wait()


def fetch(url: str, body: bytes | None = None, kind: str = "application/json") -> str:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, body, {"Content-Type": kind}), timeout=30) as response:
            return response.read().decode()
    except urllib.error.HTTPError as error:
        return error.read().decode()


@pytest.mark.parametrize("command", ["serve", "pipeline serve", "up"])
def test_the_metrics_of_a_running_service_follow_the_conventions(namespace, command: str, pidq: Path, metrics: dict, tmp_path: Path):
    with service(pidq, tmp_path, *command.split()) as (api, admin):
        for path in ("/graph/none", "/api/pipelines", "/nowhere", "/version"):
            fetch(api + path)
        fetch(f"{api}/o/token/", b"grant_type=password", "application/x-www-form-urlencoded")
        time.sleep(0.2)
        scraped = fetch(f"{admin}/metrics")
    assert promtool("check", "metrics", stdin=scraped).strip() == ""
    described = dict(re.findall(r"^# TYPE (\w+) (\w+)$", scraped, re.M))
    table = {name: kind for name, (kind, _) in metrics.items()}
    for name, kind in described.items():
        assert table.get(name) == kind, f"{name} is not in the manual"
    prefixes = ["pidq_http_", "pidq_process_"]
    prefixes += ["pidq_server_"] if command != "pipeline serve" else []
    prefixes += ["pidq_pipeline_"] if command != "serve" else []
    # Redis and NATS are not configured.
    expected = {name for name in table if name.startswith(tuple(prefixes))} - {"pidq_pipeline_dependency_up"}
    assert expected <= set(described), "the manual names metrics that are not exposed"


def test_promtool_notices_a_bad_metric():
    needs("promtool")
    bad = "# HELP pidq_waits_milliseconds Time.\n# TYPE pidq_waits_milliseconds counter\npidq_waits_milliseconds 1\n"
    run = subprocess.run(["promtool", "check", "metrics"], input=bad, capture_output=True, text=True)
    assert run.returncode != 0 and "_total" in run.stdout + run.stderr
