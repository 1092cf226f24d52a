"""Tests of the Helm chart: rendered for sets of values, validated against the schemas of Kubernetes, and compared with files."""

import base64
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
import yaml

from conftest import DEPLOY, ROOT, needs

CHART = DEPLOY / "helm/pidq"
HERE = Path(__file__).parent
SETS = sorted((HERE / "chart").glob("*.values.yaml"))
VERSIONS = ["1.31", "1.34", "1.35"]
VALIDATOR = Path(sys.executable).with_name("kubernetes-validate")
SCHEMA = json.loads((CHART / "values.schema.json").read_text())


def merge(base: dict, over: dict) -> dict:
    """Merges values as Helm does: objects by key, everything else replaced."""
    result = dict(base)
    for key, value in over.items():
        both = isinstance(value, dict) and isinstance(result.get(key), dict)
        result[key] = merge(result[key], value) if both else value
    return result


@pytest.fixture(scope="session")
def renderer(tmp_path_factory) -> Path:
    """The program that renders the templates, built once."""
    program = tmp_path_factory.mktemp("render") / "render"
    go = Path(sys.executable).with_name("go")
    variables = os.environ | {"GOFLAGS": "-mod=mod", "GOPROXY": "off", "CGO_ENABLED": "0"}
    subprocess.run([go, "build", "-o", program, "."], cwd=HERE / "render", env=variables, check=True)
    return program


class Chart:
    """The chart with values."""

    def __init__(self, renderer: Path):
        self.renderer = renderer
        self.chart = {key[0].upper() + key[1:]: value for key, value in yaml.safe_load((CHART / "Chart.yaml").read_text()).items()}
        self.defaults = yaml.safe_load((CHART / "values.yaml").read_text())

    def files(self, values: dict, version: str = "1.35", objects: dict | None = None, name: str = "plant") -> dict[str, str]:
        """Returns the rendered files; fails with the message of the chart."""
        merged = merge(self.defaults, values)
        jsonschema.Draft7Validator(SCHEMA).validate(merged)
        release = {"Name": name, "Namespace": "pid", "Service": "Helm", "Revision": 1}
        context = {"Directory": str(CHART), "Chart": self.chart, "Values": merged, "Release": release}
        context |= {"KubeVersion": f"v{version}.0", "Objects": objects or {}}
        run = subprocess.run([self.renderer], input=json.dumps(context), capture_output=True, text=True)
        if run.returncode != 0:
            raise ValueError(run.stderr)
        return json.loads(run.stdout)

    def objects(self, values: dict, version: str = "1.35", objects: dict | None = None, name: str = "plant") -> dict[str, dict]:
        """Returns the objects by kind and name."""
        found = {}
        for path, text in self.files(values, version, objects, name).items():
            if path.endswith("NOTES.txt"):
                continue
            for item in yaml.safe_load_all(text):
                if item:
                    name = f"{item['kind']}/{item['metadata']['name']}"
                    assert name not in found, name
                    found[name] = item
        return found


@pytest.fixture(scope="session")
def chart(renderer: Path) -> Chart:
    return Chart(renderer)


def values_of(path: Path) -> dict:
    return yaml.safe_load(path.read_text()) or {}


def dump(objects: dict[str, dict]) -> str:
    return yaml.safe_dump_all([objects[name] for name in sorted(objects)], sort_keys=True, width=120)


@pytest.mark.parametrize("values", SETS, ids=lambda path: path.name.split(".")[0])
def test_rendered_objects_are_those_of_the_golden_files(values: Path, chart: Chart):
    golden = values.with_name(values.name.replace(".values.", ".golden."))
    rendered = dump(chart.objects(values_of(values)))
    if os.environ.get("PIDQ_UPDATE_GOLDEN"):
        golden.write_text(rendered)
    assert rendered == golden.read_text(), "review the difference, then run with PIDQ_UPDATE_GOLDEN=1"


def helm(*arguments: object, values: dict | None = None) -> str:
    """Runs Helm, and returns its output; skips the test without it."""
    needs("helm")
    run = subprocess.run(["helm", *map(str, arguments)], input=yaml.safe_dump(values or {}), capture_output=True, text=True)
    if run.returncode != 0:
        raise ValueError(run.stdout + run.stderr)
    return run.stdout


def without_random_values(objects: dict[str, dict]) -> dict[str, dict]:
    return {name: item | {"data": sorted(item["data"] or {})} if item["kind"] == "Secret" else item for name, item in objects.items()}


@pytest.mark.parametrize("values", SETS, ids=lambda path: path.name.split(".")[0])
def test_helm_renders_the_same_objects(values: Path, chart: Chart):
    text = helm("template", "plant", CHART, "--namespace=pid", "--values=-", "--kube-version=1.35.0", values=values_of(values))
    rendered = {f"{item['kind']}/{item['metadata']['name']}": item for item in yaml.safe_load_all(text) if item}
    assert without_random_values(rendered) == without_random_values(chart.objects(values_of(values)))


def test_helm_accepts_the_chart_and_rejects_what_the_tests_reject():
    assert "0 chart(s) failed" in helm("lint", "--strict", CHART)
    for values, message in (
        ({"replicaCount": 2}, "several replicas need PostgreSQL"),
        ({"config": {"databas": {"url": "x"}}}, "databas"),
        ({"models": {"imageVolume": {"reference": "models/e5:1"}}}, "feature gate ImageVolume"),
    ):
        with pytest.raises(ValueError, match=message):
            helm("template", "plant", CHART, "--values=-", "--kube-version=1.34.0", values=values)
    with pytest.raises(ValueError, match="1.30"):
        helm("template", "plant", CHART, "--kube-version=1.30.0")


def test_helm_prints_the_same_notes(chart: Chart):
    for values in ({}, DATABASE):
        text = helm("install", "plant", CHART, "--namespace=pid", "--dry-run=client", "--values=-", values=values)
        assert text.split("NOTES:\n")[1].strip() == chart.files(values)["templates/NOTES.txt"].strip()


@pytest.mark.parametrize("version", VERSIONS)
def test_objects_follow_the_schemas_of_kubernetes(version: str, chart: Chart, tmp_path: Path):
    gate = {"models": {"imageVolume": {"featureGateEnabled": True}}}
    texts = []
    for values in SETS:
        objects = chart.objects(merge(values_of(values), gate), version)
        # The schemas of extensions are not part of Kubernetes.
        texts.append(dump({name: item for name, item in objects.items() if "coreos" not in item["apiVersion"]}))
    file = tmp_path / "objects.yaml"
    file.write_text("---\n".join(texts))
    run = subprocess.run([VALIDATOR, "-k", version, "--strict", file], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


def test_the_validator_finds_mistakes(chart: Chart, tmp_path: Path):
    objects = chart.objects({})
    objects["Deployment/plant-pidq-api"]["spec"]["template"]["spec"]["containers"][0]["imagePullPolice"] = "Always"
    file = tmp_path / "objects.yaml"
    file.write_text(dump(objects))
    assert subprocess.run([VALIDATOR, "-k", "1.35", "--strict", file], capture_output=True).returncode != 0


GOOD_VALUES = [
    "",
    "config: {query: {timeout: 20s, fuel: 1000}}",
    "config: {llm: {allow: ['https://llm.example/']}}",
    "config: {auth: {passwordGrant: false}}",
    "podDisruptionBudget: {maxUnavailable: 50%}",
    "config: {traces: {endpoint: 'http://collector:4318', ratio: 0.1}}",
]
BAD_VALUES = [
    "replicas: 2",
    "replicaCount: 0",
    "config: {databas: {url: x}}",
    "config: {database: {url: 7}}",
    "config: {query: {timeout: soon}}",
    "config: {traces: {ratio: '2'}}",
    "config: {listen: '0.0.0.0:1'}",
    "config: {license: {mode: strict}}",
    "secrets: {appSecrets: x}",
    "image: {tag: 1.0}",
    "ingress: {hosts: [{host: a.example, paths: [{path: /, pathType: prefix}]}]}",
    "ingress: {hosts: [{host: a.example}]}",
    "persistence: {size: big}",
]


@pytest.mark.parametrize("text", GOOD_VALUES)
def test_good_values_are_accepted(text: str, chart: Chart):
    assert chart.objects(yaml.safe_load(text) or {})


@pytest.mark.parametrize("text", BAD_VALUES)
def test_bad_values_are_rejected(text: str, chart: Chart):
    with pytest.raises(jsonschema.ValidationError):
        chart.objects(yaml.safe_load(text))


def environment(objects: dict[str, dict], component: str, name: str = "") -> dict[str, str]:
    """Returns the variables of a process as Kubernetes resolves them."""
    container = objects[name or f"Deployment/plant-pidq-{component}"]["spec"]["template"]["spec"]["containers"][0]
    variables = {}
    for source in container["envFrom"]:
        variables |= objects[f"ConfigMap/{source['configMapRef']['name']}"]["data"] or {}
    for entry in container["env"]:
        if "value" in entry:
            variables[entry["name"]] = entry["value"]
            continue
        reference = entry["valueFrom"]["secretKeyRef"]
        # A Secret of the operator has what is required.
        own = objects.get(f"Secret/{reference['name']}")
        secret = (own["data"] or {}) if own else {}
        if reference["key"] in secret:
            variables[entry["name"]] = base64.b64decode(secret[reference["key"]]).decode()
        elif not reference["optional"]:
            assert not own, f"{component}: {entry['name']} would stop the pod"
            variables[entry["name"]] = "of the operator"
    return variables


@pytest.mark.parametrize("values", SETS, ids=lambda path: path.name.split(".")[0])
def test_no_process_has_a_variable_twice_or_an_unknown_one(values: Path, chart: Chart, pidq: Path):
    objects = chart.objects(values_of(values))
    for name, item in objects.items():
        if item["kind"] == "Deployment":
            container = item["spec"]["template"]["spec"]["containers"][0]
            names = [entry["name"] for entry in container["env"]]
            assert len(names) == len(set(names)), name
            help_text = subprocess.run([pidq, *container["args"], "--help"], capture_output=True, text=True, check=True).stdout
            for variable in environment(objects, container["name"], name):
                if not variable.startswith("PIDQ_"):
                    continue
                flag = "--" + variable.removeprefix("PIDQ_").lower().replace("_", "-")
                assert f"  {flag} " in help_text or f"  {variable} " in help_text, f"{name}: {variable}"


def test_the_defaults_are_one_process_with_sqlite_and_generated_secrets(chart: Chart):
    objects = chart.objects({})
    api = environment(objects, "api")
    assert api["PIDQ_DATABASE_URL"] == "sqlite:/data/pidq.db" and "PIDQ_STORE_URL" not in api and "PIDQ_WORKERS" not in api
    assert len(api["PIDQ_APP_SECRET"]) >= 32 and len(api["PIDQ_APP_MASTER_SECRET"]) >= 32
    dashboard = environment(objects, "dashboard")
    for name in ("PIDQ_CLIENT_SECRET", "PIDQ_APP_SECRET"):
        assert dashboard[name] == api[name], name
    assert dashboard["PIDQ_API_URL"] == "http://plant-pidq-api:8000"
    assert "PIDQ_APP_MASTER_SECRET" not in dashboard and "PIDQ_ADMIN_PASSWORD" not in dashboard
    assert objects["Deployment/plant-pidq-api"]["spec"]["strategy"] == {"type": "Recreate"}
    assert "PersistentVolumeClaim/plant-pidq-data" in objects and "Deployment/plant-pidq-worker" not in objects


def test_the_processes_start_with_the_environment_of_the_defaults(chart: Chart, pidq: Path, tmp_path: Path):
    """The program accepts every value; `migrate` is also the init container."""
    variables = environment(chart.objects({}), "api") | {"PIDQ_DATA_DIR": str(tmp_path), "PIDQ_DATABASE_URL": f"sqlite:{tmp_path}/pidq.db"}
    run = subprocess.run([pidq, "migrate"], env=variables, capture_output=True, text=True, timeout=60)
    assert run.returncode == 0 and "unknown" not in run.stderr, run.stderr


def test_an_upgrade_keeps_generated_secrets(chart: Chart):
    first = chart.objects({})["Secret/plant-pidq"]
    stored = {key: base64.b64encode(f"stored {key}".encode()).decode() for key in first["data"]}
    second = chart.objects({}, objects={"Secret/plant-pidq": first | {"data": stored}})["Secret/plant-pidq"]
    assert second["data"] == stored and second["metadata"]["annotations"]["helm.sh/resource-policy"] == "keep"
    given = chart.objects({"secrets": {"appSecret": "x" * 40}}, objects={"Secret/plant-pidq": first | {"data": stored}})
    assert base64.b64decode(given["Secret/plant-pidq"]["data"]["PIDQ_APP_SECRET"]).decode() == "x" * 40


DATABASE = {"config": {"database": {"url": "postgres://pidq:p@db:5432/pidq"}}}


def test_with_postgres_workers_ingest_and_graphs_are_in_the_database(chart: Chart):
    objects = chart.objects(DATABASE)
    api, worker = environment(objects, "api"), environment(objects, "worker")
    url = DATABASE["config"]["database"]["url"]
    assert api["PIDQ_DATABASE_URL"] == api["PIDQ_STORE_URL"] == worker["PIDQ_DATABASE_URL"] == url
    assert api["PIDQ_WORKERS"] == "0" and "PIDQ_WORKERS" not in worker
    assert "PersistentVolumeClaim/plant-pidq-data" not in objects
    without = environment(chart.objects(merge(DATABASE, {"worker": {"replicas": 0}})), "api")
    assert "PIDQ_WORKERS" not in without, "then the API ingests"


def test_secrets_are_in_secrets_only(chart: Chart):
    marks = {"config": {"database": {"url": "postgres://pidq:CANARY-1@db/pidq"}, "redis": {"url": "redis://:CANARY-2@r"}}}
    marks["secrets"] = {"appSecret": "CANARY-3" * 5, "masterKey": "CANARY-4", "masterSecret": "CANARY-5" * 5, "license": "CANARY-6"}
    for path, text in chart.files(marks).items():
        assert "CANARY" not in text, path
    data = chart.objects(marks)["Secret/plant-pidq"]["data"]
    assert sum(b"CANARY" in base64.b64decode(value) for value in data.values()) == 6


def test_an_existing_secret_replaces_the_generated_one(chart: Chart):
    objects = chart.objects(merge(DATABASE, {"secrets": {"existingSecret": "mine"}}))
    assert set(objects["Secret/plant-pidq"]["data"]) == {"PIDQ_DATABASE_URL"}, "only what the values contain"
    container = objects["Deployment/plant-pidq-api"]["spec"]["template"]["spec"]["containers"][0]
    sources = {entry["name"]: entry["valueFrom"]["secretKeyRef"]["name"] for entry in container["env"] if "valueFrom" in entry}
    assert sources["PIDQ_APP_SECRET"] == "mine" and sources["PIDQ_DATABASE_URL"] == sources["PIDQ_STORE_URL"] == "plant-pidq"
    secrets = {"existingSecret": "mine", "existingSecretHasDatabaseUrl": True}
    container = chart.objects({"secrets": secrets})["Deployment/plant-pidq-api"]["spec"]["template"]["spec"]["containers"][0]
    references = {entry["name"]: entry["valueFrom"]["secretKeyRef"] for entry in container["env"] if "valueFrom" in entry}
    assert references["PIDQ_STORE_URL"]["key"] == "PIDQ_DATABASE_URL" and references["PIDQ_STORE_URL"]["name"] == "mine"


def test_pods_do_not_start_without_what_would_lose_data(chart: Chart):
    """A Secret of the operator that lacks the URL of the database must not lead to files that end with the pod."""
    secrets = {"secrets": {"existingSecret": "mine", "existingSecretHasDatabaseUrl": True}}
    needed = {
        "api": {"PIDQ_DATABASE_URL", "PIDQ_STORE_URL", "PIDQ_APP_SECRET", "PIDQ_APP_MASTER_KEY", "PIDQ_APP_MASTER_SECRET"},
        "worker": {"PIDQ_DATABASE_URL", "PIDQ_APP_SECRET", "PIDQ_APP_MASTER_KEY", "PIDQ_APP_MASTER_SECRET"},
        "dashboard": {"PIDQ_APP_SECRET"},
    }
    for values in (secrets, DATABASE, {}):
        objects = chart.objects(values)
        for component, names in needed.items():
            if f"Deployment/plant-pidq-{component}" not in objects:
                continue
            container = objects[f"Deployment/plant-pidq-{component}"]["spec"]["template"]["spec"]["containers"][0]
            references = {entry["name"]: entry["valueFrom"]["secretKeyRef"] for entry in container["env"] if "valueFrom" in entry}
            required = {name for name, reference in references.items() if not reference["optional"]}
            database = {"PIDQ_DATABASE_URL", "PIDQ_STORE_URL"} if values == {} else set()
            assert required == names - database, component


def test_generated_secrets_stay_while_another_secret_is_used(chart: Chart):
    stored = chart.objects({})["Secret/plant-pidq"]
    other = {"secrets": {"existingSecret": "mine"}}
    during = chart.objects(other, objects={"Secret/plant-pidq": stored})["Secret/plant-pidq"]
    after = chart.objects({}, objects={"Secret/plant-pidq": during})["Secret/plant-pidq"]
    assert stored["data"] == during["data"] == after["data"]
    empty = {"Secret/plant-pidq": stored | {"data": None}}
    assert set(chart.objects({}, objects=empty)["Secret/plant-pidq"]["data"]) == set(stored["data"])


def test_an_upgrade_that_forgets_the_database_is_refused(chart: Chart):
    """`helm upgrade --set` with one value resets all others."""
    running = {f"Deployment/{name}": {"kind": "Deployment"} for name in ("plant-pidq-api", "plant-pidq-worker")}
    with pytest.raises(ValueError, match="values name no database"):
        chart.objects({"image": {"tag": "0.2.0"}}, objects=running)
    assert chart.objects(DATABASE, objects=running)
    assert chart.objects({}, objects={"Deployment/plant-pidq-api": {"kind": "Deployment"}}), "it used SQLite before"


def test_fractions_and_large_numbers_of_a_file_are_unchanged(chart: Chart):
    values = {"config": {"traces": {"endpoint": "http://collector:4318", "ratio": 0.25}, "query": {"fuel": 40000000}}}
    data = chart.objects(values)["ConfigMap/plant-pidq-api"]["data"]
    assert (data["PIDQ_TRACES_RATIO"], data["PIDQ_QUERY_FUEL"]) == ("0.25", "40000000")


def test_names_are_short_enough_for_the_longest_name_of_a_release(chart: Chart):
    """Services, labels and pods of jobs have at most 63 characters, and Helm permits 53 for a release."""
    for values in (merge(DATABASE, {"serviceMonitor": {"enabled": True}}), {"nameOverride": "n" * 80}, {"fullnameOverride": "f" * 80}):
        for name, item in chart.objects(values, name="r" * 53).items():
            labels = list(item["metadata"]["labels"].values())
            if template := item.get("spec", {}).get("template"):
                labels += template["metadata"]["labels"].values()
            for text in [item["metadata"]["name"], *labels]:
                assert len(text) <= 63 and not text.endswith("-"), f"{name}: {text}"


def test_a_job_has_another_name_if_its_pod_differs(chart: Chart):
    """A job cannot be changed, and every revision is the first for `helm template`."""

    def job(values: dict) -> tuple[str, dict]:
        objects = chart.objects(merge(DATABASE, values))
        [name] = [name for name in objects if name.startswith("Job/")]
        return name, objects[name]["spec"]

    assert job({}) == job({})
    for values in ({"image": {"tag": "0.2.0"}}, {"config": {"log": {"level": "debug"}}}, {"nodeSelector": {"disk": "fast"}}):
        assert job({})[0] != job(values)[0] and job({})[1] != job(values)[1], values


@pytest.mark.parametrize("values", [{"replicaCount": 2}, {"autoscaling": {"enabled": True}}])
def test_several_processes_need_postgres(values: dict, chart: Chart):
    with pytest.raises(ValueError, match="need PostgreSQL"):
        chart.objects(values)
    assert chart.objects(merge(DATABASE, values))


def test_image_volumes_need_their_feature_gate_before_1_35(chart: Chart):
    models = {"models": {"imageVolume": {"reference": "models/e5:1"}}}
    for version in ("1.31", "1.34"):
        with pytest.raises(ValueError, match="feature gate ImageVolume"):
            chart.objects(models, version)
        enabled = merge(models, {"models": {"imageVolume": {"featureGateEnabled": True}}})
        assert chart.objects(enabled, version)
    volumes = chart.objects(models)["Deployment/plant-pidq-api"]["spec"]["template"]["spec"]["volumes"]
    assert {"name": "models", "image": {"reference": "models/e5:1", "pullPolicy": "IfNotPresent"}} in volumes


def test_settings_restart_pods_and_nothing_else_does(chart: Chart):
    def checksum(values: dict) -> str:
        template = chart.objects(values)["Deployment/plant-pidq-api"]["spec"]["template"]
        return template["metadata"]["annotations"]["checksum/settings"]

    assert checksum({}) == checksum({"dashboard": {"enabled": False}})
    assert checksum({}) != checksum({"config": {"query": {"timeout": "5s"}}})
    assert checksum({}) != checksum({"secrets": {"license": "x"}})


@pytest.mark.parametrize("values", SETS, ids=lambda path: path.name.split(".")[0])
def test_every_pod_is_confined(values: Path, chart: Chart):
    for name, item in chart.objects(values_of(values)).items():
        spec = item["spec"] if item["kind"] == "Pod" else item.get("spec", {}).get("template", {}).get("spec")
        if not spec or "containers" not in spec:
            continue
        context = spec["securityContext"]
        assert context["runAsNonRoot"] and context["seccompProfile"] == {"type": "RuntimeDefault"}, name
        assert spec["automountServiceAccountToken"] is False, name
        for container in spec["containers"] + spec.get("initContainers", []):
            confined = {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}
            assert container["securityContext"] == confined, name
            assert container["image"] in ("pidq:0.1.0", "registry/pidq:0.1.0-test"), name
            # A quota of the namespace rejects pods without.
            assert container["resources"]["requests"] and container["resources"]["limits"], name


@pytest.mark.parametrize("values", SETS, ids=lambda path: path.name.split(".")[0])
def test_selectors_and_references_have_a_target(values: Path, chart: Chart):
    objects = chart.objects(values_of(values))
    pods = [item["spec"]["template"]["metadata"]["labels"] for item in objects.values() if item["kind"] == "Deployment"]

    def selects(selector: dict) -> bool:
        return any(selector.items() <= labels.items() for labels in pods)

    for name, item in objects.items():
        kind, spec = item["kind"], item.get("spec", {})
        if kind == "Service":
            assert selects(spec["selector"]), name
        elif kind in ("PodDisruptionBudget", "Deployment"):
            assert selects(spec["selector"]["matchLabels"]), name
        elif kind == "HorizontalPodAutoscaler":
            assert f"Deployment/{spec['scaleTargetRef']['name']}" in objects, name
        elif kind == "Ingress":
            for rule in spec["rules"]:
                for path in rule["http"]["paths"]:
                    assert f"Service/{path['backend']['service']['name']}" in objects, name


def test_the_notes_name_existing_objects(chart: Chart):
    for values in ({}, DATABASE, {"dashboard": {"enabled": False}}):
        objects, notes = chart.objects(values), chart.files(values)["templates/NOTES.txt"]
        for kind, name in re.findall(r"\b(deployment|service|job|secret)[/ ](plant-\S+)", notes):
            assert f"{kind.capitalize()}/{name}" in objects, name
        assert ("dashboard" in notes) == ("Deployment/plant-pidq-dashboard" in objects)
        assert "system id" in notes.lower() and "helm test plant --namespace pid" in notes


def test_alert_rules_and_the_dashboard_are_those_of_the_files(chart: Chart):
    kinds = {"PrometheusRule/plant-pidq", "ConfigMap/plant-pidq-grafana"}
    assert not kinds & set(chart.objects({})), "they are off by default"
    values = {"prometheusRule": {"enabled": True, "labels": {"release": "prometheus"}}, "grafanaDashboard": {"enabled": True}}
    objects = chart.objects(values)
    rule, dashboard = objects["PrometheusRule/plant-pidq"], objects["ConfigMap/plant-pidq-grafana"]
    assert rule["spec"] == yaml.safe_load((DEPLOY / "prometheus/alerts.yaml").read_text())
    assert rule["metadata"]["labels"]["release"] == "prometheus"
    assert json.loads(dashboard["data"]["pidq.json"]) == json.loads((DEPLOY / "grafana/pidq.json").read_text())
    assert dashboard["metadata"]["labels"]["grafana_dashboard"] == "1"


def test_the_page_and_the_values_name_the_same(chart: Chart):
    page = (ROOT / "docs/deploy.md").read_text()
    section = page.split("## Values of the chart")[1]
    for name in chart.defaults:
        assert f"`{name}`" in section or f"`{name}." in section, name
    own = set(SCHEMA["properties"]) - {"global"}
    assert own == set(chart.defaults), "the schema and values.yaml have the same values"
