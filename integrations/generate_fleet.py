"""Generates a fleet of drawings with off-page connectors between them, as Parquet files.

    python3 integrations/generate_fleet.py --drawings 10000 --items 300 OUTPUT

The same options give the same drawings. A plant is a chain of sheets: trains of equipment between a connector from an
earlier sheet and one to a later sheet, with branches, drains, relief valves and instruments, and a recycle to the first
sheet. One train in a hundred names a sheet that lacks its partner. Needs pyarrow.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

#: Number of sheets of a plant.
SHEETS = 20

#: Maximum number of drawings of a Parquet file, least number of files, and number of drawings of a row group.
_FILE = 500
_FILES = 8
_ROW_GROUP = 25

_EQUIPMENT = ("centrifugal_pump", "vessel", "heat_exchanger", "tank", "filter", "compressor", "column")
_VALVES = ("gate_valve", "ball_valve", "globe_valve", "butterfly_valve", "check_valve", "control_valve")
_FITTINGS = ("pipe_reducer", "strainer", "flow_orifice", "spectacle_blind")
_LETTERS = {"control_valve": "FV", "check_valve": "NRV"}
_POSITIONS = ("open",) * 39 + ("closed",)
_INSTRUMENTS = ("FT", "PT", "TT", "LT", "PI", "TI")
_KINDS = {"F": "flow", "P": "pressure", "T": "temperature", "L": "level"}
_FLUIDS = ("PL", "CW", "HW", "ST", "N2", "GL", "HC", "FG")
_CLASSES = ("A1A", "B1B", "C3K", "D2S")
_MATERIALS = ("A106-B", "A312-TP316L", "A333-6", "A53-B")
_DIAMETERS = (25, 40, 50, 80, 100, 150, 200, 250)


def drawing_number(at: int) -> str:
    return f"{at // SHEETS + 100}-PID-{at % SHEETS + 1:04}"


def drawing(at: int, drawings: int, items: int, seed: int) -> dict[str, Any]:
    """Returns a drawing of a fleet by its number."""
    sheet = _Sheet(at, drawings, random.Random(f"{seed}/{at}"))
    train = 0
    while len(sheet.nodes) < items:
        train += 1
        sheet.train(train)
    metadata = {
        "drawing_name": f"{sheet.name} Unit {at // SHEETS + 100}",
        "drawing_number": sheet.name,
        "job_id": sheet.name,
        "schema_version": "1.0.0",
        "change_version": "1",
        "revision": sheet.random.choice("ABC"),
    }
    return {"pid_graph": {"metadata": metadata, "nodes": sheet.nodes, "edges": sheet.edges}}


class _Sheet:
    """The nodes and edges of one drawing, generated train by train."""

    def __init__(self, at: int, drawings: int, generator: random.Random) -> None:
        self.random = generator
        self.name = drawing_number(at)
        self.unit, self.sheet = at // SHEETS + 100, at % SHEETS
        self.first = at - self.sheet
        self.last = min(self.first + SHEETS, drawings) - 1
        self.at = at
        self.nodes: list[dict[str, Any]] = []
        self.edges: list[dict[str, Any]] = []

    def train(self, number: int) -> None:
        """Adds a train: a connector from the sheet before, items, equipment, items, a connector to the sheet after."""
        choose = self.random.choice
        pipe = {"nominal_diameter": choose(_DIAMETERS), "piping_class": choose(_CLASSES), "fluid_code": choose(_FLUIDS)}
        # The line of a train has the same number on all sheets of a plant, so that its connectors match.
        pipe = {"line": f"L-{self.unit}-{number:03}", **pipe}
        before = self.at - 1 if self.at > self.first else self.last
        after = self.at + 1 if self.at < self.last else self.first
        prefix = f"{self.sheet + 1:02}{number:02}"
        last = self.connector(f"OPC-{prefix}I", before, pipe)
        for part in range(self.random.randint(1, 3)):
            last = self.run(f"{prefix}{part}", last, pipe)
            last = self.equipment(f"{prefix}{part}", last, pipe)
        last = self.run(f"{prefix}9", last, pipe)
        if self.random.random() < 0.01:
            pipe |= {"line": f"L-{self.unit}-X{number:03}"}
        self.pipe(last, self.connector(f"OPC-{prefix}O", after, pipe), pipe)

    def run(self, name: str, last: str, pipe: dict[str, Any]) -> str:
        """Adds valves and fittings in sequence, some with a branch."""
        for at in range(self.random.randint(3, 8)):
            kind = self.random.choice(_VALVES if self.random.random() < 0.6 else _FITTINGS)
            fields = {"normal_position": self.random.choice(_POSITIONS)} if kind in _VALVES else {}
            tag = f"{_LETTERS.get(kind, 'HV' if fields else 'SP')}-{name}{at}"
            item = self.item(tag, f"piping_component.{kind}", pipe | fields)
            self.pipe(last, item, pipe)
            last = item
            if kind == "control_valve" or self.random.random() < 0.15:
                self.instrument(f"{name}{at}", item)
        if self.random.random() < 0.5:
            last = self.branch(name, last, pipe)
        return last

    def branch(self, name: str, last: str, pipe: dict[str, Any]) -> str:
        """Adds a tee with a drain, or with a relief valve to an open end."""
        tee = self.item(f"TEE-{name}", "piping_component.pipe_tee", pipe)
        self.pipe(last, tee, pipe)
        if self.random.random() < 0.6:
            drain = self.item(f"DV-{name}", "piping_component.gate_valve", pipe | {"normal_position": "closed"})
            end = self.item(f"BF-{name}", "piping_component.blind_flange", pipe)
        else:
            drain = self.item(f"PSV-{name}", "piping_component.safety_valve", pipe | {"set_pressure": 10})
            end = self.item(f"VENT-{name}", "reference.open_end", pipe)
        self.pipe(tee, drain, pipe)
        self.pipe(drain, end, pipe)
        return tee

    def equipment(self, name: str, last: str, pipe: dict[str, Any]) -> str:
        """Adds equipment with an inlet and an outlet; returns the outlet."""
        kind = self.random.choice(_EQUIPMENT)
        pressure, temperature = self.random.randint(1, 63), self.random.randint(20, 420)
        attributes = [{"name": "material", "value": self.random.choice(_MATERIALS)}]
        fields = {"design_pressure": pressure, "design_temperature": temperature, "attributes": attributes}
        item = self.item(f"{kind[0].upper()}-{name}", f"equipment.{kind}", fields)
        inlet, outlet = (self.item(f"{item}-N{at}", "equipment_component.nozzle", {"tag": f"N{at}"}) for at in (1, 2))
        self.pipe(last, inlet, pipe)
        for nozzle in (inlet, outlet):
            self.edge(item, nozzle, "physically_has_a", {})
        return outlet

    def instrument(self, name: str, item: str) -> None:
        letters = self.random.choice(_INSTRUMENTS)
        kind = f"instrument.{_KINDS[letters[0]]}_{'transmitter' if letters[1] == 'T' else 'indicator'}"
        self.edge(self.item(f"{letters}-{name}", kind, {"location": "field"}), item, "associated_with", {})

    def connector(self, tag: str, other: int, pipe: dict[str, Any]) -> str:
        link = {"drawing_name": drawing_number(other), "link_label": pipe["line"]}
        return self.item(tag, "reference.off_page_connector", pipe | {"cross_page": link})

    def item(self, tag: str, kind: str, fields: dict[str, Any]) -> str:
        at = len(self.nodes)
        place = {"orig_x": 20 + at * 37 % 800, "orig_y": 20 + at * 53 % 550}
        names = {"id": tag, "node_type": "pid_component", "tag": tag, "node_classification": kind}
        self.nodes.append(names | fields | place)
        return tag

    def pipe(self, source: str, target: str, pipe: dict[str, Any]) -> None:
        self.edge(source, target, "physically_connected_to", {"direction": "forward", **pipe})

    def edge(self, source: str, target: str, kind: str, fields: dict[str, Any]) -> None:
        ends = {"id": f"e{len(self.edges)}", "edge_type": kind, "source": source, "target": target}
        self.edges.append(ends | fields)


def write(folder: Path, drawings: int, items: int, seed: int, processes: int) -> int:
    """Writes a fleet; returns the number of bytes of its drawings as JSON."""
    folder.mkdir(parents=True, exist_ok=True)
    count = min(_FILE, -(-drawings // _FILES))
    parts = [range(first, min(first + count, drawings)) for first in range(0, drawings, count)]
    tasks = [(folder, part, drawings, items, seed) for part in parts]
    if processes == 1:
        return sum(map(_write_file, tasks))
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        return sum(pool.imap_unordered(_write_file, tasks))


def _write_file(task: tuple[Path, range, int, int, int]) -> int:
    folder, part, drawings, items, seed = task
    schema = pa.schema([("drawing", pa.string()), ("revision", pa.string()), ("graph", pa.string())])
    size = 0
    with pq.ParquetWriter(folder / f"fleet-{part.start:07}.parquet", schema, compression="zstd") as writer:
        for group in _groups(part):
            documents = [drawing(at, drawings, items, seed) for at in group]
            texts = [json.dumps(document, separators=(",", ":")) for document in documents]
            size += sum(map(len, texts))
            metadata = [document["pid_graph"]["metadata"] for document in documents]
            numbers, revisions = ([entry[key] for entry in metadata] for key in ("drawing_number", "revision"))
            columns = [numbers, revisions, texts]
            writer.write_table(pa.table(columns, schema=schema), row_group_size=_ROW_GROUP)
    return size


def _groups(numbers: range) -> Iterator[range]:
    for at in range(0, len(numbers), _ROW_GROUP):
        yield numbers[at : at + _ROW_GROUP]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("output", type=Path, help="directory of the Parquet files")
    parser.add_argument("--drawings", type=int, default=10_000, help="number of drawings (default: %(default)s)")
    parser.add_argument(
        "--items", type=int, default=300, help="least number of items of a drawing (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=1, help="(default: %(default)s)")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="(default: one for each processor)")
    given = parser.parse_args()
    size = write(given.output, given.drawings, given.items, given.seed, given.processes)
    print(f"{given.output}: {given.drawings} drawings, {size / 1e6:.0f} MB of JSON")


if __name__ == "__main__":
    main()
