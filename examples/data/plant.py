"""Generates `plant.json`: unit 100, condensate feed and flash, as one P&ID.

    python3 examples/data/plant.py > examples/data/plant.json

Condensate comes from another drawing into tank T-101. Pump P-101A (P-101B is on standby) sends it through the feed/effluent
exchanger E-101 and the steam heater E-102 into the flash vessel V-101. Vapour leaves under pressure control. Liquid heats
the feed in E-101 and leaves under level control through a double block and bleed. A minimum-flow line returns from the
pumps to the tank. Tags follow ISA-5.1; pressures are bar g, temperatures °C, sizes DN, positions millimeters.

The tables have one row per component and one string per pipe run; `sheet.py` converts them to a document. The plant is
invented.
"""

from sheet import Sheet, print_document

OPEN = {"normal_position": "open", "operation": "manual"}
CLOSED = {"normal_position": "closed", "operation": "manual"}
FAILS_OPEN = {"operation": "pneumatic", "fail_action": "open"}
FAILS_CLOSED = {"operation": "pneumatic", "fail_action": "closed"}

EXCHANGER = "shell_and_tube_heat_exchanger"
PUMP = {"rated_flow": (45, "m³/h"), "head": (170, "m"), "power": (30, "kW"), "material": ("A216-WCB", None)}

# Equipment: tag, class, x, y, service, design pressure and temperature (exchangers have them by side), attributes.
EQUIPMENT = [
    ("T-101", "tank", 110, 380, "condensate feed tank", 0.1, 80, {"volume": (250, "m³"), "material": ("A36", None)}),
    ("P-101A", "centrifugal_pump", 250, 420, "feed pump, running", 25, 80, PUMP),
    ("P-101B", "centrifugal_pump", 250, 480, "feed pump, standby", 25, 80, PUMP),
    ("E-101", EXCHANGER, 530, 420, "feed preheater", None, None, {"duty": (825.0, "kW"), "area": (46.5, "m²")}),
    ("E-102", EXCHANGER, 610, 330, "feed heater", None, None, {"duty": (900.0, "kW"), "area": (31.0, "m²")}),
    ("V-101", "separator", 700, 280, "flash vessel", 16, 180, {"volume": (12.5, "m³"), "material": ("A516-70", None)}),
]

# Sides of exchangers: tag, exchanger, design pressure, design temperature, nozzles.
CHAMBERS = [
    ("E-101-TUBE", "E-101", 25, 200, ["E-101-N1", "E-101-N2"]),
    ("E-101-SHELL", "E-101", 20, 200, ["E-101-N3", "E-101-N4"]),
    ("E-102-TUBE", "E-102", 25, 200, ["E-102-N1", "E-102-N2"]),
    ("E-102-SHELL", "E-102", 20, 200, ["E-102-N3", "E-102-N4"]),
]

# Nozzles: name, x, y, service, and the size if only an instrument is connected.
NOZZLES = [
    ("T-101-N1", 95, 340, "feed inlet", None),
    ("T-101-N2", 130, 430, "outlet", None),
    ("T-101-N3", 125, 340, "recycle inlet", None),
    ("T-101-N4", 110, 335, "vent", None),
    ("T-101-N5", 85, 410, "level", 80),
    ("P-101A-N1", 240, 420, "suction", None),
    ("P-101A-N2", 255, 410, "discharge", None),
    ("P-101B-N1", 240, 480, "suction", None),
    ("P-101B-N2", 255, 470, "discharge", None),
    ("E-101-N1", 515, 420, "feed inlet", None),
    ("E-101-N2", 545, 415, "feed outlet", None),
    ("E-101-N3", 540, 430, "effluent inlet", None),
    ("E-101-N4", 520, 430, "effluent outlet", None),
    ("E-102-N1", 595, 335, "feed inlet", None),
    ("E-102-N2", 625, 330, "feed outlet", None),
    ("E-102-N3", 605, 320, "steam inlet", None),
    ("E-102-N4", 615, 340, "condensate outlet", None),
    ("V-101-N1", 685, 280, "feed inlet", None),
    ("V-101-N2", 700, 310, "liquid outlet", None),
    ("V-101-N3", 700, 250, "vapour outlet", None),
    ("V-101-N4", 710, 250, "relief", None),
    ("V-101-N5", 690, 310, "drain", None),
    ("V-101-N6", 715, 265, "pressure", 50),
    ("V-101-N7", 715, 295, "level", 50),
]

# Piping components: tag, class, x, y, fields.
PIPING = [
    ("HV-1001", "gate_valve", 70, 340, OPEN),
    ("HV-1002", "gate_valve", 155, 430, OPEN),
    ("TEE-101", "pipe_tee", 175, 430, {}),
    ("HV-1003A", "gate_valve", 200, 420, OPEN),
    ("STR-101A", "strainer", 220, 420, {"mesh": 40}),
    ("HV-1003B", "gate_valve", 200, 480, OPEN),
    ("STR-101B", "strainer", 220, 480, {"mesh": 40}),
    ("NRV-101A", "check_valve", 275, 410, {}),
    ("HV-1004A", "gate_valve", 295, 410, OPEN),
    ("NRV-101B", "check_valve", 275, 470, {}),
    ("HV-1004B", "gate_valve", 295, 470, OPEN),
    ("TEE-102", "pipe_tee", 315, 410, {}),
    ("FE-1102", "orifice_plate", 335, 410, {}),
    ("TEE-103", "reducing_pipe_tee", 355, 410, {"branch_diameter": 50}),
    ("FE-1101", "orifice_plate", 380, 410, {}),
    ("TEE-104", "pipe_tee", 400, 410, {}),
    ("HV-1010", "gate_valve", 415, 410, OPEN),
    ("RED-101", "pipe_reducer", 425, 410, {"outlet_diameter": 80}),
    ("FV-1101", "control_valve", 440, 410, FAILS_CLOSED),
    ("RED-102", "pipe_reducer", 455, 410, {"outlet_diameter": 100}),
    ("HV-1011", "gate_valve", 465, 410, OPEN),
    ("HV-1012", "globe_valve", 440, 435, CLOSED | {"service": "bypass of FV-1101"}),
    ("TEE-105", "pipe_tee", 480, 410, {}),
    ("HV-1006", "gate_valve", 355, 370, OPEN),
    ("FV-1102", "control_valve", 300, 320, FAILS_OPEN),
    ("HV-1007", "gate_valve", 200, 320, OPEN),
    ("TEE-106", "reducing_pipe_tee", 570, 375, {"branch_diameter": 20}),
    ("HV-1013", "ball_valve", 570, 360, CLOSED | {"service": "high point vent"}),
    ("BF-101", "blind_flange", 570, 350, {}),
    ("TW-1105", "thermowell", 655, 305, {}),
    ("PV-1104", "control_valve", 740, 230, FAILS_OPEN),
    ("HV-1014", "gate_valve", 765, 230, OPEN),
    ("HV-1015", "gate_valve", 700, 340, OPEN),
    ("LV-1103", "control_valve", 560, 480, FAILS_CLOSED),
    ("HV-1016", "ball_valve", 620, 480, OPEN | {"service": "first block"}),
    ("TEE-107", "reducing_pipe_tee", 640, 480, {"branch_diameter": 20}),
    ("HV-1017", "ball_valve", 640, 500, CLOSED | {"service": "bleed"}),
    ("BF-102", "blind_flange", 640, 515, {}),
    ("HV-1018", "ball_valve", 660, 480, OPEN | {"service": "second block"}),
    ("HV-1019", "gate_valve", 500, 270, OPEN),
    ("TV-1105", "control_valve", 540, 270, FAILS_CLOSED),
    ("TRAP-101", "steam_trap", 640, 360, {}),
    ("HV-1020", "gate_valve", 665, 360, OPEN),
    ("PSV-1106", "safety_valve", 710, 200, {"set_pressure": 16, "outlet_diameter": 80}),
    ("HV-1021", "gate_valve", 690, 400, CLOSED | {"service": "drain"}),
    ("BF-103", "blind_flange", 690, 420, {}),
    ("PVSV-1112", "breather_valve", 110, 300, {"set_pressure": 0.02, "set_vacuum": -0.005}),
]

# Connectors to other drawings: tag, x, y, flow, service, other drawing.
CONNECTORS = [
    ("OPC-101", 30, 340, "in", "condensate from slug catcher", "100-PID-0002"),
    ("OPC-102", 810, 230, "out", "vapour to compressor", "100-PID-0004"),
    ("OPC-103", 810, 480, "out", "stabilised condensate to storage", "100-PID-0005"),
    ("OPC-104", 460, 270, "in", "low pressure steam", "900-PID-0001"),
    ("OPC-105", 810, 360, "out", "steam condensate return", "900-PID-0001"),
    ("OPC-106", 810, 180, "out", "flare header", "900-PID-0003"),
]

# Open ends: tag, x, y, service.
OPEN_ENDS = [("VENT-101", 110, 270, "to atmosphere at safe location")]

# Lines: number, size, fluid, piping class, insulation, design pressure, design temperature, runs in flow order.
# `@ 80` at the end of a run is its size, if it differs from that of the line.
# fmt: off
LINES = [
    ("10101", 150, "PL", "A1A", None, 10, 80, ["OPC-101 > HV-1001 > T-101-N1"]),
    ("10102", 150, "PL", "A1A", None, 3.5, 80, [
        "T-101-N2 > HV-1002 > TEE-101",
        "TEE-101 > HV-1003A > STR-101A > P-101A-N1",
        "TEE-101 > HV-1003B > STR-101B > P-101B-N1",
    ]),
    ("10103", 100, "PL", "B1B", None, 25, 80, [
        "P-101A-N2 > NRV-101A > HV-1004A > TEE-102",
        "P-101B-N2 > NRV-101B > HV-1004B > TEE-102",
        "TEE-102 > FE-1102 > TEE-103 > FE-1101 > TEE-104 > HV-1010 > RED-101",
        "RED-101 > FV-1101 > RED-102 @ 80",
        "RED-102 > HV-1011 > TEE-105 > E-101-N1",
        "TEE-104 > HV-1012 > TEE-105",
    ]),
    ("10104", 100, "PL", "B1B", "heat conservation", 25, 200, [
        "E-101-N2 > TEE-106 > E-102-N1",
        "TEE-106 > HV-1013 > BF-101 @ 20",
    ]),
    ("10105", 100, "PL", "B1B", "heat conservation", 25, 200, ["E-102-N2 > TW-1105 > V-101-N1"]),
    ("10106", 100, "PG", "B1B", "heat conservation", 16, 180, ["V-101-N3 > PV-1104 > HV-1014 > OPC-102"]),
    ("10107", 100, "PL", "B1B", "heat conservation", 16, 180, [
        "V-101-N2 > HV-1015 > E-101-N3",
        "V-101-N5 > HV-1021 > BF-103 @ 50",
    ]),
    ("10108", 100, "PL", "B1B", None, 16, 180, [
        "E-101-N4 > LV-1103 > HV-1016 > TEE-107 > HV-1018 > OPC-103",
        "TEE-107 > HV-1017 > BF-102 @ 20",
    ]),
    ("10109", 50, "PL", "B1B", None, 25, 80, ["TEE-103 > HV-1006 > FV-1102 > HV-1007 > T-101-N3"]),
    ("10110", 80, "LS", "A1A", "heat conservation", 6, 180, ["OPC-104 > HV-1019 > TV-1105 > E-102-N3"]),
    ("10111", 40, "LC", "A1A", "personnel protection", 6, 180, ["E-102-N4 > TRAP-101 > HV-1020 > OPC-105"]),
    ("10112", 50, "PG", "B1B", None, 16, 180, ["V-101-N4 > PSV-1106"]),
    ("10113", 80, "FL", "A1A", None, 3.5, 180, ["PSV-1106 > OPC-106"]),
    ("10114", 100, "AV", "A1A", None, 3.5, 80, ["T-101-N4 > PVSV-1112 > VENT-101"]),
]
# fmt: on

# Instruments: tag, class, sensing point, location, x, y.
INSTRUMENTS = [
    ("FT-1101", "flow_transmitter", "FE-1101", "field", 380, 390),
    ("FIC-1101", "flow_controller", None, "control room", 410, 380),
    ("FT-1102", "flow_transmitter", "FE-1102", "field", 335, 390),
    ("FIC-1102", "flow_controller", None, "control room", 320, 350),
    ("LT-1103", "level_transmitter", "V-101-N7", "field", 740, 295),
    ("LIC-1103", "level_controller", None, "control room", 745, 330),
    ("PT-1104", "pressure_transmitter", "V-101-N6", "field", 735, 265),
    ("PIC-1104", "pressure_controller", None, "control room", 745, 205),
    ("TT-1105", "temperature_transmitter", "TW-1105", "field", 655, 285),
    ("TIC-1105", "temperature_controller", None, "control room", 580, 250),
    ("PI-1107A", "pressure_indicator", "P-101A-N2", "field", 260, 390),
    ("PI-1107B", "pressure_indicator", "P-101B-N2", "field", 260, 455),
    ("LG-1108", "level_gauge", "T-101-N5", "field", 65, 410),
]

# Loops: tag, kind, set point, unit, controller action, transmitter, controller, control valve.
LOOPS = [
    ("F-1101", "flow", 40.0, "m³/h", "reverse", "FT-1101", "FIC-1101", "FV-1101"),
    ("F-1102", "flow", 15.0, "m³/h", "direct", "FT-1102", "FIC-1102", "FV-1102"),
    ("L-1103", "level", 50.0, "%", "direct", "LT-1103", "LIC-1103", "LV-1103"),
    ("P-1104", "pressure", 8.0, "bar g", "reverse", "PT-1104", "PIC-1104", "PV-1104"),
    ("T-1105", "temperature", 120.0, "°C", "reverse", "TT-1105", "TIC-1105", "TV-1105"),
]

METADATA = {
    "drawing_name": "100-PID-0001 Condensate feed and flash",
    "job_id": "plant-100",
    "schema_version": "1.0.0",
    "change_version": "1",
    "drawing_number": "100-PID-0001",
    "unit": "100",
    "revision": "A",
    "coordinate_system": {"unit": "mm", "y_axis": "down"},
    "extent": [0, 0, 841, 594],
}


def sheet():
    return Sheet(
        equipment=list(EQUIPMENT),
        chambers=list(CHAMBERS),
        nozzles=list(NOZZLES),
        piping=list(PIPING),
        connectors=list(CONNECTORS),
        open_ends=list(OPEN_ENDS),
        lines=list(LINES),
        instruments=list(INSTRUMENTS),
        loops=list(LOOPS),
        metadata=dict(METADATA),
    )


if __name__ == "__main__":
    print_document(sheet().document())
