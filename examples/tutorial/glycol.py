"""Generates the drawings of the tutorials: unit 300, a glycol circuit on three sheets, and revision B of the first.

    python3 examples/tutorial/glycol.py examples/tutorial

Pump P-301A (P-301B is on standby) sends glycol from tank T-301 through the cooler E-301 and the filter F-301 and back to
the tank. Each pump has a minimum-flow line to the tank. `examples/data/plant.py` documents the columns. The plant is
invented, and has flaws that the tutorials find: a line without a valve, a check valve lost in a revision, and a
connector without a partner.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "data"))

from plant import CLOSED, EXCHANGER, FAILS_OPEN, OPEN
from sheet import Sheet, json_rows

PUMP = {"rated_flow": (32, "m³/h"), "head": (60, "m"), "power": (11, "kW")}
LOCKED_OPEN = {"normal_position": "locked_open", "operation": "manual"}
DESIGN = (10, 120)


def metadata(number, title, revision="A"):
    return {
        "drawing_name": f"300-PID-000{number}",
        "title": title,
        "job_id": f"glycol-{number}",
        "schema_version": "1.0.0",
        "change_version": "1" if revision == "A" else "2",
        "drawing_number": f"300-PID-000{number}",
        "unit": "300",
        "revision": revision,
        "coordinate_system": {"unit": "mm", "y_axis": "down"},
        "extent": [0, 0, 420, 297],
    }


def pumps():
    """Sheet 1: the tank and the pumps."""
    return Sheet(
        metadata=metadata(1, "Glycol tank and pumps"),
        equipment=[
            ("T-301", "tank", 90, 150, "glycol tank", 0.1, 120, {"volume": (18, "m³")}),
            ("P-301A", "centrifugal_pump", 225, 170, "glycol pump, running", *DESIGN, PUMP),
            ("P-301B", "centrifugal_pump", 225, 240, "glycol pump, standby", *DESIGN, PUMP),
        ],
        nozzles=[
            ("T-301-N1", 115, 170, "outlet", None),
            ("T-301-N2", 65, 125, "return", None),
            ("T-301-N3", 114, 110, "minimum flow", None),
            ("T-301-N6", 100, 110, "relief", None),
            ("T-301-N4", 85, 110, "vent", None),
            ("T-301-N5", 65, 170, "level", 80),
            ("P-301A-N1", 215, 170, "suction", None),
            ("P-301A-N2", 230, 160, "discharge", None),
            ("P-301B-N1", 215, 240, "suction", None),
            ("P-301B-N2", 230, 230, "discharge", None),
        ],
        piping=[
            ("HV-3001", "gate_valve", 135, 170, LOCKED_OPEN),
            ("TEE-301", "pipe_tee", 155, 170, {}),
            ("HV-3002A", "gate_valve", 175, 170, OPEN),
            ("STR-301A", "strainer", 195, 170, {"mesh": 40}),
            ("HV-3002B", "gate_valve", 175, 240, OPEN),
            ("STR-301B", "strainer", 195, 240, {"mesh": 40}),
            ("TEE-302A", "reducing_pipe_tee", 250, 160, {"branch_diameter": 25}),
            ("NRV-301A", "check_valve", 285, 160, {}),
            ("HV-3003A", "gate_valve", 305, 160, OPEN),
            ("TEE-302B", "reducing_pipe_tee", 265, 230, {"branch_diameter": 25}),
            ("NRV-301B", "check_valve", 285, 230, {}),
            ("HV-3003B", "gate_valve", 305, 230, OPEN),
            ("TEE-303", "pipe_tee", 330, 160, {}),
            ("TEE-304", "reducing_pipe_tee", 355, 160, {"branch_diameter": 25}),
            ("PSV-301", "safety_valve", 355, 62, {"set_pressure": 10, "service": "blocked discharge"}),
            ("RO-301A", "restriction_orifice", 250, 135, {"bore": 9}),
            ("RO-301B", "restriction_orifice", 265, 205, {"bore": 9}),
            ("HV-3004B", "globe_valve", 265, 115, OPEN | {"service": "minimum flow"}),
            ("TEE-305", "pipe_tee", 250, 85, {}),
        ],
        connectors=[
            ("OPC-301", 400, 160, "out", "glycol to cooler", "300-PID-0002"),
            ("OPC-302", 20, 125, "in", "glycol from filter", "300-PID-0003"),
        ],
        open_ends=[("VENT-301", 85, 30, "to atmosphere")],
        # fmt: off
        lines=[
            ("30101", 100, "GL", "A1A", None, *DESIGN, [
                "T-301-N1 > HV-3001 > TEE-301 > HV-3002A > STR-301A > P-301A-N1",
                "TEE-301 > HV-3002B > STR-301B > P-301B-N1",
            ]),
            ("30102", 80, "GL", "A1A", None, *DESIGN, [
                "P-301A-N2 > TEE-302A > NRV-301A > HV-3003A > TEE-303",
                "P-301B-N2 > TEE-302B > NRV-301B > HV-3003B > TEE-303",
                "TEE-303 > TEE-304 > OPC-301",
            ]),
            ("30103", 25, "GL", "A1A", None, *DESIGN, [
                "TEE-302A > RO-301A > TEE-305",
                "TEE-302B > RO-301B > HV-3004B > TEE-305",
                "TEE-305 > T-301-N3",
                "TEE-304 > PSV-301 > T-301-N6",
            ]),
            ("30105", 80, "GL", "A1A", None, *DESIGN, ["OPC-302 > T-301-N2"]),
            ("30106", 50, "AV", "A1A", None, 0.1, 120, ["T-301-N4 > VENT-301"]),
        ],
        # fmt: on
        instruments=[
            ("LT-3001", "level_transmitter", "T-301-N5", "field", 50, 190),
            ("LI-3001", "level_indicator", None, "control room", 50, 215),
        ],
        loops=[("L-3001", "level", None, "%", None, "LT-3001", "LI-3001", None)],
    )


def revised_pumps():
    """Revision B of sheet 1: the missing valve is added, the relief valve is reset, and a check valve is gone."""
    sheet = pumps()
    sheet.metadata = metadata(1, "Glycol tank and pumps", "B")
    sheet.piping = [row for row in sheet.piping if row[0] != "NRV-301B"]
    sheet.piping.append(("HV-3004A", "globe_valve", 250, 110, OPEN | {"service": "minimum flow"}))
    for tag, _, _, _, fields in sheet.piping:
        if tag == "PSV-301":
            fields["set_pressure"] = 12
    runs = {
        "TEE-302A > RO-301A > TEE-305": "TEE-302A > RO-301A > HV-3004A > TEE-305",
        "P-301B-N2 > TEE-302B > NRV-301B > HV-3003B > TEE-303": "P-301B-N2 > TEE-302B > HV-3003B > TEE-303",
    }
    sheet.lines = [(*line[:-1], [runs.get(run, run) for run in line[-1]]) for line in sheet.lines]
    return sheet


def cooler():
    """Sheet 2: the cooler."""
    return Sheet(
        metadata=metadata(2, "Glycol cooler"),
        equipment=[("E-301", EXCHANGER, 200, 150, "glycol cooler", None, None, {"duty": (210, "kW")})],
        chambers=[
            ("E-301-TUBE", "E-301", *DESIGN, ["E-301-N1", "E-301-N2"]),
            ("E-301-SHELL", "E-301", 6, 80, ["E-301-N3", "E-301-N4"]),
        ],
        nozzles=[
            ("E-301-N1", 180, 150, "glycol inlet", None),
            ("E-301-N2", 220, 150, "glycol outlet", None),
            ("E-301-N3", 210, 165, "cooling water inlet", None),
            ("E-301-N4", 190, 135, "cooling water outlet", None),
        ],
        piping=[
            ("TEE-311", "pipe_tee", 100, 150, {}),
            ("HV-3101", "gate_valve", 135, 150, OPEN),
            ("TW-3101", "thermowell", 255, 150, {}),
            ("HV-3102", "gate_valve", 280, 150, OPEN),
            ("TEE-312", "pipe_tee", 315, 150, {}),
            ("HV-3103", "globe_valve", 150, 215, CLOSED | {"service": "bypass of E-301"}),
            ("HV-3104", "butterfly_valve", 130, 250, OPEN),
            ("TV-3101", "control_valve", 230, 90, FAILS_OPEN),
            ("HV-3105", "butterfly_valve", 310, 90, OPEN),
        ],
        connectors=[
            ("OPC-311", 30, 150, "in", "glycol from pumps", "300-PID-0001"),
            ("OPC-312", 390, 150, "out", "glycol to filter", "300-PID-0003"),
            ("OPC-313", 30, 250, "in", "cooling water supply", "900-PID-0002"),
            ("OPC-314", 390, 90, "out", "cooling water return", "900-PID-0002"),
        ],
        # fmt: off
        lines=[
            ("30102", 80, "GL", "A1A", None, *DESIGN, ["OPC-311 > TEE-311 > HV-3101 > E-301-N1"]),
            ("30104", 80, "GL", "A1A", None, *DESIGN, [
                "E-301-N2 > TW-3101 > HV-3102 > TEE-312 > OPC-312",
                "TEE-311 > HV-3103 > TEE-312",
            ]),
            ("30111", 80, "CW", "A1A", None, 6, 80, ["OPC-313 > HV-3104 > E-301-N3"]),
            ("30112", 80, "CW", "A1A", None, 6, 80, ["E-301-N4 > TV-3101 > HV-3105 > OPC-314"]),
        ],
        # fmt: on
        instruments=[
            ("TT-3101", "temperature_transmitter", "TW-3101", "field", 255, 120),
            ("TIC-3101", "temperature_controller", None, "control room", 270, 50),
        ],
        loops=[("T-3101", "temperature", 40.0, "°C", "direct", "TT-3101", "TIC-3101", "TV-3101")],
    )


def filter_sheet():
    """Sheet 3: the filter and the make-up, which names a connector that sheet 1 lacks."""
    return Sheet(
        metadata=metadata(3, "Glycol filter and make-up"),
        equipment=[("F-301", "filter", 200, 150, "glycol filter", *DESIGN, {})],
        nozzles=[
            ("F-301-N1", 185, 150, "inlet", None),
            ("F-301-N2", 215, 150, "outlet", None),
            ("F-301-N3", 200, 170, "drain", None),
        ],
        piping=[
            ("HV-3201", "gate_valve", 130, 150, OPEN),
            ("TEE-321", "reducing_pipe_tee", 158, 150, {"branch_diameter": 25}),
            ("HV-3202", "gate_valve", 270, 150, OPEN),
            ("HV-3203", "gate_valve", 200, 205, CLOSED | {"service": "drain"}),
            ("BF-321", "blind_flange", 200, 235, {}),
            ("NRV-321", "check_valve", 110, 90, {}),
        ],
        connectors=[
            ("OPC-321", 30, 150, "in", "glycol from cooler", "300-PID-0002"),
            ("OPC-322", 390, 150, "out", "glycol to tank", "300-PID-0001"),
            ("OPC-323", 30, 90, "in", "glycol make-up", "300-PID-0001"),
        ],
        # fmt: off
        lines=[
            ("30104", 80, "GL", "A1A", None, *DESIGN, ["OPC-321 > HV-3201 > TEE-321 > F-301-N1"]),
            ("30105", 80, "GL", "A1A", None, *DESIGN, [
                "F-301-N2 > HV-3202 > OPC-322",
                "F-301-N3 > HV-3203 > BF-321 @ 25",
            ]),
            ("30107", 25, "GL", "A1A", None, *DESIGN, ["OPC-323 > NRV-321 > TEE-321"]),
        ],
        # fmt: on
    )


SHEETS = {"pumps": pumps, "pumps_b": revised_pumps, "cooler": cooler, "filter": filter_sheet}


def text(document):
    """Returns a document with one line per node and edge."""
    graph = document["pid_graph"]
    rows = {name: json_rows(graph[name]) for name in ("nodes", "edges")}
    description = json.dumps(graph["metadata"], ensure_ascii=False)
    return '{{"pid_graph": {{"nodes": [\n{nodes}\n], "edges": [\n{edges}\n], "metadata": {0}}}}}\n'.format(description, **rows)


if __name__ == "__main__":
    for name, build in SHEETS.items():
        (Path(sys.argv[1]) / f"{name}.json").write_text(text(build().document()), encoding="utf-8")
