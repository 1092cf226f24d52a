"""Generates `storage.json`: storage and loading, the sheet that receives the condensate of unit 100.

    python3 examples/data/storage.py > examples/data/storage.json

Condensate comes from drawing 100-PID-0001, is cooled in E-201 with cooling water and runs down to tanks T-201A and B.
Pump P-201A (P-201B stands by) loads it under flow control, or returns what is off specification to 100-PID-0001, whose
revision B has the other end. The levels are indicated, not controlled. `plant.py` documents the columns. The plant is
invented.
"""

from sheet import Sheet, print_document
from plant import CLOSED, EXCHANGER, FAILS_CLOSED, FAILS_OPEN, OPEN

TANK = {"volume": (600, "m³"), "material": ("A36", None)}
PUMP = {"rated_flow": (90, "m³/h"), "head": (85, "m"), "power": (37, "kW"), "material": ("A216-WCB", None)}

EQUIPMENT = [
    ("E-201", EXCHANGER, 150, 200, "rundown cooler", None, None, {"duty": (640.0, "kW"), "area": (38.0, "m²")}),
    ("T-201A", "tank", 330, 170, "condensate tank", 0.1, 60, TANK),
    ("T-201B", "tank", 330, 370, "condensate tank", 0.1, 60, TANK),
    ("P-201A", "centrifugal_pump", 520, 250, "loading pump, running", 16, 60, PUMP),
    ("P-201B", "centrifugal_pump", 520, 330, "loading pump, standby", 16, 60, PUMP),
]

CHAMBERS = [
    ("E-201-TUBE", "E-201", 16, 180, ["E-201-N1", "E-201-N2"]),
    ("E-201-SHELL", "E-201", 10, 80, ["E-201-N3", "E-201-N4"]),
]

NOZZLES = [
    ("E-201-N1", 135, 200, "condensate inlet", None),
    ("E-201-N2", 165, 200, "condensate outlet", None),
    ("E-201-N3", 160, 215, "cooling water inlet", None),
    ("E-201-N4", 140, 185, "cooling water outlet", None),
    ("T-201A-N1", 305, 140, "inlet", None),
    ("T-201A-N2", 360, 200, "outlet", None),
    ("T-201A-N3", 330, 125, "vent", None),
    ("T-201A-N4", 360, 160, "level", 80),
    ("T-201A-N5", 330, 215, "drain", None),
    ("T-201A-N6", 300, 190, "manhole", 600),
    ("T-201B-N1", 305, 340, "inlet", None),
    ("T-201B-N2", 360, 400, "outlet", None),
    ("T-201B-N3", 330, 325, "vent", None),
    ("T-201B-N4", 360, 360, "level", 80),
    ("T-201B-N5", 330, 415, "drain", None),
    ("T-201B-N6", 300, 390, "manhole", 600),
    ("T-201B-N7", 305, 355, "spare", 80),
    ("P-201A-N1", 510, 250, "suction", None),
    ("P-201A-N2", 525, 240, "discharge", None),
    ("P-201B-N1", 510, 330, "suction", None),
    ("P-201B-N2", 525, 320, "discharge", None),
]

PIPING = [
    ("HV-2001", "gate_valve", 80, 200, OPEN),
    ("TW-2101", "thermowell", 190, 200, {}),
    ("TEE-201", "pipe_tee", 230, 200, {}),
    ("HV-2002A", "gate_valve", 260, 140, OPEN),
    ("HV-2002B", "gate_valve", 260, 340, CLOSED),
    ("HV-2003A", "gate_valve", 390, 200, OPEN),
    ("HV-2003B", "gate_valve", 390, 400, CLOSED),
    ("TEE-202", "pipe_tee", 420, 290, {}),
    ("TEE-203", "pipe_tee", 450, 290, {}),
    ("HV-2004A", "gate_valve", 470, 250, OPEN),
    ("STR-201A", "strainer", 490, 250, {"mesh": 40}),
    ("HV-2004B", "gate_valve", 470, 330, OPEN),
    ("STR-201B", "strainer", 490, 330, {"mesh": 40}),
    ("HV-2005A", "gate_valve", 330, 235, CLOSED | {"service": "drain"}),
    ("BF-201A", "blind_flange", 330, 250, {}),
    ("HV-2005B", "gate_valve", 330, 435, CLOSED | {"service": "drain"}),
    ("BF-201B", "blind_flange", 330, 450, {}),
    ("NRV-201A", "check_valve", 545, 240, {}),
    ("HV-2006A", "gate_valve", 565, 240, OPEN),
    ("NRV-201B", "check_valve", 545, 320, {}),
    ("HV-2006B", "gate_valve", 565, 320, OPEN),
    ("TEE-204", "pipe_tee", 590, 240, {}),
    ("TEE-205", "reducing_pipe_tee", 610, 240, {"branch_diameter": 80}),
    ("FE-2102", "orifice_plate", 630, 240, {}),
    ("TEE-206", "pipe_tee", 650, 240, {}),
    ("HV-2007", "gate_valve", 670, 240, OPEN),
    ("FV-2102", "control_valve", 690, 240, FAILS_CLOSED),
    ("HV-2008", "gate_valve", 710, 240, OPEN),
    ("HV-2009", "globe_valve", 690, 265, CLOSED | {"service": "bypass of FV-2102"}),
    ("TEE-207", "pipe_tee", 730, 240, {}),
    ("TEE-208", "reducing_pipe_tee", 750, 240, {"branch_diameter": 20}),
    ("PSV-2106", "safety_valve", 750, 210, {"set_pressure": 16, "service": "thermal expansion", "outlet_diameter": 25}),
    ("HV-2010", "gate_valve", 610, 450, CLOSED),
    ("NRV-202", "check_valve", 590, 480, {}),
    ("HV-2011", "butterfly_valve", 100, 260, OPEN),
    ("TV-2101", "control_valve", 110, 150, FAILS_OPEN),
    ("HV-2012", "butterfly_valve", 80, 150, OPEN),
    ("PVSV-201A", "breather_valve", 330, 100, {"set_pressure": 0.02, "set_vacuum": -0.005}),
    ("PVSV-201B", "breather_valve", 330, 300, {"set_pressure": 0.02, "set_vacuum": -0.005}),
    ("TEE-209", "pipe_tee", 370, 80, {}),
]

CONNECTORS = [
    ("OPC-201", 30, 200, "in", "stabilised condensate", "100-PID-0001"),
    ("OPC-202", 30, 480, "out", "off-spec condensate to feed tank", "100-PID-0001"),
    ("OPC-203", 810, 240, "out", "condensate to loading", "100-PID-0006"),
    ("OPC-204", 30, 260, "in", "cooling water supply", "900-PID-0002"),
    ("OPC-205", 810, 180, "out", "flare header", "900-PID-0003"),
    ("OPC-206", 30, 150, "out", "cooling water return", "900-PID-0002"),
]

OPEN_ENDS = [("VENT-201", 370, 50, "to atmosphere")]

# fmt: off
LINES = [
    ("10108", 100, "PL", "B1B", None, 16, 180, ["OPC-201 > HV-2001 > E-201-N1"]),
    ("20101", 100, "PL", "B1B", None, 16, 60, [
        "E-201-N2 > TW-2101 > TEE-201",
        "TEE-201 > HV-2002A > T-201A-N1",
        "TEE-201 > HV-2002B > T-201B-N1",
    ]),
    ("20102", 150, "PL", "A1A", None, 3.5, 60, [
        "T-201A-N2 > HV-2003A > TEE-202",
        "T-201B-N2 > HV-2003B > TEE-202",
        "TEE-202 > TEE-203",
        "TEE-203 > HV-2004A > STR-201A > P-201A-N1",
        "TEE-203 > HV-2004B > STR-201B > P-201B-N1",
        "T-201A-N5 > HV-2005A > BF-201A @ 50",
        "T-201B-N5 > HV-2005B > BF-201B @ 50",
    ]),
    ("20103", 100, "PL", "B1B", None, 16, 60, [
        "P-201A-N2 > NRV-201A > HV-2006A > TEE-204",
        "P-201B-N2 > NRV-201B > HV-2006B > TEE-204",
        "TEE-204 > TEE-205 > FE-2102 > TEE-206",
        "TEE-206 > HV-2007 > FV-2102 > HV-2008 > TEE-207",
        "TEE-206 > HV-2009 > TEE-207",
        "TEE-207 > TEE-208 > OPC-203",
        "TEE-208 > PSV-2106 @ 20",
    ]),
    ("20104", 80, "CW", "A1A", None, 6, 50, ["OPC-204 > HV-2011 > E-201-N3"]),
    ("20105", 80, "CW", "A1A", None, 6, 60, ["E-201-N4 > TV-2101 > HV-2012 > OPC-206"]),
    ("20106", 100, "AV", "A1A", None, 3.5, 60, [
        "T-201A-N3 > PVSV-201A > TEE-209",
        "T-201B-N3 > PVSV-201B > TEE-209",
        "TEE-209 > VENT-201",
    ]),
    ("20107", 80, "PL", "B1B", None, 16, 80, ["TEE-205 > HV-2010 > NRV-202 > OPC-202"]),
    ("20108", 25, "FL", "A1A", None, 3.5, 60, ["PSV-2106 > OPC-205"]),
]
# fmt: on

INSTRUMENTS = [
    ("TT-2101", "temperature_transmitter", "TW-2101", "field", 190, 180),
    ("TIC-2101", "temperature_controller", None, "control room", 150, 120),
    ("FT-2102", "flow_transmitter", "FE-2102", "field", 630, 220),
    ("FIC-2102", "flow_controller", None, "control room", 660, 205),
    ("LT-2103", "level_transmitter", "T-201A-N4", "field", 390, 160),
    ("LI-2103", "level_indicator", None, "control room", 412, 140),
    ("LT-2104", "level_transmitter", "T-201B-N4", "field", 390, 360),
    ("LI-2104", "level_indicator", None, "control room", 412, 340),
    ("PI-2105A", "pressure_indicator", "P-201A-N2", "field", 530, 220),
    ("PI-2105B", "pressure_indicator", "P-201B-N2", "field", 530, 300),
]

LOOPS = [
    ("T-2101", "temperature", 45.0, "°C", "direct", "TT-2101", "TIC-2101", "TV-2101"),
    ("F-2102", "flow", 80.0, "m³/h", "reverse", "FT-2102", "FIC-2102", "FV-2102"),
    ("L-2103", "level", None, "%", None, "LT-2103", "LI-2103", None),
    ("L-2104", "level", None, "%", None, "LT-2104", "LI-2104", None),
]

METADATA = {
    "drawing_name": "100-PID-0005 Condensate storage and loading",
    "job_id": "storage-100",
    "schema_version": "1.0.0",
    "change_version": "1",
    "drawing_number": "100-PID-0005",
    "unit": "100",
    "revision": "A",
    "coordinate_system": {"unit": "mm", "y_axis": "down"},
    "extent": [0, 0, 841, 594],
}


def sheet():
    return Sheet(
        equipment=EQUIPMENT,
        chambers=CHAMBERS,
        nozzles=NOZZLES,
        piping=PIPING,
        connectors=CONNECTORS,
        open_ends=OPEN_ENDS,
        lines=LINES,
        instruments=INSTRUMENTS,
        loops=LOOPS,
        metadata=METADATA,
    )


if __name__ == "__main__":
    print_document(sheet().document())
