"""S6: schemathesis tries the interface by its own document. That the document is the table is a test of the server."""

import pathlib
import re
import subprocess
import sys

from service import LONG, SECRET, WORK, Platform, drawing, goal

CASES = 5_000 if LONG else 300

# Query texts are in a language of their own, graphs have ends that must be there, forms depend on their grant: a schema
# cannot say so, and a refusal with one of these is as good as an answer.
CONFIG = """
[checks.positive_data_acceptance]
expected-statuses = ["2xx", "304", "400", "401", "403", "404", "409", "412", "422"]
"""


def test_schemathesis(service):
    session = service.session()
    for job in ("0", "A", "J-1"):
        service.put(session, job, drawing(3, job))
    tried("S6", service, session, 8)


def test_schemathesis_of_the_platform():
    settings = {"PIDQ_LLM_ALLOW": "https://llm.example/v1", "PIDQ_MAX_REQUESTS_PER_PRINCIPAL": "500", "PIDQ_APP_SECRET": SECRET}
    with Platform(**settings) as platform:
        session = platform.session()
        platform.pipeline(session)
        tried("S6-pipeline", platform, session, 30)


def tried(name, service, session, share):
    config = WORK / "schemathesis.toml"
    config.write_text(CONFIG)
    command = [
        str(pathlib.Path(sys.executable).with_name("st")),
        "--config-file", str(config), "run", service.url + "/openapi.json",
        "--header", "Authorization: " + session.headers["Authorization"],
        "--max-examples", str(max(CASES // share, 10)), "--continue-on-failure", "--no-color", "--seed", "7",
        "--request-timeout", "30", "--checks", "all", "--suppress-health-check", "all",
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3_000, check=False, cwd=WORK)
    (WORK / "schemathesis.log").write_text(done.stdout + done.stderr)
    cases = sum(int(n) for n in re.findall(r"(\d+) generated", done.stdout))
    found = re.search(r"(\d+) found", done.stdout) or re.search(r"(\d+) unique failures?", done.stdout)
    findings = int(found.group(1)) if found else (0 if done.returncode == 0 else 1)
    if findings:
        print(done.stdout[-12_000:])
    goal(name, {"cases": cases, "findings": findings}, f">={CASES},0", cases >= CASES and findings == 0)
