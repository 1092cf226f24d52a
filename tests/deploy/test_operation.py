"""Tests of what an operator reads at the start of the processes: wrong settings, changed secrets, files that all processes share."""

import json
import re
import subprocess
import urllib.parse
from collections.abc import Callable
from pathlib import Path

import pytest

from api import send
from replicas import DASHBOARD_PASSWORD, MASTER_KEY, MASTER_SECRET, Process, postgres_server, wait_until

ADDRESS, DASHBOARD_ADDRESS = "127.0.5.1:8000", "127.0.5.1:3000"
CLIENT_SECRET = "secret-of-the-dashboard-client-0123456789"
# One file of settings for the API, workers and the dashboard, as the systemd units and an image have it.
SHARED = {
    "PIDQ_LISTEN": ADDRESS,
    "PIDQ_DASHBOARD_LISTEN": DASHBOARD_ADDRESS,
    "PIDQ_ADMIN_LISTEN": "",
    "PIDQ_INSECURE_HTTP": "on",
    "PIDQ_API_URL": f"http://{ADDRESS}",
    "PIDQ_APP_SECRET": "a-secret-of-the-operator-with-enough-characters",
    "PIDQ_APP_MASTER_KEY": MASTER_KEY,
    "PIDQ_APP_MASTER_SECRET": MASTER_SECRET,
    "PIDQ_ADMIN_PASSWORD": DASHBOARD_PASSWORD,
    "PIDQ_CLIENT_ID": "pidq",
    "PIDQ_CLIENT_SECRET": CLIENT_SECRET,
    "PIDQ_SHUTDOWN_DELAY": "0s",
}


@pytest.fixture(scope="module")
def database(namespace, work: Path):
    """Directory for the processes, and the address of a PostgreSQL server."""
    with postgres_server(work, "operation", "127.0.0.6") as (directory, url):
        yield directory, url


def run(pidq: Path, *arguments: str | Path, **settings: str) -> subprocess.CompletedProcess:
    return subprocess.run([pidq, *arguments], env=settings, capture_output=True, text=True, timeout=60)


class Log:
    """Lines that a process wrote in one run."""

    def __init__(self, text: str):
        self.text = text
        self.lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]

    def warnings(self) -> list[str]:
        return [line["message"] for line in self.lines if line["level"] in ("WARN", "ERROR")]


def run_until(
    pidq: Path,
    work: Path,
    command: list[str],
    settings: dict[str, str],
    pattern: str,
    name: str,
    once_listening: Callable[[], None] | None = None,
) -> Log:
    """Runs a process until its log matches a pattern, and a moment longer; returns its log."""
    process = Process(name, [str(pidq), *command], work, settings)
    process.log.unlink(missing_ok=True)
    process.start()
    try:

        def is_there(pattern: str) -> bool:
            text = process.log.read_text()
            assert process.process.poll() is None, text
            return re.search(pattern, text) is not None

        if once_listening:
            wait_until(lambda: is_there('"listening"'), f"start of {name}")
            once_listening()
        wait_until(lambda: is_there(pattern), f"{pattern} in the log of {name}")
        assert process.stop() == 0
        return Log(process.log.read_text())
    finally:
        process.kill()


def up(pidq: Path, work: Path, until: str = '"listening"', password: str | None = None, **settings: str) -> Log:
    data = {"PIDQ_DATA_DIR": str(work / "data"), "PIDQ_DASHBOARD_LISTEN": ""}
    login = (lambda: sign_in(password)) if password else None
    return run_until(pidq, work, ["up"], SHARED | data | settings, until, "up", login)


def sign_in(password: str) -> None:
    """Tries to sign in as the first account; the client secret is the stored one."""
    client = {"client_id": "pidq", "client_secret": CLIENT_SECRET}
    form = urllib.parse.urlencode({"grant_type": "password", "username": "admin", "password": password, **client})
    headers = {"content-type": "application/x-www-form-urlencoded"}
    send("POST", f"http://{ADDRESS}/o/token/", form.encode(), headers)


def test_secrets_that_only_the_first_start_reads_are_reported_when_they_change(pidq: Path, namespace, tmp_path: Path):
    first = up(pidq, tmp_path)
    assert first.warnings() == []
    other = {"PIDQ_ADMIN_PASSWORD": "Another-Horse-8-Battery", "PIDQ_CLIENT_SECRET": CLIENT_SECRET[::-1]}
    # The comparison of the client secret does not delay the start.
    log = up(pidq, tmp_path, until="`PIDQ_CLIENT_SECRET` has no effect", **other)
    (client,) = log.warnings()
    assert "`pidq clients rotate pidq`" in client
    text = log.text
    # The password is compared when a login with it fails.
    given = {"PIDQ_ADMIN_PASSWORD": other["PIDQ_ADMIN_PASSWORD"]}
    log = up(pidq, tmp_path, until="`PIDQ_ADMIN_PASSWORD` has no effect", password=given["PIDQ_ADMIN_PASSWORD"], **given)
    (password,) = log.warnings()
    assert "`pidq users passwd admin`" in password
    text += log.text
    for right_or_unrelated in (DASHBOARD_PASSWORD, "wrong-in-any-case"):
        log = up(pidq, tmp_path, until='"login"', password=right_or_unrelated, **given)
        assert log.warnings() == []
        text += log.text
    secrets = [*other.values(), DASHBOARD_PASSWORD, CLIENT_SECRET]
    assert not [secret for secret in secrets if secret in text]
    # After the commands, the settings are the stored ones again.
    data = {"PIDQ_DATA_DIR": str(tmp_path / "data"), "PIDQ_DATABASE_URL": f"sqlite:{tmp_path}/data/pidq.db"}
    passwd = [pidq, "users", "passwd", "admin"]
    subprocess.run(passwd, env=data, input=other["PIDQ_ADMIN_PASSWORD"], text=True, check=True, capture_output=True)
    rotated = run(pidq, "clients", "rotate", "pidq", **data).stdout
    secret = re.search(r"pidq_cs_\S+", rotated)[0]
    log = up(pidq, tmp_path, PIDQ_ADMIN_PASSWORD=other["PIDQ_ADMIN_PASSWORD"], PIDQ_CLIENT_SECRET=secret)
    assert log.warnings() == []


def test_processes_that_share_a_file_of_settings_do_not_warn_about_each_other(pidq: Path, database):
    work, url = database
    databases = {"PIDQ_DATABASE_URL": url, "PIDQ_STORE_URL": url, "PIDQ_DATA_DIR": str(work / "data")}
    settings = SHARED | databases | {"PIDQ_WORKRES": "2"}
    for command, started in (
        (["pipeline", "worker"], '"worker started"'),
        (["serve"], '"listening"'),
        (["up"], '"listening"'),
        (["dashboard"], '"listening"'),
    ):
        log = run_until(pidq, work, command, settings, started, "-".join(command))
        # That of a misspelt name remains.
        assert [warning for warning in log.warnings() if "PIDQ_WORKRES" not in warning] == [], command
        assert sum("PIDQ_WORKRES" in warning for warning in log.warnings()) == 1, command


def test_the_first_account_is_created_even_if_a_worker_starts_first(pidq: Path, database):
    """Both start at the same time in Kubernetes; without the account, nobody could sign in."""
    work, url = database
    subprocess.run(["psql", "-q", url, "-c", "create database worker_first"], check=True)
    url = url.removesuffix("/pidq") + "/worker_first"
    databases = {"PIDQ_DATABASE_URL": url, "PIDQ_STORE_URL": url, "PIDQ_DATA_DIR": str(work / "first")}
    run_until(pidq, work, ["pipeline", "worker"], SHARED | databases, '"worker started"', "worker")
    up(pidq, work, **databases)
    assert re.search(r" admin +admin +main ", run(pidq, "users", "list", **databases).stdout)
    assert re.search(r"^pidq ", run(pidq, "clients", "list", **databases).stdout, re.MULTILINE)
    # Accounts that were deleted since do not come back.
    run(pidq, "users", "delete", "admin", **databases).check_returncode()
    run(pidq, "clients", "delete", "pidq", **databases).check_returncode()
    up(pidq, work, **databases)
    users = run(pidq, "users", "list", **databases).stdout
    assert MASTER_KEY in users and " admin  admin " not in users


def test_starts_of_a_running_installation_log_no_notices_of_the_database(pidq: Path, database):
    work, url = database
    databases = {"PIDQ_DATABASE_URL": url, "PIDQ_STORE_URL": url, "PIDQ_DATA_DIR": str(work / "data")}
    for _ in range(2):
        log = up(pidq, work, **databases)
    assert "already exists" not in log.text
    assert sum("PIDQ_PASSWORD_GRANT" in line["message"] for line in log.lines) == 1


def test_a_wrong_database_url_is_reported_with_setting_and_server_but_no_password(pidq: Path, database):
    work, url = database
    # The server trusts passwords of all users that exist.
    address = url.split("@")[1].split("/")[0]
    wrong = f"postgres://nobody:not-to-be-shown@{address}/pidq"
    settings = {"PIDQ_DATABASE_URL": wrong, "PIDQ_STORE_URL": wrong, "PIDQ_DATA_DIR": str(work / "wrong")}
    platform = {name: SHARED[name] for name in ("PIDQ_APP_SECRET", "PIDQ_APP_MASTER_KEY", "PIDQ_APP_MASTER_SECRET")}
    for command in ("up", "migrate", "pipeline worker", "pipeline license id", "users list"):
        failed = run(pidq, *command.split(), **settings, **platform)
        assert failed.returncode == 2, command
        # `migrate` begins with the graphs.
        assert ("PIDQ_STORE_URL" if command == "migrate" else "PIDQ_DATABASE_URL") in failed.stderr, command
        assert f'cannot connect to the database `pidq` of PostgreSQL at {address}:5432: role "nobody" does not exist' in failed.stderr
        assert "not-to-be-shown" not in failed.stderr and "at line" not in failed.stderr, command
    store = run(pidq, "migrate", **settings | {"PIDQ_DATABASE_URL": url})
    assert store.returncode == 2 and "`PIDQ_STORE_URL`" in store.stderr and "not-to-be-shown" not in store.stderr


@pytest.mark.parametrize(
    "setting, url",
    [
        ("PIDQ_DATABASE_URL", "postgres://pidq:not#to/be-shown@127.0.0.1/pidq"),
        ("PIDQ_REDIS_URL", "redis://:not#to/be-shown@127.0.0.1"),
        ("PIDQ_NATS_URL", "nats://pidq:not#to/be-shown@127.0.0.1"),
    ],
)
def test_a_password_with_special_characters_is_reported_with_the_remedy(setting: str, url: str, pidq: Path, tmp_path: Path):
    platform = {name: SHARED[name] for name in ("PIDQ_APP_SECRET", "PIDQ_APP_MASTER_KEY", "PIDQ_APP_MASTER_SECRET")}
    failed = run(pidq, "up", **platform, **{setting: url, "PIDQ_DATA_DIR": str(tmp_path), "PIDQ_ADMIN_LISTEN": "", "PIDQ_DASHBOARD_LISTEN": "", "PIDQ_LISTEN": "127.0.0.1:0"})
    assert failed.returncode == 2 and f"`{setting}`" in failed.stderr and "`%23` for `#`" in failed.stderr, failed.stderr
    assert "be-shown" not in failed.stderr


def test_a_data_directory_that_cannot_be_created_is_named_by_its_setting(pidq: Path):
    failed = run(pidq, "up", PIDQ_DATA_DIR="/proc/pidq", PIDQ_LISTEN="127.0.0.1:0", PIDQ_ADMIN_LISTEN="", PIDQ_DASHBOARD_LISTEN="")
    assert failed.returncode == 2 and "`PIDQ_DATA_DIR`" in failed.stderr and "`/proc/pidq`" in failed.stderr, failed.stderr
    assert "PIDQ_DATABASE_URL" not in failed.stderr


@pytest.mark.parametrize("name, setting", [("redis", "PIDQ_REDIS_URL"), ("nats", "PIDQ_NATS_URL")])
def test_a_dependency_that_cannot_be_reached_is_reported_once(name: str, setting: str, pidq: Path, namespace, tmp_path: Path):
    # Port 1 refuses connections at once, so there are several attempts until the end.
    url = {setting: f"{name}://user:not-to-be-shown@127.0.0.1:1"}
    log = up(pidq, tmp_path, until=r'(?s)(?=.*"dependency unreachable")(?=.*"listening")', **url)
    assert log.warnings() == ["dependency unreachable"]
    line = next(line for line in log.lines if line["level"] == "WARN")
    assert (line["dependency"], line["setting"]) == (name, setting) and line["reason"] and line["impact"]
    assert "not-to-be-shown" not in log.text and not [line for line in log.lines if line["target"].startswith("async_nats")]


def test_an_unreachable_identity_provider_is_reported_at_the_start(pidq: Path, namespace, tmp_path: Path):
    settings = {"PIDQ_SSO_ISSUER": "http://127.0.0.1:1/plant", "PIDQ_SSO_AUDIENCE": "https://pidq.example"}
    log = up(pidq, tmp_path, until="(?s)(?=.*fetching the keys)(?=.*listening)", **settings)
    (warning,) = log.warnings()
    assert "`PIDQ_SSO_ISSUER`" in warning
    line = next(line for line in log.lines if line["level"] == "WARN")
    assert line["issuer"] == settings["PIDQ_SSO_ISSUER"] and line["reason"]


def test_a_worker_without_the_database_of_a_service_warns(pidq: Path, tmp_path: Path):
    settings = {name: value for name, value in SHARED.items() if "LISTEN" not in name} | {"PIDQ_DATA_DIR": str(tmp_path / "own")}
    (warning,) = run_until(pidq, tmp_path, ["pipeline", "worker"], settings, '"worker started"', "worker").warnings()
    assert "`PIDQ_DATABASE_URL` is not set" in warning


def test_a_license_without_effect_is_reported(pidq: Path, namespace, tmp_path: Path):
    log = up(pidq, tmp_path, PIDQ_APP_LICENSE="PIDQ1.no.license")
    assert len(log.warnings()) == 1 and "`PIDQ_APP_LICENSE` has no effect" in log.warnings()[0]
    assert "no.license" not in log.text


def test_the_system_id_is_that_of_the_service_and_no_database_is_created_for_it(pidq: Path, namespace, tmp_path: Path):
    up(pidq, tmp_path)
    data = tmp_path / "data"
    named = run(pidq, "pipeline", "license", "id", PIDQ_DATABASE_URL=f"sqlite:{data}/pidq.db").stdout
    assert named.startswith("PIDQ-") and run(pidq, "pipeline", "license", "id", "--data-dir", data).stdout == named
    assert not (data / "pipeline.db").exists()
    missing = run(pidq, "pipeline", "license", "id", "--data-dir", tmp_path / "nowhere")
    assert missing.returncode == 2 and "start the service first" in missing.stderr
    assert not (tmp_path / "nowhere").exists()


def test_the_dashboard_has_an_address_of_its_own(pidq: Path):
    failed = run(pidq, "dashboard", "--listen", "127.0.0.1:3001")
    assert failed.returncode == 2 and "`--dashboard-listen`" in failed.stderr
    assert "\n  --listen " not in run(pidq, "dashboard", "--help").stdout


def test_a_worker_has_no_address_of_an_api(pidq: Path):
    failed = run(pidq, "pipeline", "worker", "--listen", "127.0.0.1:3001")
    assert failed.returncode == 2 and "`--admin-listen`" in failed.stderr
    text = run(pidq, "pipeline", "worker", "--help").stdout
    assert "\n  --listen " not in text and "\n  --admin-listen " in text


def test_an_unreachable_api_is_named_by_the_dashboard(pidq: Path, namespace, tmp_path: Path):
    settings = SHARED | {"PIDQ_API_URL": "http://127.0.0.1:1", "PIDQ_DASHBOARD_LISTEN": DASHBOARD_ADDRESS}
    process = Process("dashboard", [str(pidq), "dashboard"], tmp_path, settings)
    process.start()
    try:
        health = [pidq, "health", f"http://{DASHBOARD_ADDRESS}/readyz"]
        wait_until(lambda: subprocess.run(health, capture_output=True, text=True).stdout.startswith("502 "), "the dashboard listens")
    finally:
        process.kill()
    warning = next(line for line in Log(process.log.read_text()).lines if line["level"] == "WARN")
    assert "`PIDQ_API_URL`" in warning["message"]
    assert warning["url"] == "http://127.0.0.1:1" and "refused" in warning["reason"]


def test_the_health_of_a_degraded_service_is_one_line(pidq: Path, namespace, tmp_path: Path):
    settings = SHARED | {"PIDQ_DATA_DIR": str(tmp_path / "data"), "PIDQ_DASHBOARD_LISTEN": "", "PIDQ_REDIS_URL": "redis://127.0.0.1:1"}
    process = Process("up", [str(pidq), "up"], tmp_path, settings)
    process.start()
    try:
        health = [pidq, "health", f"http://{ADDRESS}/readyz"]
        wait_until(lambda: subprocess.run(health, capture_output=True).returncode == 0, "the service is ready")
        answer = subprocess.run(health, capture_output=True, text=True).stdout
    finally:
        process.kill()
    assert answer == '200 ready; degraded: ["redis"]\n'


def test_migrate_lists_the_settings_that_have_an_effect(pidq: Path):
    text = run(pidq, "migrate", "--help").stdout
    names = re.findall(r"^  (?:--|PIDQ_)(\S+)  ", text, re.MULTILINE)
    assert names == ["config", "log-level", "log-format", "data-dir", "STORE_URL", "DATABASE_URL", "ann-threshold"]
