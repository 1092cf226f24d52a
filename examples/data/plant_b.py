"""Generates `plant_b.json`: revision B of unit 100, as after a review.

    python3 examples/data/plant_b.py > examples/data/plant_b.json

Added: the return of off-spec condensate from storage, and a strainer in the steam to the heater. The vessel and its relief
valve have a higher design pressure. Removed: a gauge. A valve has a new tag, and the relief valve has moved on the sheet.
"""

import plant
from sheet import print_document

# Added rows, by table. `plant.py` documents the columns.
# fmt: off
ADDED = {
    "nozzles": [("T-101-N6", 100, 335, "off-spec return", None)],
    "piping": [
        ("HV-1022", "gate_valve", 70, 310, plant.OPEN),
        ("NRV-102", "check_valve", 85, 310, {}),
        ("STR-102", "strainer", 520, 270, {"mesh": 60}),
    ],
    "connectors": [("OPC-107", 30, 310, "in", "off-spec condensate from storage", "100-PID-0005")],
    "lines": [("20107", 80, "PL", "B1B", None, 16, 80, ["OPC-107 > HV-1022 > NRV-102 > T-101-N6"])],
}
# fmt: on

# Removed items.
REMOVED = ["PI-1107B"]

# Changed runs: before, after.
REWIRED = {"OPC-104 > HV-1019 > TV-1105 > E-102-N3": "OPC-104 > HV-1019 > STR-102 > TV-1105 > E-102-N3"}

# Items at another position: x, y.
MOVED = {"PSV-1106": (730, 200)}

# Items with another tag; their ids stay.
RETAGGED = {"HV-1019": "HV-1023"}

# Fields with other values.
CHANGED = {
    "V-101": {"design_pressure": 18},
    "PSV-1106": {"set_pressure": 18},
    "HV-1012": {"normal_position": "locked_closed"},
    "100-PG-10106-B1B": {"design_pressure": 18},
}

# Attributes with other values.
CHANGED_ATTRIBUTES = {"P-101A": {"power": 37}, "P-101B": {"power": 37}}


def revised_document():
    sheet = plant.sheet()
    for table, rows in ADDED.items():
        getattr(sheet, table).extend(rows)
    sheet.instruments = [row for row in sheet.instruments if row[0] not in REMOVED]
    sheet.lines = [(*line[:-1], [REWIRED.get(run, run) for run in line[-1]]) for line in sheet.lines]
    sheet.metadata |= {"revision": "B", "change_version": "2"}
    document = sheet.document()
    for node in document["pid_graph"]["nodes"]:
        revise_node(node)
    return document


def revise_node(node):
    item = node["id"]
    node |= CHANGED.get(item, {})
    if item in RETAGGED:
        node["tag"] = RETAGGED[item]
    if item in MOVED:
        node["orig_x"], node["orig_y"] = MOVED[item]
    for attribute in node.get("attributes", []):
        attribute["value"] = CHANGED_ATTRIBUTES.get(item, {}).get(attribute["name"], attribute["value"])


if __name__ == "__main__":
    print_document(revised_document())
