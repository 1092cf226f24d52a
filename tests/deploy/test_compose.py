"""Tests of the Compose file: its form, its hardening, and the services that it describes, started and killed."""

import json
import os
import re
import subprocess
import urllib.request
from pathlib import Path

import jsonschema
import pytest
import yaml

from api import Api, send
from compose_stack import POSTGRES_BIN, Stack, interpolate, read_variables
from conftest import DEPLOY, ROOT, needs

FILE = DEPLOY / "compose.yaml"


def composed(profile: str, secrets: Path) -> dict:
    """Returns the services of a profile, with the variables of the files."""
    variables = read_variables(DEPLOY / "pidq.env", secrets)
    file = interpolate(yaml.safe_load(FILE.read_text()), variables)
    return {name: spec for name, spec in file["services"].items() if profile in spec["profiles"]}


@pytest.fixture(scope="session")
def secrets(work: Path) -> Path:
    """Secrets as an operator makes them."""
    path = work / "pidq.secrets"
    subprocess.run([DEPLOY / "secrets.sh", path], check=True, capture_output=True)
    return path


def test_secrets_are_random_private_and_never_overwritten(secrets: Path, tmp_path: Path):
    assert secrets.stat().st_mode & 0o777 == 0o600
    names = re.findall(r"^(\w+)=", (DEPLOY / "pidq.secrets.example").read_text(), re.MULTILINE)
    assert re.findall(r"^(\w+)=", secrets.read_text(), re.MULTILINE) == names
    other = tmp_path / "other"
    subprocess.run([DEPLOY / "secrets.sh", other], check=True, capture_output=True)
    assert not set(read_variables(secrets).values()) & set(read_variables(other).values()) - {""}
    assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}", read_variables(other)["PIDQ_APP_MASTER_KEY"])
    before = secrets.read_text()
    assert subprocess.run([DEPLOY / "secrets.sh", secrets], capture_output=True).returncode == 1
    assert secrets.read_text() == before


def test_the_services_do_not_start_with_the_placeholders(pidq: Path, tmp_path: Path):
    examples = read_variables(DEPLOY / "pidq.secrets.example")
    settings = {name: value for name, value in examples.items() if name.startswith("PIDQ_APP_M")}
    run = subprocess.run([pidq, "up", "--data-dir", tmp_path], env=settings, capture_output=True, text=True, timeout=30)
    assert run.returncode == 2 and "placeholder" in run.stderr, run.stderr


def test_the_file_follows_the_schema_of_compose():
    path = os.environ.get("PIDQ_COMPOSE_SCHEMA")
    if not path:
        pytest.skip("the Compose schema could not be fetched (PyPI: docker-compose)")
    schema = json.loads(Path(path).read_text())
    file = yaml.safe_load(FILE.read_text())
    # Newer than this copy of the schema.
    assert file.pop("name") == "pidq"

    def mistakes() -> list[str]:
        return [error.message[:200] for error in jsonschema.Draft7Validator(schema).iter_errors(file)]

    assert mistakes() == []
    file["services"]["api"]["helthcheck"] = {}
    assert len(mistakes()) == 1


def test_profiles_have_the_services_of_the_documentation(secrets: Path):
    everything = {"api", "dashboard", "worker", "license", "postgres", "redis", "nats"}
    assert set(composed("everything", secrets)) == everything
    assert set(composed("embedded", secrets)) == {"embedded"}
    for service in composed("everything", secrets).values():
        assert set(service.get("depends_on", {})) <= everything


def test_services_do_not_start_without_secrets():
    with pytest.raises(KeyError, match="secrets.sh"):
        interpolate(yaml.safe_load(FILE.read_text()), read_variables(DEPLOY / "pidq.env"))


@pytest.mark.parametrize("profile", ["everything", "embedded"])
def test_every_container_is_confined(profile: str, secrets: Path):
    for name, service in composed(profile, secrets).items():
        assert service["read_only"] is True and service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"] and not service.get("privileged"), name
        assert int(service["user"].split(":")[0]) > 0, name
        assert service["restart"] == ("no" if name == "license" else "unless-stopped"), name
        assert re.search(r":[\w.]*\d[\w.-]*$", service["image"]), f"{name}: a version"
        assert "/" not in service["image"].split(":")[0] or "." not in service["image"].split("/")[0], f"{name}: no host"
        for port in service.get("ports", []):
            assert port.startswith("127.0.0.1:"), f"{name}: {port}"
        if name != "license":
            assert service["healthcheck"]["test"][0] == "CMD", name


def test_databases_are_not_published_and_have_no_way_out(secrets: Path):
    assert yaml.safe_load(FILE.read_text())["networks"]["back"]["internal"] is True
    for name in ("postgres", "redis", "nats"):
        service = composed("everything", secrets)[name]
        assert "ports" not in service and service["networks"] == ["back"]


def test_every_setting_exists(secrets: Path, pidq: Path):
    """A misspelt variable would be ignored by the program."""
    for profile in ("everything", "embedded"):
        for name, service in composed(profile, secrets).items():
            if not service["image"].startswith("pidq"):
                continue
            command = "up" if name == "license" else " ".join(service["command"])
            text = subprocess.run([pidq, *command.split(), "--help"], capture_output=True, text=True, check=True).stdout
            for variable in service["environment"]:
                flag = "--" + variable.removeprefix("PIDQ_").lower().replace("_", "-")
                known = f"  {flag} " in text or f"  {variable} " in text
                assert known, f"{name}: {variable}"


def test_every_setting_can_be_set(secrets: Path, pidq: Path):
    """Settings by the file that all containers read, and secrets, which are not for all, by the environment of a service."""
    for profile, names in (("everything", ("api", "worker", "dashboard")), ("embedded", ("embedded",))):
        for name in names:
            service = composed(profile, secrets)[name]
            assert service["env_file"] == ["pidq.env"] and (FILE.parent / "pidq.env").exists()
            text = subprocess.run([pidq, *service["command"], "--help"], capture_output=True, text=True, check=True).stdout
            expected = set(re.findall(r"^  (PIDQ_\w+) ", text, re.MULTILINE))
            # In the profile, other services have these.
            elsewhere = {"api": {"PIDQ_DASHBOARD_SSO_CLIENT_SECRET"}, "embedded": {"PIDQ_STORE_URL", "PIDQ_REDIS_URL", "PIDQ_NATS_URL"}}
            missing = expected - set(service["environment"]) - elsewhere.get(name, set())
            # The client that the dashboard itself is.
            assert missing <= {"PIDQ_CLIENT_ID"}, f"{name}: {missing}"


@pytest.fixture(scope="module")
def stack(namespace, image, image_root, secrets: Path, work: Path):
    """All services of the profile `everything`."""
    needs("unshare", "setpriv", "chroot", "redis-server", "redis-cli", "nats-server", "wget", "pg_isready")
    if not POSTGRES_BIN.exists():
        pytest.skip("missing: PostgreSQL (Debian: postgresql)")
    directory = work / "stack"
    directory.mkdir()
    stack = Stack(FILE, read_variables(DEPLOY / "pidq.env", secrets), image, image_root, directory)
    try:
        stack.up()
        yield stack
    finally:
        stack.down()


def test_the_first_start_logs_no_warnings(stack: Stack):
    for name in ("api", "dashboard", "worker", "license"):
        text = (stack.work / f"{name}.log").read_text()
        lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
        warnings = [line for line in lines if line["level"] in ("WARN", "ERROR")]
        # A machine under load, and connections of a database that has just started.
        assert [line for line in warnings if line["target"] != "sqlx::pool::acquire"] == [], name
        assert not [value for variable, value in stack.variables.items() if is_secret(variable) and value and value in text], name


def is_secret(variable: str) -> bool:
    """Whether a variable is one of the file of secrets; the name of the root client is none."""
    return variable.endswith(("_SECRET", "_PASSWORD"))


@pytest.fixture(scope="module")
def api(stack: Stack) -> Api:
    api = Api("http://127.0.0.1:8000", stack.variables["PIDQ_APP_MASTER_KEY"], stack.variables["PIDQ_APP_MASTER_SECRET"])
    api.sign_in()
    return api


@pytest.fixture(scope="module")
def pipeline(api: Api) -> str:
    fields = {"name": "Unit 20", "embedding_model": "hash-512", "text_splitter": "recursive_character", "classifications": ["manual"]}
    pipeline = api.post("/api/pipelines", fields)["id"]
    api.wait_ready(pipeline, api.upload(pipeline, "V-201.txt", "The relief valve PSV-2015A is set at 38.5 barg."))
    return pipeline


def test_a_document_is_ingested_by_the_worker_and_answers_a_question(api: Api, pipeline: str):
    answer = api.ask(pipeline, "What is PSV-2015A set at?")
    assert answer["answered"] and "38.5 barg" in answer["answer"], answer


@pytest.fixture(scope="module")
def graph(api: Api) -> None:
    plant = (ROOT / "examples/data/plant.json").read_bytes()
    api.request("PUT", "/graph/plant-100", plant, {"content-type": "application/json"})


def test_a_graph_is_stored_and_queried(api: Api, graph: None):
    answer = api.post("/graph/plant-100", {"query": '.pid_graph.nodes | filter(.tag == "P-101A") | size()'})
    assert answer["result"] == [1] or answer["result"] == 1, answer


def test_people_sign_in_to_the_dashboard(stack: Stack, api: Api, pipeline: str):
    dashboard = "http://127.0.0.1:3000"
    status, page = send("GET", dashboard + "/", None, {"accept": "text/html"})
    assert status == 200 and b"<title>" in page
    body = json.dumps({"login": "admin", "password": stack.variables["PIDQ_ADMIN_PASSWORD"]}).encode()
    headers = {"content-type": "application/json", "sec-fetch-site": "same-origin"}
    with urllib.request.urlopen(urllib.request.Request(dashboard + "/session", body, headers)) as response:
        cookie = response.headers["set-cookie"].split(";")[0]
        assert json.loads(response.read())["signed_in"] is True
    status, pipelines = send("GET", dashboard + "/api/pipelines", None, {"cookie": cookie})
    assert status == 200 and pipeline in pipelines.decode()


def test_the_license_sequence(stack: Stack, api: Api, pidq: Path):
    """The service reports the system id; the license goes to the secrets; the services are started again."""
    system_id = re.search(r"^PIDQ(-\w{4}){4}$", (stack.work / "license.log").read_text(), re.MULTILINE)[0]
    assert api.request("GET", "/api/license")["system_id"] == system_id
    keys = subprocess.run([pidq, "pipeline", "license", "key"], capture_output=True, text=True, check=True).stdout
    secret, public = (line.split()[1] for line in keys.splitlines())
    issue = [pidq, "pipeline", "license", "issue", "--system-id", system_id, "--days", "30"]
    issued = subprocess.run(issue, env={"PIDQ_LICENSE_KEY": secret}, capture_output=True, text=True, check=True)
    stack.configure(PIDQ_LICENSE_MODE="enforce", PIDQ_LICENSE_PUBLIC_KEYS=f"vendor:{public}")
    stack.restart("api", "worker")
    fields = {"name": "Refused", "embedding_model": "hash-512", "text_splitter": "recursive_character", "classifications": ["manual"]}
    with pytest.raises(AssertionError, match="402 .*license-required"):
        api.post("/api/pipelines", fields)
    stack.configure(PIDQ_APP_LICENSE=issued.stdout.strip())
    stack.restart("api", "worker")
    license = api.request("GET", "/api/license")
    assert license["status"] in ("valid", "expiring"), license


@pytest.mark.parametrize("name", ["postgres", "redis", "nats", "worker", "api", "dashboard"])
def test_nothing_is_lost_when_a_service_is_killed(name: str, stack: Stack, api: Api, pipeline: str, graph: None):
    service, text = stack.services[name], f"The pump of case {name} has the tag P-{len(name)}77."
    before = api.upload(pipeline, f"before-{name}.txt", text)
    starts = service.starts
    service.kill()
    # Requests during the outage are repeated until they succeed.
    after = api.upload(pipeline, f"after-{name}.txt", text.replace("77", "78"))
    for document in (before, after):
        api.wait_ready(pipeline, document)
    stack.wait_healthy()
    assert service.starts == starts + 1 or name == "postgres" and service.starts > starts
    listed = api.request("GET", f"/api/pipelines/{pipeline}/documents?limit=200")["data"]
    names = [document["filename"] for document in listed]
    assert names.count(f"before-{name}.txt") == 1 and names.count(f"after-{name}.txt") == 1, "stored once"
    assert "V-201.txt" in names and all(document["status"] == "ready" for document in listed)
    answer = api.ask(pipeline, "What is PSV-2015A set at?")
    assert "38.5 barg" in answer["answer"], answer
    assert api.request("GET", "/graph/plant-100")["pid_graph"]["nodes"]
