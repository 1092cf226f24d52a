"""Generates the forty sheets of the tutorial on joined sheets: unit 900, the cooling water of a plant.

    python3 examples/tutorial/forty_sheets.py DIRECTORY

Sheet 1 has the basin and the pumps. Each of the others has a cooler between the supply and the return header, which
continue on the next sheet. The plant is invented, and has flaws that the tutorial finds: a connector with a wrong line
number on sheet 24, and a cooler without an inlet valve on sheet 17.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "data"))

from glycol import text
from plant import EXCHANGER, OPEN
from sheet import Sheet

SHEETS = 40
WITHOUT_VALVE = 17
WITH_WRONG_LINE = 24
DESIGN = (8, 60)
SUPPLY, RETURN, MISTAKE = "90001", "90002", "90020"


def drawing(number):
    return f"900-PID-{number:04}"


def metadata(number, title):
    return {
        "drawing_name": drawing(number),
        "title": title,
        "job_id": f"water-{number}",
        "schema_version": "1.0.0",
        "change_version": "1",
        "drawing_number": drawing(number),
        "unit": "900",
        "revision": "A",
        "coordinate_system": {"unit": "mm", "y_axis": "down"},
        "extent": [0, 0, 420, 297],
    }


def line(number, runs):
    return (number, 200, "CW", "A1A", None, *DESIGN, runs)


def pumps():
    """Sheet 1: the basin and the pumps."""
    pumps = ("A", 120), ("B", 200)
    return Sheet(
        metadata=metadata(1, "Cooling water pumps"),
        equipment=[
            ("T-901", "tank", 80, 150, "cooling water basin", 0.1, 60, {}),
            *((f"P-901{name}", "centrifugal_pump", 200, y, "cooling water pump", *DESIGN, {}) for name, y in pumps),
        ],
        nozzles=[
            ("T-901-N1", 100, 160, "outlet", None),
            ("T-901-N2", 60, 130, "return", None),
            *((f"P-901{name}-N1", 190, y, "suction", None) for name, y in pumps),
            *((f"P-901{name}-N2", 210, y, "discharge", None) for name, y in pumps),
        ],
        piping=[
            ("TEE-901", "pipe_tee", 130, 160, {}),
            ("TEE-902", "pipe_tee", 330, 120, {}),
            *((f"HV-9001{name}", "butterfly_valve", 160, y, OPEN) for name, y in pumps),
            *((f"NRV-901{name}", "check_valve", 250, y, {}) for name, y in pumps),
            *((f"HV-9002{name}", "butterfly_valve", 290, y, OPEN) for name, y in pumps),
        ],
        connectors=[
            ("OPC-01-S", 400, 120, "out", "cooling water supply", drawing(2)),
            ("OPC-01-R", 400, 250, "in", "cooling water return", drawing(2)),
        ],
        lines=[
            line("90003", ["T-901-N1 > TEE-901", *(f"TEE-901 > HV-9001{name} > P-901{name}-N1" for name, _ in pumps)]),
            line(
                SUPPLY,
                [*(f"P-901{name}-N2 > NRV-901{name} > HV-9002{name} > TEE-902" for name, _ in pumps), "TEE-902 > OPC-01-S"],
            ),
            line(RETURN, ["OPC-01-R > T-901-N2"]),
        ],
    )


def cooler(number):
    """A cooler between the headers; the last sheet ends them."""
    n, is_last = f"{number:02}", number == SHEETS
    tag = f"E-9{n}"
    headers = [(f"{n}-S", f"{n}-R", 30, drawing(number - 1))]
    if not is_last:
        headers.append((f"{n}-SN", f"{n}-RN", 390, drawing(number + 1)))
    connectors, supply, back = [], [], []
    for index, (first, second, x, neighbor) in enumerate(headers):
        is_next = index == 1
        connectors.append((f"OPC-{first}", x, 80, "out" if is_next else "in", "cooling water supply", neighbor))
        connectors.append((f"OPC-{second}", x, 230, "in" if is_next else "out", "cooling water return", neighbor))
        supply.append(f"TEE-{n}-S > OPC-{first}" if is_next else f"OPC-{first} > TEE-{n}-S")
        back.append(f"OPC-{second} > TEE-{n}-R" if is_next else f"TEE-{n}-R > OPC-{second}")
    inlet = [] if number == WITHOUT_VALVE else [f"HV-9{n}1"]
    supply.append(" > ".join([f"TEE-{n}-S", *inlet, f"{tag}-N1"]))
    outlet = f"{tag}-N2 > HV-9{n}2 > TEE-{n}-R"
    last_return = MISTAKE if number == WITH_WRONG_LINE else RETURN
    returns = [line(RETURN, [outlet, *back])]
    if last_return != RETURN:
        returns = [line(RETURN, [outlet, *back[1:]]), line(last_return, back[:1])]
    return Sheet(
        metadata=metadata(number, f"Cooling water of {tag}"),
        equipment=[(tag, EXCHANGER, 200, 150, f"cooler of unit {n}", *DESIGN, {})],
        nozzles=[(f"{tag}-N1", 190, 150, "water inlet", None), (f"{tag}-N2", 210, 150, "water outlet", None)],
        piping=[
            (f"TEE-{n}-S", "pipe_tee", 120, 80, {}),
            (f"TEE-{n}-R", "pipe_tee", 300, 230, {}),
            *((valve, "butterfly_valve", 120, 120, OPEN) for valve in inlet),
            (f"HV-9{n}2", "butterfly_valve", 300, 180, OPEN),
        ],
        connectors=connectors,
        lines=[line(SUPPLY, supply), *returns],
    )


if __name__ == "__main__":
    directory = Path(sys.argv[1])
    directory.mkdir(parents=True, exist_ok=True)
    for number in range(1, SHEETS + 1):
        sheet = pumps() if number == 1 else cooler(number)
        (directory / f"{drawing(number)}.json").write_text(text(sheet.document()), encoding="utf-8")
