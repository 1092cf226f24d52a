"""Tests of docs/deploy.md: commands that need no engine run, and the others name files, services and values that exist."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
import yaml

from conftest import DEPLOY, ROOT

PAGE = (ROOT / "docs/deploy.md").read_text()
BLOCKS = re.findall(r"^ *```sh\n(.*?)^ *```", PAGE, re.MULTILINE | re.DOTALL)
# Values of the chart, and objects of Kubernetes.
DOCUMENTS = [item for text in re.findall(r"^```yaml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL) for item in yaml.safe_load_all(text)]
# Commands of engines, of root, and with a test of their own; what they name is checked instead.
ELSEWHERE = {"scripts/models.sh", "docker", "helm", "kubectl", "install", "sudo", "systemctl", "systemd-sysusers", "mkdir"}
# Requests to running services, which the tests of the Compose file make.
OF_SERVICES = {"curl", "pidq health"}


def commands() -> list[str]:
    """Returns the commands of the page, one per entry."""
    text = "\n".join(BLOCKS).replace("\\\n", " ")
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def starting_with(*words: str) -> list[list[str]]:
    return [shlex.split(command) for command in commands() if set(words) & set(command.split()[:2])]


def test_commands_without_an_engine_run(pidq: Path, tmp_path: Path):
    """In one shell, in the order of the page, with a copy of the files."""
    shutil.copytree(DEPLOY, tmp_path / "deploy")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/pidq").symlink_to(pidq.resolve())
    script = [
        command
        for command in commands()
        if command.split()[0] not in ELSEWHERE and not any(command.startswith(start) for start in OF_SERVICES)
    ]
    assert len(script) >= 5, script
    environment = {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    run = subprocess.run(["bash", "-euxc", "\n".join(script)], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert "PIDQ1." in run.stdout, "a license"
    assert (tmp_path / "deploy/pidq.secrets").stat().st_mode & 0o777 == 0o600


def test_files_of_the_commands_exist():
    for command in commands():
        for path in re.findall(r"deploy/[\w./*-]+", command):
            is_written = path == "deploy/pidq.secrets"
            assert is_written or list(ROOT.glob(path)), f"{command}: {path}"


def test_compose_commands_name_services_and_both_files():
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    found = starting_with("docker")
    assert len(found) >= 5
    for command in found:
        if "compose" not in command:
            continue
        files = [command[at + 1] for at, word in enumerate(command) if word == "--env-file"]
        assert files == ["deploy/pidq.env", "deploy/pidq.secrets"] and "deploy" in command, command
        verb = next(word for word in command if word in ("up", "logs", "exec", "run"))
        rest = [word for word in command[command.index(verb) + 1 :] if not word.startswith("-")]
        if verb != "up":
            assert rest[0] in services, command
        assert all(word.split("=")[0] in services for word in rest if "=" in word and verb == "up"), command


def test_helm_commands_use_the_file_of_values():
    """`helm upgrade --set` would reset the values that are not repeated."""
    found = starting_with("helm")
    assert len(found) >= 3
    for command in found:
        assert "--set" not in command, command
        assert command[1] in ("install", "test") or command[-2:] == ["--values", "pidq.yaml"], command


def test_values_of_the_page_exist_and_fit_together():
    schema = json.loads((DEPLOY / "helm/pidq/values.schema.json").read_text())
    values = [block for block in DOCUMENTS if "kind" not in block]
    assert len(values) >= 5
    for block in values:
        jsonschema.Draft7Validator(schema).validate(block)


def test_objects_of_the_page_follow_the_schemas_of_kubernetes(tmp_path: Path):
    objects = [block for block in DOCUMENTS if "kind" in block]
    assert {item["kind"] for item in objects} == {"PersistentVolumeClaim", "Pod"}
    file = tmp_path / "objects.yaml"
    file.write_text(yaml.safe_dump_all(objects))
    validator = Path(sys.executable).with_name("kubernetes-validate")
    run = subprocess.run([validator, "-k", "1.35", "--strict", file], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize("line", [line for line in starting_with("install") if line[0] == "install"], ids=" ".join)
def test_installed_units_are_there(line: list[str]):
    *sources, target = line[3:]
    assert line[1] == "-m" and target.startswith("/"), line
    assert all(source in ("pidq", "pidq-extract") or list(ROOT.glob(source)) for source in sources)


def test_numbers_of_the_page_are_those_of_the_files():
    compose = (DEPLOY / "compose.yaml").read_text()
    for port in ("9464", "9465"):
        assert f"{port} (" in PAGE or f"port {port}" in PAGE, port
        assert f"0.0.0.0:{port}" in compose, port
    secrets = re.findall(r"^(\w+)=", (DEPLOY / "pidq.secrets.example").read_text(), re.MULTILINE)
    for name in secrets:
        assert f"`{name}`" in PAGE, name


def test_no_link_of_the_page_is_broken():
    headings = {re.sub(r"[^\w -]", "", line.lstrip("# ").lower()).replace(" ", "-") for line in PAGE.splitlines() if line.startswith("#")}
    for target in re.findall(r"\]\(([^)]+)\)", PAGE):
        file, _, anchor = target.partition("#")
        if file and "://" not in file:
            assert (ROOT / "docs" / file).exists(), target
        elif not file:
            assert anchor in headings, target
