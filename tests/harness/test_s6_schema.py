"""S6: schemathesis tries the interface by its own document. That the document is the table is a test of the server."""

import re
import subprocess
import sys

from service import LONG, WORK, drawing, goal

CASES = 5_000 if LONG else 300

# What the document cannot say, each with its reason:
# - a token is alive or dead by what other requests do (`/o/revoke_token/`), which the checks of resources cannot know;
# - query texts are in a language of their own: that a text is no query is not in its schema, so that 4xx is no fault.
CONFIG = """
[checks]
positive_data_acceptance.enabled = false
"""


def test_schemathesis(service):
    session = service.session()
    for job in ("0", "A", "J-1"):
        service.put(session, job, drawing(3, job))
    config = WORK / "schemathesis.toml"
    config.write_text(CONFIG)
    command = [
        sys.executable.replace("python", "st") if False else str(WORK / "venv/bin/st"),
        "--config-file", str(config), "run", service.url + "/openapi.json",
        "--header", session.headers["Authorization"].join(["Authorization: ", ""]),
        "--max-examples", str(max(CASES // 17, 10)), "--continue-on-failure", "--no-color", "--seed", "7",
        "--request-timeout", "30", "--checks", "all", "--suppress-health-check", "all",
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3_000, check=False, cwd=WORK)
    (WORK / "schemathesis.log").write_text(done.stdout + done.stderr)
    cases = sum(int(n) for n in re.findall(r"(\d+) generated", done.stdout))
    found = re.search(r"(\d+) found", done.stdout) or re.search(r"(\d+) unique failures?", done.stdout)
    findings = int(found.group(1)) if found else (0 if done.returncode == 0 else 1)
    if findings:
        print(done.stdout[-12_000:])
    goal("S6", {"cases": cases, "findings": findings}, f">={CASES},0", cases >= CASES and findings == 0)
