"""Tests of the life of a release: Helm installs, upgrades and deletes the chart at a server with the Kubernetes API."""

import subprocess
from pathlib import Path

import pytest
import yaml

from conftest import DEPLOY, needs
from kube_api import KubeApi, kube_api

# Without any value, Helm uses those of the revision before.
OWN_SECRET = {"secrets": {"existingSecret": ""}}
OTHER_SECRET = {"secrets": {"existingSecret": "mine"}}
DATABASE = {"config": {"database": {"url": "postgres://pidq:p@db:5432/pidq"}}}


class Release:
    """A release named `plant`."""

    def __init__(self, api: KubeApi, directory: Path):
        self.api = api
        self.config = directory / "kubeconfig"
        cluster = {"name": "c", "cluster": {"server": api.url}}
        context = {"name": "c", "context": {"cluster": "c", "user": "u", "namespace": "pid"}}
        document = {"apiVersion": "v1", "kind": "Config", "current-context": "c", "clusters": [cluster], "contexts": [context]}
        self.config.write_text(yaml.safe_dump(document | {"users": [{"name": "u", "user": {}}]}))

    def helm(self, *arguments: object, values: dict | None = None) -> str:
        command = ["helm", "--kubeconfig", self.config, *arguments]
        run = subprocess.run(list(map(str, command)), input=yaml.safe_dump(values or {}), capture_output=True, text=True)
        if run.returncode != 0:
            raise ValueError(run.stdout + run.stderr)
        return run.stdout

    def upgrade(self, values: dict | None = None) -> dict[str, dict]:
        """Installs or upgrades, and returns the objects."""
        chart = DEPLOY / "helm/pidq"
        self.helm("upgrade", "--install", "plant", chart, "--values=-", "--disable-openapi-validation", values=values)
        return self.api.objects()


@pytest.fixture
def release(namespace, tmp_path: Path):
    needs("helm")
    with kube_api() as api:
        yield Release(api, tmp_path)


def test_generated_secrets_survive_upgrades_and_a_new_installation(release: Release):
    first = release.upgrade()
    secrets = first["Secret/plant-pidq"]["data"]
    assert len(secrets) == 5
    assert release.upgrade({"replicaCount": 1, "config": {"log": {"level": "debug"}}})["Secret/plant-pidq"]["data"] == secrets
    release.helm("uninstall", "plant")
    assert set(release.api.objects()) == {"Secret/plant-pidq", "PersistentVolumeClaim/plant-pidq-data"}, "what must not be lost"
    again = release.upgrade()
    assert again["Secret/plant-pidq"]["data"] == secrets and set(again) == set(first)


def test_another_secret_replaces_the_generated_one_and_back(release: Release):
    secrets = release.upgrade()["Secret/plant-pidq"]["data"]
    assert release.upgrade(OTHER_SECRET)["Secret/plant-pidq"]["data"] == secrets
    assert release.upgrade(OWN_SECRET)["Secret/plant-pidq"]["data"] == secrets


def test_a_release_that_begins_with_another_secret_can_generate_its_own(release: Release):
    assert not release.upgrade(OTHER_SECRET)["Secret/plant-pidq"].get("data")
    assert len(release.upgrade(OWN_SECRET)["Secret/plant-pidq"]["data"]) == 5


def test_an_upgrade_that_forgets_the_database_changes_nothing(release: Release):
    before = release.upgrade(DATABASE)
    with pytest.raises(ValueError, match="values name no database"):
        release.upgrade({"image": {"tag": "0.2.0"}})
    assert release.api.objects() == before
    after = release.upgrade(DATABASE | {"image": {"tag": "0.2.0"}})
    jobs = [[name for name in objects if name.startswith("Job/")] for objects in (before, after)]
    assert [len(names) for names in jobs] == [1, 1] and jobs[0] != jobs[1], "a job of its own, and the old one is gone"


def test_selectors_do_not_change(release: Release):
    """Kubernetes refuses an upgrade that changes one."""
    before = release.upgrade(DATABASE)
    after = release.upgrade(DATABASE | {"replicaCount": 2, "podLabels": {"team": "process"}, "image": {"tag": "0.2.0"}})
    for name in ("api", "worker", "dashboard"):
        first, second = (objects[f"Deployment/plant-pidq-{name}"]["spec"] for objects in (before, after))
        assert first["selector"] == second["selector"] and first["template"] != second["template"], name
