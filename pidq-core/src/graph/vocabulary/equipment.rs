//! Words of equipment: machines, vessels, exchangers and their sides, parts, places.

/// Nouns in the classes of equipment that raises the pressure: its outlet is not at the pressure of its inlet.
pub const PRESSURE_RAISING: &[&str] = &[
    "bomba",
    "bomba_centrifuga",
    "bomba_centrífuga",
    "bomba_dosificadora",
    "compresor",
    "doseerpomp",
    "membraanpomp",
    "pomp",
    "soplador",
    "compresseur",
    "dosierpumpe",
    "geblaese",
    "gebläse",
    "kolbenpumpe",
    "kolbenverdichter",
    "kompressor",
    "kreiselpumpe",
    "membranpumpe",
    "pompe",
    "pompe_a_membrane",
    "pompe_centrifuge",
    "pompe_doseuse",
    "pompe_volumetrique",
    "pompe_volumétrique",
    "pompe_à_membrane",
    "pumpe",
    "soufflante",
    "verdichter",
    "zahnradpumpe",
    "pump",
    "pumping",
    "compressor",
    "blower",
    "fan",
    "booster",
    "circulator",
    "ejector",
    "eductor",
    "exhauster",
    "intensifier",
    "supercharger",
    "turbocharger",
    "ventilator",
];

/// Nouns in the classes of other machines, through which a fluid may not pass when they stand still.
pub const MACHINES: &[&str] = &[
    "turbine",
    "expander",
    "centrifuge",
    "mixer",
    "agitator",
    "stirrer",
    "kneader",
    "extruder",
    "rotary_feeder",
    "screw_feeder",
    "rotary_airlock",
];

/// Last words in the classes of machines in which a fluid expands: it enters and leaves them.
pub const EXPANDING: &[&str] = &["turbine", "expander", "turboexpander"];

/// Words in the classes of machines whose casing is open between inlet and outlet when they stand still.
pub const OPEN_MACHINES: &[&str] = &[
    "agitator",
    "axial",
    "centrifugal",
    "ejector",
    "eductor",
    "fan",
    "jet",
    "kreiselpumpe",
    "pompe_centrifuge",
    "mixer",
    "side_channel",
    "stirrer",
    "vortex",
];

/// Words in the classes of machines that are shut between inlet and outlet when they stand still: by valves, pistons, screws
/// or lobes.
pub const SHUT_MACHINES: &[&str] = &[
    "airlock",
    "diaphragm",
    "dosierpumpe",
    "dosing",
    "expander",
    "feeder",
    "gear",
    "hose_pump",
    "lobe",
    "kolbenpumpe",
    "kolbenverdichter",
    "membranpumpe",
    "membrane",
    "metering",
    "peristaltic",
    "piston",
    "plunger",
    "pompe_a_membrane",
    "pompe_doseuse",
    "pompe_volumetrique",
    "pompe_volumétrique",
    "pompe_à_membrane",
    "positive_displacement",
    "progressive_cavity",
    "reciprocating",
    "roots",
    "rotary",
    "screw",
    "turbine",
    "turboexpander",
    "vane",
    "zahnradpumpe",
];

/// Nouns in the classes of equipment that is no machine, though it may be named after one: a pump suction strainer.
pub const NO_MACHINES: &[&str] = &[
    "accumulator",
    "basin",
    "bottle",
    "chiller",
    "column",
    "condenser",
    "cooler",
    "cyclone",
    "dampener",
    "damper",
    "drum",
    "evaporator",
    "exchanger",
    "filter",
    "heater",
    "in_line_mixer",
    "inline_mixer",
    "jet_mixer",
    "manifold",
    "meter",
    "muffler",
    "pit",
    "pot",
    "reactor",
    "reboiler",
    "receiver",
    "reservoir",
    "scrubber",
    "separator",
    "settler",
    "silencer",
    "snubber",
    "stack",
    "static_mixer",
    "strainer",
    "sump",
    "tank",
    "tower",
    "trap",
    "valve",
    "vaporiser",
    "vaporizer",
    "vessel",
];

/// Words after a noun in a class that make it an attribute: `tank_mounted_pump`, `pump_motor_driven`.
pub const ATTRIBUTIVE_ENDINGS: &[&str] =
    &["actuated", "cooled", "driven", "heated", "jacketed", "mounted", "operated", "powered", "style", "type"];

/// Parts of the classes of equipment with a fan through which no process fluid flows.
pub const FAN_COOLED: &[&str] = &["fin_fan", "air_cooled", "air_cooler", "air_fin"];

/// Words in the classes of what drives other equipment, and is not open to it.
pub const PRIME_MOVERS: &[&str] = &["motor", "turbine", "engine", "gearbox", "gear_box", "driver"];

/// Words in the classes of equipment that only groups other equipment.
pub const ASSEMBLIES: &[&str] = &["package", "package_unit", "skid", "unit", "train", "system", "assembly", "plant"];

/// Nouns in the classes of equipment that is a space for a fluid, or several ones. With the machines and those of
/// `NO_MACHINES`, it is the equipment of a known kind.
pub const BODIES: &[&str] = &[
    "abscheider",
    "absorber",
    "adsorber",
    "autoclave",
    "ballon",
    "behaelter",
    "behälter",
    "bin",
    "blender",
    "boiler",
    "boot",
    "bullet",
    "bunker",
    "calciner",
    "chamber",
    "chimney",
    "clarifier",
    "coalescer",
    "collector",
    "combustor",
    "container",
    "contactor",
    "converter",
    "cooling_tower",
    "crystallizer",
    "crystalliser",
    "deaerator",
    "decanter",
    "degasser",
    "dehydrator",
    "desalter",
    "desorber",
    "desuperheater",
    "digester",
    "distillation",
    "dryer",
    "economiser",
    "economizer",
    "emitter",
    "equipment_vent",
    "extractor",
    "fermenter",
    "fermentor",
    "flare",
    "flash",
    "fractionator",
    "furnace",
    "header",
    "hopper",
    "hydrocyclone",
    "incinerator",
    "interchanger",
    "kettle",
    "kolonne",
    "lagoon",
    "launcher",
    "oven",
    "oxidiser",
    "oxidizer",
    "pond",
    "preheater",
    "pulsation_dampener",
    "quench",
    "quencher",
    "rectifier",
    "recuperator",
    "regenerator",
    "saturator",
    "section",
    "silo",
    "slug_catcher",
    "sphere",
    "spheroid",
    "still",
    "stripper",
    "superheater",
    "surge",
    "thickener",
    "washer",
];

/// Parts of the classes of equipment with two sides that are separated by a wall.
pub const EXCHANGERS: &[&str] = &[
    "exchanger",
    "interchanger",
    "condenser",
    "reboiler",
    "evaporator",
    "vaporizer",
    "vaporiser",
    "chiller",
    "cooler",
    "heater",
    "recuperator",
    "economizer",
    "economiser",
    "jacketed",
    "double_pipe",
    "echangeur",
    "kondensator",
    "kuehler",
    "kühler",
    "refroidisseur",
    "verdampfer",
    "waermetauscher",
    "waermeuebertrager",
    "wärmetauscher",
    "wärmeübertrager",
    "échangeur",
];

/// Parts of the classes of exchangers with pipes on one side only, or in which both fluids mix.
pub const SINGLE_SIDED: &[&str] = &[
    "air_cool",
    "air_fin",
    "fin_fan",
    "electric",
    "immersion_heater",
    "direct_contact",
    "barometric",
    "desuperheater",
    "de_superheater",
];

/// Last words in the classes of exchangers of two fluids, each with an inlet and an outlet.
pub const TWO_SIDED: &[&str] = &[
    "condenser",
    "double_pipe",
    "exchanger",
    "interchanger",
    "kondensator",
    "reboiler",
    "recuperator",
    "waermetauscher",
    "waermeuebertrager",
    "wärmetauscher",
    "wärmeübertrager",
    "échangeur",
    "échangeur_de_chaleur",
];

/// Last words in the classes of items in which two fluids meet and leave as one.
pub const THREE_CONNECTIONS: &[&str] = &[
    "attemperator",
    "de_superheater",
    "desuperheater",
    "eductor",
    "ejector",
    "eyector",
    "injection_lance",
    "injection_quill",
    "jet_pump",
    "steam_jet",
    "strahlpumpe",
    "éjecteur",
];

/// Words in the texts of equipment with a second space behind a wall.
pub const SECOND_SIDES: &[&str] = &[
    "annular_space",
    "annulus",
    "coil",
    "doppelmantel",
    "double_envelope",
    "double_jacket",
    "half_pipe",
    "halfpipe",
    "heating_mantle",
    "internal_condenser",
    "internal_cooler",
    "internal_exchanger",
    "internal_heater",
    "internal_reboiler",
    "jacket",
    "limpet",
    "plate_pack",
    "rohrschlange",
    "stab_in",
    "tube_bundle",
    "waste_heat_boiler",
];

/// Words for a second wall. The space behind that of a storage tank is empty or insulated, and has no process nozzles.
pub const SECOND_WALLS: &[&str] = &["doppelwand", "double_wall", "double_walled", "doublewalled", "dual_wall"];

/// Last words in the classes of equipment for storage.
pub const STORAGE: &[&str] = &["tank", "sphere"];

/// Such words in the texts of a nozzle.
pub const SECOND_SIDES_AT_NOZZLES: &[&str] = &[
    "annular_space",
    "annulus",
    "coil",
    "doppelmantel",
    "half_pipe",
    "halfpipe",
    "interspace",
    "jacket",
    "limpet",
    "mantel",
    "shell_side",
    "shellside",
    "tube_side",
    "tubeside",
    "tube_bundle",
];

/// Last words in the classes of equipment of one space, whose shell is its wall: `shell manhole`.
pub const SINGLE_SHELLS: &[&str] = &[
    "absorber",
    "accumulator",
    "column",
    "drum",
    "receiver",
    "scrubber",
    "separator",
    "silo",
    "sphere",
    "stripper",
    "tank",
    "tower",
    "vessel",
];

/// Marks of equipment with such a space, in snake_case.
pub const SECOND_SIDE_MARKS: &[&str] =
    &["jacket", "jacketed", "is_jacketed", "has_jacket", "coil", "has_coil", "double_wall", "double_walled"];

/// Words in the classes of parts of equipment that are open to it, or spaces of their own, and may have nozzles.
pub const BODY_PARTS: &[&str] =
    &["boot", "chamber", "column_section", "compartment", "jacket", "shell_side", "tube_side"];

/// Words in the classes of parts of equipment that are spaces of their own.
pub const CHAMBERS: &[&str] = &["chamber", "compartment", "jacket", "shell_side", "tube_side"];

/// Words in the classes of parts inside or outside of equipment that have no connection to it.
pub const SOLID_PARTS: &[&str] = &[
    "impeller",
    "rotor",
    "shaft",
    "blade",
    "agitator",
    "stirrer",
    "mixer",
    "bearing",
    "belt",
    "wheel",
    "screw",
    "plate",
    "tray",
    "packing",
    "packed_bed",
    "bed",
    "grid",
    "baffle",
    "vortex_breaker",
    "coil",
    "internal",
    "internals",
    "dip_pipe",
    "demister",
    "mist_eliminator",
    "weir",
    "distributor",
    "displacer",
    "piston",
    "plunger",
    "bundle",
    "fin",
    "tube",
    "lining",
    "refractory",
    "insulation",
    "cladding",
    "support",
    "saddle",
    "skirt",
    "leg",
    "lug",
    "bracket",
    "frame",
    "foundation",
    "baseplate",
    "platform",
    "ladder",
    "davit",
    "anode",
    "screen",
    "sieve",
    "mesh",
    "cartridge",
    "filter_element",
    "motor",
    "drive",
    "gearbox",
    "guard",
    "head",
    "roof",
    "floor",
    "wall",
    "label",
    "nameplate",
    "name_plate",
    "text",
    "note",
    "symbol",
    "casing",
    "housing",
    "shell",
    "diaphragm",
    "manhole",
    "manway",
    "handhole",
    "inspection_hole",
    "inspection_opening",
    "arrangement",
    "as_component",
    "mount",
    "element",
    "element_assembly",
    "frequency_converter",
    "transmission_system",
    "filter_unit",
    "pelletizer_disc",
    "gear_box",
    "heat_tracing",
];

/// Last words in the classes of places, structures, documents and divisions of a plant, which are no equipment.
pub const PLACES: &[&str] = &[
    "area",
    "plot",
    "site",
    "zone",
    "location",
    "building",
    "floor",
    "deck",
    "room",
    "module",
    "subsystem",
    "facility",
    "complex",
    "project",
    "sheet",
    "document",
    "diagram",
    "layer",
    "circuit",
    "network",
    "loop",
    "line",
    "pipeline",
    "bund",
    "dike",
    "dyke",
    "foundation",
    "support",
    "structure",
    "rack",
    "platform",
];

/// Nouns in the classes of other equipment that a signal can stop, or that is fired. With the machines, it is the
/// equipment that raises or holds back pressure.
pub const DRIVEN_EQUIPMENT: &[&str] = &[
    "motor",
    "engine",
    "conveyor",
    "drive",
    "driver",
    "furnace",
    "boiler",
    "incinerator",
    "fired_heater",
    "electric_heater",
];

/// Words in the classes of tanks that are open to the air.
pub const OPEN_TANKS: &[&str] = &["open_tank", "open_vessel", "open_pot", "open_top_tank", "open_topped_tank"];

/// Words in the classes of equipment of a flare that is closed itself.
pub const CLOSED_EQUIPMENT: &[&str] = &[
    "closed",
    "covered",
    "drum",
    "vessel",
    "header",
    "scrubber",
    "separator",
    "seal",
    "pot",
    "knock_out",
    "knockout",
    "kod",
    "tank",
    "sealed",
];

/// Openings of equipment that a cover closes, as parts of the class, the tag or a text of a nozzle in snake_case.
pub const COVERED_OPENINGS: &[&str] = &[
    "manhole",
    "man_hole",
    "mannloch",
    "trou_d_homme",
    "trou_d'homme",
    "mangat",
    "paso_de_hombre",
    "manway",
    "handhole",
    "hand_hole",
    "access_nozzle",
    "access_door",
    "access_opening",
    "inspection_door",
    "inspection_nozzle",
    "inspection_opening",
    "inspection_hole",
    "closure_door",
    "quick_opening_closure",
    "quick_closure",
    "cleanout",
    "clean_out",
    "mannloch",
    "handloch",
    "trou_d_homme",
];

/// Codes of such openings in tags and descriptions, which a number may follow.
pub const COVERED_OPENING_CODES: &[&str] = &["hh", "mh", "mw"];

/// Words of nozzles that are blinded as they are not used.
pub const UNUSED_NOZZLES: &[&str] = &["reserve", "reservestutzen", "spare"];

/// Words beside such an opening, or beside a blind of a nozzle, that leave it open or give it another way out.
pub const UNCOVERED_WORDS: &[&str] = &[
    "breather",
    "geöffnet",
    "offen",
    "ohne",
    "open",
    "opened",
    "ouvert",
    "removed",
    "sans",
    "valve",
    "vent",
    "vented",
    "without",
];

/// Parts of the classes of equipment that burns fuel around tubes: the fuel and the flue gas are not on the side of what is
/// heated.
pub const FIRED: &[&str] = &[
    "boiler",
    "fired_heater",
    "furnace",
    "reformer",
    "steam_generator",
    "steam_superheater",
    "thermal_oxidizer",
    "waste_heat",
];

/// Fields with the nozzles of equipment, in snake_case.
pub const NOZZLE_LISTS: &[&str] =
    &["nozzles", "nozzle_list", "nozzle_schedule", "nozzle_table", "connections", "stutzen"];

/// Fields with the numbers of the lines at equipment, in snake_case.
pub const EQUIPMENT_LINE_FIELDS: &[&str] = &[
    "connected_line",
    "connected_lines",
    "connecting_lines",
    "discharge_line",
    "drain_line",
    "feed_line",
    "inlet_line",
    "inlet_lines",
    "line_numbers",
    "lines",
    "outlet_line",
    "outlet_lines",
    "overflow_line",
    "product_line",
    "relief_line",
    "suction_line",
    "vent_line",
];

/// Fields with a line, a nozzle or an item at a connection of equipment, in snake_case.
pub const EQUIPMENT_CONNECTION_FIELDS: &[&str] = &[
    "bottom_inlet",
    "bottom_outlet",
    "drain",
    "drain_outlet",
    "gas_outlet",
    "liquid_outlet",
    "overflow",
    "overflow_outlet",
    "side_inlet",
    "side_outlet",
    "top_inlet",
    "top_outlet",
    "vapor_outlet",
    "vapour_outlet",
    "vent",
    "vent_outlet",
];

/// Fields with the number of nozzles of equipment, in snake_case.
pub const NOZZLE_COUNTS: &[&str] =
    &["nozzle_count", "no_of_nozzles", "num_nozzles", "number_of_nozzles", "nozzles_count", "anzahl_stutzen"];

/// Fields of a bypass with the item that it leads around, in snake_case.
pub const BYPASS_REFERENCES: &[&str] = &[
    "bypass_for",
    "bypass_of",
    "bypass_to",
    "bypasses",
    "bypassed_item",
    "bypassed_valve",
    "is_bypass_of",
    "umgang_von",
];

/// Beginnings of the classes of what is no equipment, even if it owns nozzles.
pub const NO_EQUIPMENT_GROUPS: &[&str] =
    &["equipment_component", "instrument", "piping", "pipe", "reference", "plant_structure", "nozzle"];

/// Words in the classes of groups and of parts of equipment that may own nozzles.
pub const GROUP_WORDS: &[&str] = &[
    "area",
    "boot",
    "bundle",
    "compartment",
    "drawing",
    "group",
    "jacket",
    "line",
    "loop",
    "network",
    "plant",
    "section",
    "segment",
    "sheet",
    "shell",
    "side",
    "site",
    "system",
    "unit",
    "valve",
];
