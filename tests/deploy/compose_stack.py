"""Runs the services of a Compose file as local processes, without a container engine.

What a service says is what runs: command, environment, volumes, user, read-only root, health check, order and restarts.
Services of pidq run in the file system of the image; PostgreSQL, Redis and NATS are those of this machine. All services share
one network namespace, in which every service name is 127.0.0.1.
"""

import os
import re
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path

import yaml

from dockerfile import Image

POSTGRES_BIN = next(iter(sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)), Path("/nonexistent"))

# Start of a process in the file system of the image: its mounts, then the program with the user of the image.
CONTAINER = """
set -e
root=$1 user=$2
shift 2
mount --bind "$IMAGE_ROOT" "$root"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
for device in null zero urandom random; do
    : >"$root/dev/$device"
    mount --bind "/dev/$device" "$root/dev/$device"
done
mount -t proc proc "$root/proc"
mount --bind "$HOSTS" "$root/etc/hosts"
eval "$MOUNTS"
[ "$READ_ONLY" != yes ] || mount -o remount,bind,ro "$root"
setpriv=$(command -v setpriv) chroot=$(command -v chroot) PATH=$IMAGE_PATH
unset IMAGE_ROOT IMAGE_PATH HOSTS MOUNTS READ_ONLY
exec "$setpriv" --no-new-privs --bounding-set=-all,+sys_chroot,+setuid,+setgid "$chroot" --userspec="$user" "$root" "$@"
"""


def interpolate(value, variables: dict[str, str]):
    """Replaces `${NAME}`, `${NAME:-default}` and `${NAME:?message}` in all texts, as Compose does."""
    if isinstance(value, dict):
        return {key: interpolate(item, variables) for key, item in value.items()}
    if isinstance(value, list):
        return [interpolate(item, variables) for item in value]
    if not isinstance(value, str):
        return value

    def replacement(found: re.Match) -> str:
        name, kind, word = found[1], found[2], found[3]
        text = variables.get(name, "")
        if not text and kind == ":-":
            return word
        if not text and kind == ":?":
            raise KeyError(f"{name}: {word}")
        return text

    return re.sub(r"\$\{(\w+)(?:(:[-?])([^}]*))?\}", replacement, value)


def read_variables(*paths: Path) -> dict[str, str]:
    """Returns the variables of env files; later files win."""
    pairs = [line.split("=", 1) for path in paths for line in path.read_text().splitlines() if re.match(r"\w+=", line)]
    return dict(pairs)


class Service:
    """Running service, restarted as its policy says."""

    def __init__(self, name: str, spec: dict, stack: "Stack"):
        self.name, self.spec, self.stack = name, spec, stack
        self.process: subprocess.Popen | None = None
        self.starts = 0
        self.log = stack.work / f"{name}.log"
        self.is_stopping = False
        self.keeper: threading.Thread | None = None

    def start(self) -> None:
        self.is_stopping = False
        self.launch()
        self.keeper = threading.Thread(target=self.keep, daemon=True)
        self.keeper.start()

    def launch(self) -> None:
        command, environment = self.command()
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                command, env=environment, stdout=log, stderr=log, start_new_session=True, cwd=self.stack.work
            )
        self.starts += 1

    def keep(self) -> None:
        while True:
            self.process.wait()
            if self.is_stopping or self.spec.get("restart") != "unless-stopped":
                return
            time.sleep(0.3)
            self.launch()

    def stop(self) -> None:
        self.is_stopping = True
        if self.process and self.process.poll() is None:
            # The stop signal of the image: PostgreSQL ends without waiting for its clients.
            stop = signal.SIGINT if self.is_image("pgvector") else signal.SIGTERM
            self.process.send_signal(stop)
            # A second signal ends the delay in which balancers would notice.
            time.sleep(0.5)
            self.process.send_signal(stop)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()
        if self.keeper:
            self.keeper.join(5)

    def kill(self) -> None:
        """Kills the service as a failing machine would."""
        self.process.send_signal(signal.SIGKILL)

    def is_image(self, name: str) -> bool:
        return name in self.spec["image"].split(":")[0]

    def command(self) -> tuple[list[str], dict[str, str]]:
        files = [self.stack.compose.parent / name for name in self.spec.get("env_file", [])]
        environment = read_variables(*files) | {name: str(value) for name, value in (self.spec.get("environment") or {}).items()}
        command = list(self.spec.get("command", []))
        if self.is_image("pgvector"):
            return self.postgres(command, environment)
        if self.is_image("redis") or self.is_image("nats"):
            return command, {"PATH": os.environ["PATH"] + ":/usr/sbin"}
        return self.container(command, environment)

    def container(self, command: list[str], environment: dict[str, str]) -> tuple[list[str], dict[str, str]]:
        stack, root = self.stack, self.stack.work / "roots" / self.name
        root.mkdir(parents=True, exist_ok=True)
        mounts = []
        for entry in self.spec.get("tmpfs", []):
            path, _, options = entry.partition(":")
            mounts.append(f'mount -t tmpfs -o {options or "mode=1777"} tmpfs "$root{path}"')
        for entry in self.spec.get("volumes", []):
            volume, path, *mode = entry.split(":")
            mounts.append(f'mount --bind "{stack.volume(volume, path)}" "$root{path}"')
            if mode == ["ro"]:
                mounts.append(f'mount -o remount,bind,ro "$root{path}"')
        all_variables = {
            **stack.image.environment,
            **environment,
            "IMAGE_PATH": stack.image.environment["PATH"],
            "IMAGE_ROOT": str(stack.image_root),
            "HOSTS": str(stack.hosts),
            "MOUNTS": "\n".join(mounts),
            "READ_ONLY": "yes" if self.spec.get("read_only") else "no",
        }
        tools = f"{os.environ['PATH']}:/usr/sbin:/sbin"
        start = ["/usr/bin/env", f"PATH={tools}", "unshare", "--mount", "sh", "-c", CONTAINER + "\n", "container"]
        program = stack.image.entrypoint + (command or stack.image.command)
        user = self.spec.get("user", stack.image.user)
        return [*start, str(root), user, *program], all_variables

    def postgres(self, command: list[str], environment: dict[str, str]) -> tuple[list[str], dict[str, str]]:
        """As the image does: creates the cluster at the first start, and listens on all addresses."""
        data = self.stack.volume("postgres", "/nonexistent")
        shutil.chown(data, "postgres", "postgres")
        user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"]
        if not (data / "PG_VERSION").exists():
            password = self.stack.work / "postgres-password"
            password.write_text(environment["POSTGRES_PASSWORD"])
            shutil.chown(password, "postgres", "postgres")
            options = environment.get("POSTGRES_INITDB_ARGS", "").split()
            name = environment["POSTGRES_USER"]
            initdb = [str(POSTGRES_BIN / "initdb"), "-D", str(data), "-U", name, f"--pwfile={password}", *options]
            subprocess.run([*user, *initdb, "--auth-local=trust", "-N"], check=True, capture_output=True)
            single = [str(POSTGRES_BIN / "postgres"), "--single", "-D", str(data), "postgres"]
            create = f"create database {environment['POSTGRES_DB']}\n"
            subprocess.run([*user, *single], input=create, text=True, check=True, capture_output=True)
        server = [str(POSTGRES_BIN / "postgres"), "-D", str(data), "-k", str(data), "-h", "*", *command[1:]]
        return [*user, *server], {"PATH": os.environ["PATH"]}

    def is_healthy(self) -> bool:
        if self.process.poll() is not None:
            return False
        kind, *check = self.spec.get("healthcheck", {}).get("test") or ["CMD", *self.stack.image.health]
        assert kind == "CMD", "images without a shell need the exec form"
        if check[0].startswith("/usr/local/bin/"):
            check = ["chroot", f"--userspec={self.stack.image.user}", str(self.stack.image_root), *check]
        path = f"{os.environ['PATH']}:{POSTGRES_BIN}:/usr/sbin"
        return subprocess.run(check, capture_output=True, env={"PATH": path}).returncode == 0


class Stack:
    """All services of a profile."""

    def __init__(self, compose: Path, variables: dict[str, str], image: Image, image_root: Path, work: Path):
        self.compose, self.image, self.image_root, self.work = compose, image, image_root, work
        self.variables = dict(variables)
        self.hosts = work / "hosts"
        self.services: dict[str, Service] = {}
        self.configure()

    def configure(self, **variables: str) -> None:
        """Reads the file with changed variables. A service that runs keeps its settings until it is started again."""
        self.variables.update(variables)
        file = interpolate(yaml.safe_load(self.compose.read_text()), self.variables)
        profile = self.variables["COMPOSE_PROFILES"]
        for name, spec in file["services"].items():
            if profile in spec.get("profiles", [profile]):
                self.services.setdefault(name, Service(name, spec, self)).spec = spec
        self.hosts.write_text(f"127.0.0.1 localhost {' '.join(self.services)}\n")

    def volume(self, name: str, path: str) -> Path:
        """Returns the directory of a named volume, which at first is a copy of the directory in the image."""
        directory = self.work / "volumes" / name
        if not directory.exists():
            directory.mkdir(parents=True)
            original = self.image_root / path.lstrip("/")
            if original.is_dir():
                status = original.stat()
                os.chown(directory, status.st_uid, status.st_gid)
                directory.chmod(status.st_mode & 0o7777)
        return directory

    def up(self, timeout: float = 90) -> None:
        """Starts every service once those that it depends on are as far as it demands."""
        deadline = time.monotonic() + timeout
        waiting = [service for service in self.services.values() if service.process is None]
        while waiting:
            for service in [service for service in waiting if self.is_startable(service)]:
                service.start()
                waiting.remove(service)
            self.check(deadline, f"waiting for what these need: {[service.name for service in waiting]}")
            time.sleep(0.2)
        self.wait_healthy(timeout=max(1.0, deadline - time.monotonic()))

    def is_startable(self, service: Service) -> bool:
        for name, need in service.spec.get("depends_on", {}).items():
            other = self.services[name]
            if other.process is None or (need["condition"] == "service_healthy" and not other.is_healthy()):
                return False
        return True

    def wait_healthy(self, timeout: float = 90) -> None:
        deadline = time.monotonic() + timeout
        lasting = [service for service in self.services.values() if service.spec.get("restart") == "unless-stopped"]
        for service in lasting:
            while not service.is_healthy():
                self.check(deadline, f"{service.name} is not healthy")
                time.sleep(0.2)

    def check(self, deadline: float, what: str) -> None:
        if time.monotonic() > deadline:
            logs = "\n".join(f"-- {path.name}\n{path.read_text()[-2000:]}" for path in sorted(self.work.glob("*.log")))
            raise TimeoutError(f"{what}\n{logs}")

    def restart(self, *names: str) -> None:
        for name in names:
            self.services[name].stop()
            self.services[name].start()
        self.wait_healthy()

    def down(self) -> None:
        """Ends all services at once: nothing is needed from them any more."""
        for service in self.services.values():
            service.is_stopping = True
            if service.process and service.process.poll() is None:
                # PostgreSQL ends its own processes.
                service.process.send_signal(signal.SIGQUIT if service.is_image("pgvector") else signal.SIGKILL)
        for service in self.services.values():
            service.stop()
