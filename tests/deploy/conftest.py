"""Fixtures of the deployment tests. `scripts/deploy_test.sh` starts them in a network namespace of their own."""

import os
import shutil
import socket
import struct
import subprocess
import tempfile
from fcntl import ioctl
from pathlib import Path

import pytest

from dockerfile import Image

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"


def pytest_configure(config):
    config.addinivalue_line("markers", "failover: takes minutes; run by scripts/deploy_test.sh failover only")


def enable_loopback() -> None:
    """Brings up the loopback interface of a new network namespace."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        flags = struct.pack("16sh", b"lo", 0x1 | 0x40)  # IFF_UP | IFF_RUNNING
        ioctl(control, 0x8914, flags.ljust(40, b"\0"))  # SIOCSIFFLAGS


def needs(*commands: str) -> None:
    """Skips the test if a command is missing."""
    missing = [command for command in commands if not shutil.which(command, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")]
    if missing:
        pytest.skip(f"missing: {', '.join(missing)}")


@pytest.fixture(scope="session")
def namespace():
    """A network and mount namespace of this process, in which every port is free."""
    if os.environ.get("PIDQ_TEST_NAMESPACE") != "yes":
        pytest.skip("new namespaces are not permitted here (needs root and unshare)")
    enable_loopback()


@pytest.fixture(scope="session")
def pidq() -> Path:
    """The program to be tested."""
    return Path(os.environ["PIDQ_PROGRAM"])


@pytest.fixture(scope="session")
def work():
    """A directory that the accounts of the services can enter; removed at the end."""
    directory = Path(tempfile.mkdtemp(prefix="pidq-deploy-"))
    directory.chmod(0o755)
    yield directory
    shutil.rmtree(directory)


@pytest.fixture(scope="session")
def image() -> Image:
    """What the Dockerfile says about the image."""
    return Image(DEPLOY / "Dockerfile")


@pytest.fixture(scope="session")
def image_root(work: Path, pidq: Path) -> Path:
    """File system of the image, by the script that also makes it in the Dockerfile."""
    root = work / "image"
    extractor = pidq.with_name("pidq-extract")
    programs = [pidq, *([extractor] if extractor.exists() else [])]
    subprocess.run([DEPLOY / "image/rootfs.sh", root, *programs], check=True)
    # An engine adds these mount points.
    for name in ("proc", "dev"):
        (root / name).mkdir()
    (root / "etc/hosts").touch()
    return root
