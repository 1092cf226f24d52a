"""Tests of the image: the Dockerfile, the build context, and the file system, which is started without an engine."""

import fnmatch
import json
import os
import re
import stat
import subprocess
from pathlib import Path

import pytest

from compose_stack import Stack
from conftest import DEPLOY, ROOT, needs
from dockerfile import Image, instructions, stages

FILE = DEPLOY / "Dockerfile"


def test_images_are_pinned_and_have_no_host_name():
    arguments = dict(argument.split("=") for name, argument in stages(FILE)[0] if name == "ARG")
    for name, argument in instructions(FILE):
        if name == "FROM" and argument != "scratch":
            source = re.sub(r"\$\{(\w+)\}", lambda found: arguments[found[1]], argument.split()[0])
            repository, _, tag = source.partition(":")
            assert re.match(r"\d", tag) and "." not in repository, source


def test_the_last_stage_runs_nothing_and_has_no_privileges(image: Image):
    assert {name for name, _ in image.stage}.isdisjoint({"RUN", "ADD", "SHELL"})
    uid, gid = (int(number) for number in image.user.split(":"))
    assert uid >= 1000 and gid >= 1000
    assert image.entrypoint == ["/usr/local/bin/pidq"] and image.health[:2] == [*image.entrypoint, "health"]
    assert image.volumes == ["/data"] and image.ports == ["8000", "3000"]


def test_labels_are_those_of_the_package(image: Image):
    manifest = (ROOT / "Cargo.toml").read_text()
    version = re.search(r'^version = "(.*)"', manifest, re.MULTILINE)[1]
    license_name = re.search(r'^license = "(.*)"', manifest, re.MULTILINE)[1]
    default_version = next(argument for name, argument in image.stage if argument.startswith("VERSION="))
    prefix = "org.opencontainers.image."
    assert default_version == f"VERSION={version}" and image.labels[prefix + "licenses"] == license_name
    names = {"title", "description", "licenses", "source", "documentation", "version", "revision", "created"}
    assert {name.removeprefix(prefix) for name in image.labels} == names


def test_builds_are_locked_and_have_a_bill_of_materials():
    commands = " && ".join(argument for name, argument in instructions(FILE) if name == "RUN")
    for command in re.findall(r"cargo (?:build|install)[^&]*", commands):
        assert "--locked" in command, command
    assert "cargo cyclonedx" in commands and "npm ci" in commands and "deploy/image/rootfs.sh" in commands


def context() -> list[str]:
    """Returns the tracked files that .dockerignore leaves in the build context. The last rule that matches decides."""
    rules = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and not line.startswith("#")]

    def is_included(path: str) -> bool:
        parts, included = path.split("/"), True
        prefixes = ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]
        for rule in rules:
            pattern = rule.removeprefix("!")
            names = parts if pattern.startswith("**/") else prefixes
            pattern = pattern.removeprefix("**/")
            if any(matches(name, pattern) for name in names):
                included = rule.startswith("!")
        return included

    def matches(name: str, pattern: str) -> bool:
        return name.count("/") == pattern.count("/") and fnmatch.fnmatchcase(name, pattern)

    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [path for path in listed.stdout.splitlines() if is_included(path)]


def test_the_build_context_has_every_file_of_the_build():
    files = set(context())
    needed = {"Cargo.lock", "deploy/image/rootfs.sh", "scripts/dashboard.sh", "dashboard/package-lock.json", "build.rs"}
    manifests = [path for path in files if path.endswith("Cargo.toml")]
    assert needed <= files and "Cargo.toml" in manifests
    members = re.search(r"members = \[(.*?)\]", (ROOT / "Cargo.toml").read_text(), re.DOTALL)[1]
    for member in re.findall(r'"(.*?)"', members):
        assert os.path.normpath(f"{member}/Cargo.toml") in manifests, member
    # Files that sources of the programs contain; those of tests may be missing.
    for source in [path for path in files if path.endswith(".rs") and "/src/" in f"/{path}" and "test" not in path]:
        code = (ROOT / source).read_text().split("#[cfg(test)]")[0]
        for name in re.findall(r'include_(?:str|bytes)!\(\s*"([^"]+)"', code):
            assert os.path.normpath(Path(source).parent / name) in files, f"{source}: {name}"


def test_the_build_context_has_no_secrets_and_no_history():
    assert not [path for path in context() if "secrets" in path and path.startswith("deploy") or "/." in f"/{path}"]


def test_the_file_system_has_only_the_programs(image_root: Path):
    files = {str(path.relative_to(image_root)) for path in image_root.rglob("*") if path.is_file()}
    unexpected = [
        name
        for name in files
        if not re.fullmatch(r"usr/local/bin/pidq(-extract)?|usr/share/doc/pidq/.*|etc/(passwd|group|nsswitch.conf|hosts)", name)
        and not re.fullmatch(r"etc/ssl/certs/ca-certificates.crt|lib(64)?/.*/?lib(c|m|gcc_s)\.so\.[16]|lib64/ld-linux-.*", name)
    ]
    assert unexpected == [], "there is no shell and no other library"
    assert "usr/local/bin/pidq" in files


def test_only_data_and_tmp_can_be_written(image_root: Path, image: Image):
    needs_root()
    user = int(image.user.split(":")[0])
    writable = []
    for path in [image_root, *image_root.rglob("*")]:
        status = path.lstat()
        mode = stat.S_IMODE(status.st_mode)
        assert not mode & (stat.S_ISUID | stat.S_ISGID), path
        if mode & 0o002 or (status.st_uid == user and mode & 0o200):
            writable.append(str(path.relative_to(image_root)))
    assert sorted(writable) == ["data", "tmp"]


def needs_root() -> None:
    if os.getuid() != 0:
        pytest.skip("owners of files need root")


def test_the_image_starts_with_a_read_only_root(namespace, work: Path, image: Image, image_root: Path):
    """One container, as `docker run --read-only --tmpfs /tmp` with the secrets of the environment starts it."""
    needs("unshare", "setpriv", "chroot")
    directory = work / "alone"
    directory.mkdir()
    compose = directory / "compose.yaml"
    secrets = {"PIDQ_APP_MASTER_KEY": "0199b1de-3c55-4a26-8b8a-1f4d0e5c7a90", "PIDQ_APP_MASTER_SECRET": "s" * 20 + "0123456789" * 2}
    service = {"image": "pidq", "environment": secrets, "read_only": True, "tmpfs": ["/tmp"], "volumes": ["data:/data"], "restart": "unless-stopped"}
    compose.write_text(json.dumps({"services": {"pidq": service}}))
    stack = Stack(compose, {"COMPOSE_PROFILES": "any"}, image, image_root, directory)
    try:
        stack.up()
        status = Path(f"/proc/{stack.services['pidq'].process.pid}/status").read_text()
        uid, gid = image.user.split(":")
        assert f"Uid:\t{uid}\t{uid}" in status and f"Gid:\t{gid}\t{gid}" in status
        assert re.search(r"CapEff:\s0+\n", status) and "NoNewPrivs:\t1" in status
        assert {path.name for path in (directory / "volumes/data").iterdir()} >= {"pidq.db", "graphs"}
        health = ["chroot", f"--userspec={image.user}", image_root, "/usr/local/bin/pidq", "health"]
        ready = subprocess.run(health, capture_output=True, text=True)
        assert ready.returncode == 0 and ready.stdout.startswith("200 "), ready
        dashboard = subprocess.run([*health, "http://127.0.0.1:3000/livez"], capture_output=True)
        assert dashboard.returncode == 0, dashboard
    finally:
        stack.down()
    stopped = subprocess.run(["chroot", f"--userspec={image.user}", image_root, "/usr/local/bin/pidq", "health"], capture_output=True, text=True)
    assert stopped.returncode == 1 and "cannot be reached" in stopped.stdout, "a service that has ended is not healthy"
