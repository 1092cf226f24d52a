"""Tests of the systemd units."""

import re
import subprocess
from pathlib import Path

import pytest

from conftest import DEPLOY, needs

UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
# Highest exposure: 0 is no access to anything, 10 is a service without restrictions.
MAXIMUM_EXPOSURE = 2.0


def test_there_is_a_unit_for_each_kind_of_process():
    assert [unit.name for unit in UNITS] == ["pidq-dashboard.service", "pidq-worker.service", "pidq.service"]


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_exposure_is_low(unit: Path):
    needs("systemd-analyze")
    command = ["systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=20", unit]
    run = subprocess.run(command, capture_output=True, text=True)
    found = re.search(r"exposure level for \S+: ([\d.]+)", run.stdout)
    assert found and float(found[1]) <= MAXIMUM_EXPOSURE, run.stdout + run.stderr


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_directives_are_known(unit: Path, tmp_path: Path):
    needs("systemd-analyze")
    # The program need not be installed here.
    copy = tmp_path / unit.name
    copy.write_text(unit.read_text().replace("/usr/local/bin/pidq", "/bin/true"))
    run = subprocess.run(["systemd-analyze", "verify", "--man=no", copy], capture_output=True, text=True)
    complaints = [line for line in run.stderr.splitlines() if unit.name in line or str(copy) in line]
    assert complaints == []


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_the_command_and_its_settings_exist(unit: Path, pidq: Path):
    command = re.search(r"^ExecStart=/usr/local/bin/pidq (.*)$", unit.read_text(), re.MULTILINE)[1]
    run = subprocess.run([pidq, *command.split(), "--help"], capture_output=True, text=True, check=True)
    environment = re.findall(r"^Environment=(.*)$", unit.read_text(), re.MULTILINE)
    for name in re.findall(r"(PIDQ_\w+)=", " ".join(environment)):
        flag = "--" + name.removeprefix("PIDQ_").lower().replace("_", "-")
        assert f"  {flag} " in run.stdout or f"  {name} " in run.stdout, name


def test_the_account_is_that_of_the_units():
    account = (DEPLOY / "systemd/pidq.sysusers.conf").read_text().splitlines()[-1].split()
    users = {re.search(r"^User=(\w+)$", unit.read_text(), re.MULTILINE)[1] for unit in UNITS}
    assert {account[1]} == users
