"""A container engine for tests: Buildah and Podman, with storage of its own. Neither needs a service."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from dockerfile import last_stage

PATH = f"{os.environ['PATH']}:/usr/sbin:/sbin"

# Starts the runtime without the limits of a container, because a sandbox may not be permitted to raise its own.
RUNTIME = """#!{python}
import json, os, sys

if "--bundle" in sys.argv:
    path = os.path.join(sys.argv[sys.argv.index("--bundle") + 1], "config.json")
    with open(path) as file:
        config = json.load(file)
    config["process"].pop("rlimits", None)
    with open(path, "w") as file:
        json.dump(config, file)
os.execv("{runc}", ["runc", *sys.argv[1:]])
"""


class Engine:
    """Builds and runs images below a directory."""

    def __init__(self, directory: Path):
        self.directory = directory
        runtime = directory / "runtime"
        runtime.write_text(RUNTIME.format(python=sys.executable, runc=shutil.which("runc", path=PATH)))
        runtime.chmod(0o755)
        configuration = directory / "containers.conf"
        configuration.write_text(
            '[containers]\ndefault_ulimits = []\n[engine]\nevents_logger = "file"\ncgroup_manager = "cgroupfs"\n'
            f'runtime = "runc"\n[engine.runtimes]\nrunc = ["{runtime}"]\n'
        )
        self.environment = os.environ | {"CONTAINERS_CONF": str(configuration), "PATH": PATH}
        self.storage = ["--storage-driver", "vfs", "--root", directory / "storage", "--runroot", directory / "run"]

    def build(self, dockerfile: Path, rootfs: Path, tag: str) -> None:
        """Builds the last stage of the file; the file system that the stages before it make is `rootfs`."""
        context = self.directory / "context"
        context.mkdir()
        # Files of an archive keep their owners, as those of a stage do.
        subprocess.run(["tar", "--create", "--file", context / "rootfs.tar", "--directory", rootfs, "."], check=True)
        file = context / "Dockerfile"
        file.write_text(last_stage(dockerfile).replace("COPY --from=build /rootfs /", "ADD rootfs.tar /"))
        self.call("buildah", "bud", "--isolation", "chroot", "--format", "docker", "--quiet", "--tag", tag, "--file", file, context)

    def podman(self, *arguments, check: bool = True) -> str:
        """Runs Podman and returns what it prints."""
        return self.call("podman", *arguments, check=check).stdout.strip()

    def status(self, *arguments) -> int:
        """Runs Podman and returns its exit status."""
        return self.call("podman", *arguments, check=False).returncode

    def call(self, program: str, *arguments, check: bool = True) -> subprocess.CompletedProcess:
        done = subprocess.run([program, *self.storage, *arguments], env=self.environment, capture_output=True, text=True)
        assert not check or done.returncode == 0, f"{program} {arguments[0]}: {done.stderr}"
        return done
