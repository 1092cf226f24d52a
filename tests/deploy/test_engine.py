"""Tests of the image in a container engine: built from the last stage of the Dockerfile, started as the documentation says."""

import json
import time
from pathlib import Path

import pytest

from conftest import DEPLOY, needs
from dockerfile import Image
from engine import Engine

TAG = "localhost/pidq:test"
SECRETS = {"PIDQ_APP_MASTER_KEY": "0199b1de-3c55-4a26-8b8a-1f4d0e5c7a90", "PIDQ_APP_MASTER_SECRET": "s" * 20 + "0123456789" * 2}


@pytest.fixture(scope="module")
def engine(namespace, work: Path, image_root: Path):
    needs("buildah", "podman", "runc")
    directory = work / "engine"
    directory.mkdir()
    engine = Engine(directory)
    engine.build(DEPLOY / "Dockerfile", image_root, TAG)
    yield engine
    engine.podman("rm", "--all", "--force", "--time", "0")
    engine.podman("volume", "rm", "--all", "--force")


def start(engine: Engine, name: str) -> None:
    """Starts a container with a read-only root, and waits until its health check succeeds."""
    variables = [argument for key, value in SECRETS.items() for argument in ("--env", f"{key}={value}")]
    options = ["--detach", "--read-only", "--tmpfs", "/tmp", "--cap-drop", "all", "--network", "none", "--volume", "data:/data"]
    # Without systemd nothing runs the check of the image by its interval.
    engine.podman("run", *options, "--health-interval", "disable", "--log-driver", "k8s-file", *variables, "--name", name, TAG)
    deadline = time.monotonic() + 60
    while engine.status("healthcheck", "run", name) != 0:
        assert time.monotonic() < deadline, engine.call("podman", "logs", name).stderr
        time.sleep(0.5)


def test_the_engine_has_the_properties_of_the_dockerfile(engine: Engine, image: Image):
    config = json.loads(engine.podman("image", "inspect", TAG))[0]["Config"]
    assert config["User"] == image.user and config["Entrypoint"] == image.entrypoint and config["Cmd"] == image.command
    assert list(config["Volumes"]) == image.volumes and set(config["ExposedPorts"]) == {f"{port}/tcp" for port in image.ports}
    assert set(image.environment.items()) <= {tuple(pair.split("=", 1)) for pair in config["Env"]}
    assert config["Labels"]["org.opencontainers.image.title"] == "pidq"


def test_a_container_keeps_its_data_and_stops_by_itself(engine: Engine, image: Image):
    start(engine, "first")
    license_id = engine.podman("exec", "first", "pidq", "pipeline", "license", "id")
    status = engine.podman("exec", "first", "pidq", "health", "http://127.0.0.1:3000/livez")
    assert license_id and status.startswith("200 ")
    assert engine.podman("top", "first", "huser").split()[1:] == [image.user.split(":")[0]]
    # The program handles SIGTERM: it is not killed after the time limit.
    engine.podman("stop", "--time", "30", "first")
    assert engine.podman("inspect", "--format", "{{.State.ExitCode}}", "first") == "0"
    engine.podman("rm", "first")
    start(engine, "second")
    assert engine.podman("exec", "second", "pidq", "pipeline", "license", "id") == license_id
    assert engine.status("exec", "second", "/bin/sh", "-c", "true") != 0, "there is no shell"
