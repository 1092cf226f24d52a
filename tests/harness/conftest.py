"""Fixtures: one service of each test process, shared by all its tests that do not stop it."""

import sys

import pytest

sys.path.insert(0, __file__.rsplit("/", 1)[0])

from service import WORK, Service, drawing  # noqa: E402


def pytest_sessionstart(session):
    if hasattr(session.config, "workerinput"):
        return
    WORK.mkdir(parents=True, exist_ok=True)
    (WORK / "goals.txt").write_text("")


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line((WORK / "goals.txt").read_text().rstrip())


@pytest.fixture(scope="session")
def service():
    with Service() as service:
        session = service.session()
        for graph_id, size in (("small", 1_000), ("large", 10_000)):
            assert service.put(session, graph_id, drawing(size)).status_code == 201
        yield service
