"""A small generated fleet, and its answers by plain pidq in one process."""

import json
import re
import sys
from pathlib import Path

import pidq
import pyarrow.parquet as pq
import pytest

INTEGRATIONS = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(INTEGRATIONS))

import generate_fleet  # noqa: E402


def documented(language):
    """Returns the code blocks of a language in the manual."""
    page = (INTEGRATIONS.parent / "docs/fleet.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


class Fleet:
    """Drawings in Parquet files, and in memory."""

    def __init__(self, folder, drawings, items):
        self.folder = folder
        generate_fleet.write(folder, drawings, items, seed=7, processes=1)
        self.batches = pq.read_table(folder).sort_by("drawing").to_batches()
        rows = [row for batch in self.batches for row in batch.to_pylist()]
        self.texts = {row["drawing"]: row["graph"] for row in rows}
        self._joined = None

    def files(self):
        return sorted(str(path) for path in self.folder.glob("*.parquet"))

    def answers(self, query):
        """Returns the rows of a query on each drawing, with the drawing."""
        graphs = ((name, pidq.Graph.from_json(text)) for name, text in self.texts.items())
        return [{"drawing": name, **row} for name, graph in graphs for row in graph.query(query)]

    def joined(self):
        """Returns all drawings as one graph."""
        if self._joined is None:
            self._joined = pidq.join(*(pidq.Graph.from_json(text) for text in self.texts.values()))
        return self._joined

    def walk(self, walk, drawing, start):
        """Returns the items that a walk reaches in the graph of all drawings, as pairs of drawing and id."""
        reached = self.joined().query(f"{walk.query('$start')} | map(.id)", start=f"{drawing}#{start}")
        return sorted(tuple(identifier.split("#")) for identifier in reached)

    def starts(self, count):
        """Yields some items on different drawings: their drawing and id. The first one is a compressor."""
        yield "100-PID-0001", "C-01010"
        for at, (name, text) in enumerate(self.texts.items()):
            nodes = json.loads(text)["pid_graph"]["nodes"]
            if at % max(1, len(self.texts) // count) == 0:
                yield name, nodes[at * 7 % len(nodes)]["id"]


@pytest.fixture(scope="session")
def fleet(tmp_path_factory):
    return Fleet(tmp_path_factory.mktemp("fleet"), drawings=30, items=50)
