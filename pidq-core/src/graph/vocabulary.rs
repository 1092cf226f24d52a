//! Default names and words of drawings.
//!
//! Plain lists, for programs that read the same drawings. [`TopologyConfig`](crate::TopologyConfig) starts with these
//! and applies the changes of a drawing and of a query.

/// Fields with the id of a node.
pub const NODE_IDS: &[&str] = &["id", "node_id", "uuid", "externalId"];

/// Fields with the id of an edge.
pub const EDGE_IDS: &[&str] = &["id", "edge_id", "uuid", "externalId"];

/// Fields with the tag of a node.
pub const TAGS: &[&str] = &["tag", "tag_name", "tag_number", "name", "text_associated"];

/// Fields with the type of a node.
pub const NODE_TYPES: &[&str] = &["node_type", "type"];

/// Fields with the class of a node, the most specific first.
pub const CLASSES: &[&str] =
    &["node_classification", "component_class", "sub_class", "class", "label", "type", "category", "node_type"];

/// Class prefixes of piping items, before the dot.
pub const PIPING: &[&str] = &["piping_component"];

/// Pairs of fields with the ends of an edge. The first pair that an edge has completely applies.
pub const ENDPOINTS: &[[&str; 2]] = &[
    ["from", "to"],
    ["source", "target"],
    ["source_id", "target_id"],
    ["from_id", "to_id"],
    ["startNodeId", "endNodeId"],
    ["start", "end"],
    ["u", "v"],
];

/// Fields with the kind of an edge.
pub const EDGE_KINDS: &[&str] = &["edge_type", "type", "label"];

/// Fields that refine the kind of an edge.
pub const EDGE_CLASSES: &[&str] = &["edge_classification"];

/// Kinds of edges that carry flow.
pub const FLOW: &[&str] = &[
    "physically_connected_to",
    "piping",
    "process",
    "flow",
    "flows_to",
    "connected_to",
    "connection",
    "connected",
    "pipe",
    "process_line",
    "outputs",
    "inputs",
    "refers",
    "recycle",
    "off_page",
];

/// Kinds of edges from equipment to its nozzles and other parts.
pub const PARTS: &[&str] = &["physically_has_a", "has_nozzle", "has_terminal"];

/// Kinds of edges from a group to its members.
pub const MEMBERS: &[&str] = &["has_a", "contains", "composition"];

/// Kinds of edges from members to their group.
pub const MEMBERS_REVERSED: &[&str] = &["part_of", "is_part_of", "member_of", "belongs", "belongs_to", "member"];

/// Kinds of signal edges.
pub const SIGNALS: &[&str] =
    &["associated_with", "signal", "measures", "controls", "manipulates", "labeled", "signal_line"];

/// Words in the classes of edges that are pipes, whatever their kind.
pub const PIPE_WORDS: &[&str] = &["pipe", "piping", "pipeline", "hose", "line", "tubing"];

/// Words in the classes of edges that are signals, beside which a word for a pipe says nothing.
pub const SIGNAL_WORDS: &[&str] = &[
    "capillary",
    "communication",
    "conveying",
    "data",
    "electric",
    "electrical",
    "guided",
    "hydraulic",
    "information",
    "instrument",
    "measuring",
    "mechanical",
    "pneumatic",
    "radio",
    "signal",
    "software",
    "sonic",
    "undefined",
];

/// Kinds of edges from a segment to the items at its ends.
pub const SEGMENT_ENDS: &[&str] = &["starts_at", "ends_at", "source_item", "target_item"];

/// Types of pipe line nodes.
pub const LINE_TYPES: &[&str] = &["piping_network_system", "pipe_system", "line"];

/// Types of pipe segment nodes.
pub const SEGMENT_TYPES: &[&str] = &["piping_network_segment", "segment"];

/// Types of loop nodes.
pub const LOOP_TYPES: &[&str] = &[
    "instrumentation_loop",
    "instrumentation_loop_function",
    "loop",
    "control_loop",
    "trip_loop",
    "safety_loop",
    "interlock_loop",
];

/// Parts of the classes of actuators.
pub const ACTUATORS: &[&str] = &["actuat", "positioner"];

/// Parts of the classes of drives of valves, and words of descriptions that name one.
pub const VALVE_DRIVES: &[&str] = &["actuat", "positioner", "solenoid", "motor", "pneumatic", "hydraul"];

/// Parts of the texts of operators of valves that are not hands, beside the drives. A company may be called operator too.
pub const OPERATORS: &[&str] =
    &["air_operated", "air_to_", "cylinder", "diaphragm", "electric", "piston", "remote", "spring_"];

/// Texts of such operators, as in their symbols.
pub const OPERATOR_CODES: &[&str] = &["air", "a", "e", "eh", "m", "mo", "p", "ph", "s"];

/// Parts of the texts of valves that name a drive, a position on failure or a function that no hand valve has.
pub const ACTUATED_VALVE_WORDS: &[&str] = &[
    "air_operated",
    "anti_surge",
    "automated",
    "blowdown_valve",
    "choke",
    "damper",
    "diaphragm_operated",
    "double_acting",
    "dump_valve",
    "electrically_operated",
    "fail_close",
    "fail_last",
    "fail_open",
    "fail_safe",
    "flap_valve",
    "float_valve",
    "fusible",
    "governor",
    "hipps",
    "minimum_flow_valve",
    "mixproof",
    "modulating",
    "regulator",
    "remote_operated",
    "remotely_operated",
    "rotary_valve",
    "self_acting",
    "sis_valve",
    "slam_shut",
    "spring_return",
];

/// Marks of the position on failure beside the symbol of a valve (ISA-5.1).
pub const FAIL_MARKS: &[&str] = &["fai", "fail", "fc", "fi", "fl", "flo", "flc", "fo"];

/// Marks of a drive, in the circle on the stem of the symbol.
pub const DRIVE_MARKS: &[&str] = &["e/h", "eh", "m", "mo"];

/// Marks of the position and the shut-off of a valve, which may stand beside such a mark.
pub const POSITION_MARKS: &[&str] = &["csc", "cso", "lc", "lo", "nc", "no", "tso"];

/// Letters of valves with an actuator, as the description of a valve.
pub const ACTUATED_VALVE_CODES: &[&str] = &[
    "aov", "bdv", "eiv", "esdv", "esv", "fcv", "hcv", "hov", "lcv", "mov", "pcv", "rov", "rosov", "sdv", "sov", "tcv",
    "xv",
];

/// Words of texts that say that a valve is operated by hand.
pub const HAND_OPERATION_WORDS: &[&str] = &[
    "bevel",
    "box",
    "chain",
    "gear",
    "gearbox",
    "hand",
    "handwheel",
    "lever",
    "manual",
    "manually",
    "operated",
    "operation",
    "operator",
    "wheel",
    "with",
    "worm",
    "wrench",
];

/// Words in the descriptions of valves that are about their purpose at another valve.
pub const PURPOSE_WORDS: &[&str] = &[
    "at",
    "before",
    "behind",
    "bleed",
    "block",
    "by",
    "bypass",
    "downstream",
    "drain",
    "for",
    "hand",
    "isolating",
    "isolation",
    "manual",
    "of",
    "root",
    "to",
    "upstream",
    "vent",
];

/// Parts of the classes of drives that are moved by hand.
pub const HAND_DRIVES: &[&str] = &["hand", "manual", "lever"];

/// Parts of the classes of instruments through which a sample flows out, or a purge flows in.
pub const SAMPLING_INSTRUMENTS: &[&str] = &["analys", "analyz", "bubbler", "injection", "purge", "quill", "sampl"];

/// Parts of the classes of instruments that measure a flow: the line goes on behind them, unless they are at the end of
/// an impulse line.
pub const FLOW_INSTRUMENTS: &[&str] = &["flow", "rotameter", "coriolis", "vortex"];

/// Nouns in the classes of equipment that raises the pressure: its outlet is not at the pressure of its inlet.
pub const PRESSURE_RAISING: &[&str] = &[
    "pompe",
    "pompe_centrifuge",
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

/// Parts of the classes of discs that burst.
pub const RUPTURE_DISCS: &[&str] = &["rupture", "bursting"];

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

/// Words in the classes of machines whose casing is open between inlet and outlet when they stand still.
pub const OPEN_MACHINES: &[&str] = &[
    "agitator",
    "axial",
    "centrifugal",
    "ejector",
    "eductor",
    "fan",
    "jet",
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
    "dosing",
    "expander",
    "feeder",
    "gear",
    "hose_pump",
    "lobe",
    "membrane",
    "metering",
    "peristaltic",
    "piston",
    "plunger",
    "positive_displacement",
    "progressive_cavity",
    "reciprocating",
    "roots",
    "rotary",
    "screw",
    "turbine",
    "turboexpander",
    "vane",
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

/// Nouns in the classes of pipe spools.
pub const SPOOLS: &[&str] = &["spool", "spool_piece"];

/// Nouns in the classes of what is named after a spool and is no pipe.
pub const NO_SPOOLS: &[&str] = &["cable_spool", "gasket", "hanger", "hose_spool", "support", "valve"];

/// Parts of the classes of rings that keep the place of a blind open.
pub const SPACERS: &[&str] = &["spacer"];

/// Parts of the classes of blinds that can close a line.
pub const BLINDS: &[&str] = &["blind", "spade", "spectacle", "figure"];

/// Words in the classes of blinds that leave the word `closed` beside them the position of the blind.
pub const BLIND_WORDS: &[&str] = &[
    "8",
    "blank",
    "blanking",
    "blind",
    "eight",
    "fig",
    "figure",
    "flange",
    "flanged",
    "goggle",
    "in",
    "inserted",
    "line",
    "locked",
    "normally",
    "paddle",
    "plate",
    "position",
    "slip",
    "spade",
    "spec",
    "spectacle",
    "swing",
    "valve",
];

/// Statuses of items that are there, as written in drawings, in snake_case. A drawing of a project shows the plant after
/// it: what is new, modified or relocated is there. A status may combine several of them.
pub const INSTALLED: &[&str] = &[
    "active",
    "afc",
    "approved",
    "approved_for_construction",
    "as_built",
    "as_is",
    "asbuilt",
    "bestand",
    "built",
    "changed",
    "checked",
    "commissioned",
    "constructed",
    "current",
    "exist",
    "existing",
    "existing_to_be_modified",
    "existing_to_remain",
    "final",
    "ifc",
    "in_betrieb",
    "in_operation",
    "in_place",
    "in_service",
    "in_use",
    "installed",
    "issued",
    "issued_for_construction",
    "modified",
    "neu",
    "new",
    "newly_installed",
    "no_change",
    "normal",
    "not_modified",
    "operating",
    "operational",
    "refurbished",
    "released",
    "relocated",
    "remaining",
    "retained",
    "reused",
    "revised",
    "running",
    "standby",
    "stand_by",
    "to_be_modified",
    "to_be_retained",
    "to_remain",
    "unchanged",
    "unmodified",
];

/// Words in the statuses of items that are not there now.
pub const NOT_INSTALLED: &[&str] = &[
    "absent",
    "canceled",
    "cancelled",
    "deleted",
    "demolished",
    "dismantled",
    "future",
    "planned",
    "proposed",
    "removed",
    "scrapped",
    "uninstalled",
    "void",
    "voided",
];

/// Field of a node that had the same id in the file as another item, with this id: an import gives one of them another id.
pub const SHARED_ID: &str = "shared_id";

/// Class of the edges between the connectors of joined sheets.
pub const JOINT_CLASS: &str = "off_page_connection";

/// Statuses of pipes that are closed by a blind or a plug, in snake_case.
pub const BLANKED: &[&str] =
    &["blanked", "blanked_off", "blind", "blinded", "blinded_off", "capped", "plugged", "spaded", "isolated"];

/// Fields and attributes that mark a pipe as closed, in snake_case.
pub const CLOSED_MARKS: &[&str] =
    &["blanked", "is_blanked", "blinded", "is_blinded", "closed", "is_closed", "isolated", "is_isolated", "spaded"];

/// Fields and attributes that mark a valve as closed, in snake_case.
pub const VALVE_CLOSED_MARKS: &[&str] = &[
    "closed",
    "is_closed",
    "normally_closed",
    "is_normally_closed",
    "locked_closed",
    "is_locked_closed",
    "sealed_closed",
    "car_sealed_closed",
];

/// Further fields and attributes with a position of a valve, which counts only if it is closed, in snake_case.
pub const VALVE_POSITION_FIELDS: &[&str] = &[
    "valve_status",
    "operating_position",
    "operating_state",
    "valve_operating_position",
    "current_position",
    "actual_position",
    "valve_normal_position",
    "lock_type",
];

/// Texts that say that a valve is closed, beside the words for a closed position, in snake_case.
pub const CLOSED_PHRASES: &[&str] = &[
    "always_closed",
    "closed_valve",
    "keep_closed",
    "keep_this_valve_closed",
    "kept_closed",
    "must_be_closed",
    "normally_close",
    "shut",
    "to_be_closed",
    "to_be_kept_closed",
    "to_be_locked_closed",
    "valve_closed",
];

/// Words in the statuses of items that something is to be done to.
pub const INTENTIONS: &[&str] = &["to", "for"];

/// Texts of a phase that is a state of matter or a number of conductors, in snake_case: they say nothing about a project.
pub const PHASES_OF_MATTER: &[&str] = &[
    "1_phase",
    "2_phase",
    "3_phase",
    "aqueous",
    "condensate",
    "g",
    "gas",
    "gaseous",
    "l",
    "liquid",
    "mixed",
    "mixed_phase",
    "multi_phase",
    "multiphase",
    "single_phase",
    "oil",
    "organic",
    "slurry",
    "solid",
    "steam",
    "three_phase",
    "two_phase",
    "v",
    "vapor",
    "vapour",
    "vl",
    "water",
];

/// Words for what is to be done to an item that is not there yet.
pub const INSTALLATIONS: &[&str] =
    &["add", "added", "built", "erected", "fitted", "future", "install", "installation", "installed"];

/// Words after which a word of a status may mean the opposite, or something later.
pub const NEGATIONS: &[&str] = &["no", "non", "not", "never", "un"];

/// Parts of the classes of instruments that sense.
pub const SENSORS: &[&str] = &["sensor", "transmitter", "element", "signal_generating", "sensing"];

/// Words in the classes of bubbles that stand for all functions at a measuring point, as in IEC 62424.
pub const BUBBLES: &[&str] = &["process_instrumentation_function", "process_control_function"];

/// Parts of the classes of instruments that only show or record what others sense.
pub const DISPLAYS: &[&str] = &["indicator", "recorder", "gauge"];

/// Words in the classes of controllers.
pub const CONTROLLERS: &[&str] = &["controller", "control_function"];

/// Words in the classes of instruments between a function and a final element.
pub const LOGIC: &[&str] = &["logic_solver", "interlock", "relay", "solenoid", "solenoid_valve", "converter"];

/// Parts of the classes of solenoid valves.
pub const SOLENOIDS: &[&str] = &["solenoid"];

/// Letters of shutdown systems, as codes in symbols and letters of tags, and their meaning.
pub const SHUTDOWN_CODES: &[(&str, &str)] = &[
    ("APS", "abandon platform shutdown"),
    ("ESD", "emergency shutdown"),
    ("FSD", "fire shutdown"),
    ("PSD", "process shutdown"),
    ("USD", "unit shutdown"),
    ("XSD", "shutdown"),
];

/// Letters of the tags of relief devices. `PRV` may be a reducing valve too, and `TRV` a temperature regulator.
pub const RELIEF_LETTERS: &[&str] = &["PSV", "TSV", "PSE", "SRV", "PSRV", "PVSV", "PVRV", "VRV", "VSV"];

/// Words in the classes of what starts and stops a motor for the functions that feed it.
pub const MOTOR_STARTERS: &[&str] = &["motor_starter", "starter", "motor_control_center", "mcc", "contactor"];

/// Words in the classes of instruments that report the position of a valve.
pub const POSITION_SWITCHES: &[&str] =
    &["limit_switch", "position_switch", "end_switch", "position_indicator", "position_transmitter"];

/// Words in the classes of what drives other equipment, and is not open to it.
pub const PRIME_MOVERS: &[&str] = &["motor", "turbine", "engine", "gearbox", "gear_box", "driver"];

/// Words in the classes of equipment that only groups other equipment.
pub const ASSEMBLIES: &[&str] = &["package", "package_unit", "skid", "unit", "train", "system", "assembly", "plant"];

/// Fields and attributes that state that an item belongs to a safety instrumented function.
pub const SAFETY_FIELDS: &[&str] = &[
    "sil",
    "sil_level",
    "safety_integrity_level",
    "sis",
    "is_sis",
    "safety_instrumented",
    "safety_relevant",
    "safety_relevance",
    "safety_relevance_class",
    "safety_relevance_class_assignment_class",
];

/// Texts of such fields that state the opposite, in snake_case.
pub const NEGATIVES: &[&str] =
    &["", "-", "_", "0", "false", "n", "n/a", "na", "no", "none", "not_applicable", "sil_0", "sil0"];

/// Texts of cells of a table that state nothing, in snake_case.
pub const EMPTY_TEXTS: &[&str] = &["-", "--", "n/a", "na", "nan", "none", "not_available", "null", "unset"];

/// Nouns in the classes of equipment that is a space for a fluid, or several ones. With the machines and those of
/// `NO_MACHINES`, it is the equipment of a known kind.
pub const BODIES: &[&str] = &[
    "absorber",
    "adsorber",
    "autoclave",
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

/// Words in the texts of equipment with a second space behind a wall.
pub const SECOND_SIDES: &[&str] = &[
    "annular_space",
    "annulus",
    "coil",
    "doppelmantel",
    "doppelwand",
    "double_envelope",
    "double_jacket",
    "double_wall",
    "double_walled",
    "doublewalled",
    "dual_wall",
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
    "shell",
    "tube_side",
    "tubeside",
    "tube_bundle",
];

/// Marks of equipment with such a space, in snake_case.
pub const SECOND_SIDE_MARKS: &[&str] =
    &["jacket", "jacketed", "is_jacketed", "has_jacket", "coil", "has_coil", "double_wall", "double_walled"];

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

/// Directions of an edge that agree with its ends.
pub const FORWARD: &[&str] = &[
    "forward",
    "forwards",
    "downstream",
    "down",
    "normal",
    "positive",
    "out",
    "unidirectional",
    "one_way",
    "single",
    "directed",
    "along",
    "from_to",
    "source_to_target",
    "start_to_end",
    "default",
    "same",
    "true",
    "yes",
    "->",
    "=>",
    "→",
    "1",
    "+1",
];

/// Words in texts about the direction of a pipe that do not say that it is the one of its ends.
pub const DIRECTION_WORDS: &[&str] = &[
    "alternating",
    "against",
    "any",
    "back",
    "backward",
    "backwards",
    "beide",
    "beides",
    "beidseitig",
    "bidi",
    "bidirectional",
    "both",
    "change",
    "changing",
    "counter",
    "direction",
    "directions",
    "either",
    "entgegen",
    "gegen",
    "hold",
    "inverse",
    "inverted",
    "left",
    "n",
    "na",
    "negative",
    "nil",
    "no",
    "none",
    "not",
    "null",
    "opposite",
    "open",
    "reverse",
    "reversed",
    "reversible",
    "reversing",
    "right",
    "rückwärts",
    "rueckwaerts",
    "tba",
    "tbc",
    "tbd",
    "to_from",
    "two",
    "twoway",
    "unbekannt",
    "unclear",
    "undefined",
    "undetermined",
    "unknown",
    "unspecified",
    "up",
    "upstream",
    "variable",
    "varies",
    "vice",
    "way",
    "ways",
    "wechselnd",
    "zurück",
    "inconnu",
    "inverso",
    "sens",
    "richtung",
    "false",
    "unstated",
];

/// Words in the classes of connections from outside by which a plant is filled or supplied.
pub const SUPPLY_WORDS: &[&str] = &[
    "arm",
    "bottle",
    "bunkering",
    "coupling",
    "cylinder",
    "fill",
    "filling",
    "filler",
    "hose",
    "hydrant",
    "intake",
    "loading",
    "n2",
    "nitrogen",
    "purge",
    "station",
    "supply",
    "unloading",
    "utility",
];

/// Words that say that something is let in, whatever else it is named after.
pub const INWARD_WORDS: &[&str] = &["flushing", "injection", "pressurisation", "pressurization", "steamout", "supply"];

/// Names of fields with the part of a plant in which the tags of equipment are unique.
pub const PARTS_OF_PLANT: &[&str] =
    &["area", "plant_area", "unit", "plant_unit", "process_unit", "unit_number", "area_number", "plant", "project_id"];

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

/// Last words in the classes of fittings of instruments that a pipe goes on behind.
pub const INSTRUMENT_FITTINGS: &[&str] = &["manifold", "hose", "tubing", "valve", "supply"];

/// Fields with the attributes of an item, in snake_case.
pub const ATTRIBUTE_FIELDS: &[&str] =
    &["attributes", "generic_attributes", "custom_attributes", "properties", "data", "lifecycle", "life_cycle"];

/// Types of other group nodes.
pub const GROUP_TYPES: &[&str] = &["plant_structure_item", "drawing", "group"];

/// Endings of attribute names that say how a source stores a value, not what it is.
pub const ATTRIBUTE_ENDINGS: &[&str] = &["_assignment_class", "_specialization", "_representation"];

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

/// Nouns in the classes of valves that throttle a flow, without the type of the valve. They are open in an emergency
/// unless a trip closes them.
pub const THROTTLING_VALVES: &[&str] = &[
    "back_pressure_valve",
    "control",
    "control_valve",
    "controlvalve",
    "fcv",
    "lcv",
    "modulating_valve",
    "pcv",
    "pressure_reducing_valve",
    "regulating_valve",
    "regulator",
    "self_acting_valve",
    "self_operated_valve",
    "tcv",
    "thermostatic_valve",
    "throttle_valve",
    "throttling_valve",
];

/// Words in the classes of valves that are made to be switched, whatever else they are.
pub const SWITCHED_VALVE_WORDS: &[&str] = &[
    "blowdown",
    "emergency",
    "esd",
    "esdv",
    "isolating",
    "isolation",
    "on_off",
    "onoff",
    "remote",
    "safety",
    "sdv",
    "shut_down",
    "shut_off",
    "shutdown",
    "shutoff",
    "slam_shut",
    "trip",
    "xv",
];

/// Parts of the classes of pockets for sensors, which are put into a pipe and do not close it.
pub const WELLS: &[&str] = &["sensorwell", "sensor_well", "thermowell", "thermo_well"];

/// Types of valves in their classes, by words.
pub const VALVE_TYPES: &[&str] = &[
    "3",
    "angle",
    "ball",
    "butterfly",
    "diaphragm",
    "gate",
    "globe",
    "needle",
    "plug",
    "rotary",
    "segment",
    "three",
    "way",
];

/// Texts of the fail position of a valve that opens, in snake_case.
pub const FAIL_OPEN: &[&str] = &[
    "afo",
    "air_fail_open",
    "air_failure_open",
    "air_to_close",
    "atc",
    "drift_open",
    "fail_open",
    "failopen",
    "fo",
    "open",
    "opened",
    "opening",
    "opens",
    "spring_to_open",
    "auf",
    "feder_auf",
    "feder_öffnet",
    "feder_oeffnet",
    "federöffnend",
    "federoeffnend",
    "offen",
    "öffnend",
    "oeffnend",
    "öffnet",
    "oeffnet",
    "stromlos_offen",
    "ouvert",
    "ouverte",
    "ouvre",
];

/// Texts of the fail position of a valve that closes, in snake_case.
pub const FAIL_CLOSED: &[&str] = &[
    "afc",
    "air_fail_close",
    "air_fail_closed",
    "air_failure_close",
    "air_failure_closed",
    "air_to_open",
    "ato",
    "close",
    "closed",
    "closes",
    "closing",
    "fail_close",
    "fail_closed",
    "failclose",
    "failclosed",
    "fc",
    "shut",
    "shuts",
    "spring_to_close",
    "feder_schließt",
    "feder_schliesst",
    "feder_zu",
    "federschließend",
    "federschliessend",
    "geschlossen",
    "schließend",
    "schliessend",
    "schließt",
    "schliesst",
    "stromlos_geschlossen",
    "zu",
    "fermé",
    "ferme",
    "fermée",
    "fermee",
];

/// Labels of the fail position of a valve, in lower case.
pub const FAIL_LABELS: &[&str] = &["afc", "afo", "fai", "fc", "fip", "fo", "federöffnend", "federschließend"];

/// Words of clauses that are about the failure of an actuator.
pub const FAILURES: &[&str] = &[
    "ausfall",
    "défaut",
    "energieausfall",
    "fail",
    "failed",
    "fails",
    "failure",
    "feder",
    "loss",
    "luftausfall",
    "manque",
    "spring",
    "stromlos",
];

/// Words beside which air is what fails, in texts of the fail position of a valve.
pub const AIR_FAILURES: &[&str] =
    &["loss", "failure", "fail", "manque", "défaut", "defaut", "perte", "absence", "coupure"];

/// Words in texts of the fail position of a valve that are about the failure.
pub const FAIL_WORDS: &[&str] = &[
    "actuator",
    "air",
    "at",
    "by",
    "electric",
    "fail",
    "failed",
    "fails",
    "failure",
    "in",
    "instrument",
    "loss",
    "of",
    "on",
    "position",
    "power",
    "return",
    "returns",
    "safe",
    "signal",
    "spring",
    "supply",
    "the",
    "to",
    "upon",
    "valve",
    "ausfall",
    "bei",
    "drucklos",
    "durch",
    "energieausfall",
    "energielos",
    "feder",
    "federkraft",
    "luftausfall",
    "luftmangel",
    "sicherheitsstellung",
    "spannungslos",
    "stellung",
    "stromausfall",
    "stromlos",
    "ventil",
    "absence",
    "alimentation",
    "au",
    "cas",
    "coupure",
    "courant",
    "d",
    "de",
    "défaut",
    "defaut",
    "en",
    "la",
    "le",
    "manque",
    "par",
    "perte",
    "repli",
    "ressort",
    "sécurité",
    "securite",
    "sur",
    "vanne",
    "à",
    "a",
];

/// Texts of the fail position of a valve that keeps its position, in snake_case.
pub const FAIL_IN_PLACE: &[&str] = &[
    "as_is",
    "fail_as_is",
    "fail_in_place",
    "fail_last",
    "fail_lock",
    "fail_locked",
    "fai",
    "fi",
    "fl",
    "fip",
    "freeze",
    "hold",
    "holds",
    "in_place",
    "last",
    "lock",
    "locked",
    "locks",
    "stay",
    "stay_put",
    "stays",
    "place",
    "bleibt",
    "bleibt_stehen",
    "hält",
    "haelt",
    "stehen",
    "verharrt",
    "bloqué",
    "bloque",
    "bloquée",
    "bloquee",
    "figé",
    "fige",
    "figée",
    "figee",
    "maintenu",
    "maintenue",
    "maintien",
    "reste",
];

/// Texts of the lock of a valve that has none, in snake_case.
pub const NO_LOCK: &[&str] = &[
    "no",
    "none",
    "n",
    "false",
    "0",
    "unlocked",
    "not_locked",
    "no_lock",
    "not_sealed",
    "n_a",
    "na",
    "-",
    "mechanical_seal",
];

/// Words in texts of a lock that say that there is one: positions, and words for yes.
pub const LOCK_CODES: &[&str] =
    &["cso", "csc", "cs", "lo", "lc", "so", "sc", "ilo", "ilc", "yes", "y", "true", "1", "x", "closed", "open", "nc"];
/// Words for the lock or the seal itself.
pub const LOCK_WORDS: &[&str] = &[
    "chain",
    "chained",
    "carsealed",
    "carseal",
    "interlock",
    "interlocked",
    "key",
    "keyed",
    "kirk",
    "lock",
    "locked",
    "locking",
    "locks",
    "padlock",
    "padlocked",
    "plombe",
    "plombiert",
    "schloss",
    "sealed",
    "seal",
    "verplombt",
    "verriegelt",
    "verriegelung",
    "abgeschlossen",
    "abgesperrt",
    "plombé",
    "plombée",
    "cadenassé",
    "verrouillé",
    "wire",
    "wired",
];

/// Words in texts of a lock that say that there is none.
pub const NO_LOCK_WORDS: &[&str] = &[
    "absent", "broken", "cut", "deleted", "face", "future", "gasket", "hold", "missing", "none", "not", "oil", "ohne",
    "optional", "required", "removed", "soft", "tbc", "tbd", "unlocked", "unsealed", "without", "nicht", "sans",
    "stem",
];

/// Words in the classes of instruments operated by hand.
pub const HAND_SWITCH_CLASSES: &[&str] = &["hand_switch", "push_button", "pushbutton", "manual_switch"];

/// Words in the classes of switches.
pub const SWITCH_CLASSES: &[&str] = &["switch"];

/// Words in the classes of parts that move a valve and have its tag.
pub const ACTUATOR_CLASSES: &[&str] = &["actuat", "positioner", "valve_reference"];

/// Words in the classes of alarms.
pub const ALARM_CLASSES: &[&str] = &["alarm", "annunciator"];

/// Parts of the classes of relief devices that discharge to the atmosphere where they are, and need no pipe for it.
pub const ATMOSPHERIC_RELIEF: &[&str] =
    &["breather", "vacuum", "conservation_vent", "emergency_vent", "explosion_vent", "explosion_panel", "pvsv", "pvrv"];

/// Parts of the classes of relief devices that let air in.
pub const VACUUM_RELIEF: &[&str] = &["breather", "vacuum", "conservation_vent", "pvsv", "pvrv"];

/// Parts of the classes and descriptions of relief devices that let air in and nothing out.
pub const VACUUM_ONLY: &[&str] = &[
    "vacuum_breaker",
    "vacuum_relief",
    "vacuum_safety",
    "vacuum_valve",
    "vacuum_vent",
    "antivacuum",
    "anti_vacuum",
    "vacuum_protection",
    "vacuum_prevent",
    "vacuum_breaking",
    "unterdruckventil",
    "unterdrucksicherung",
    "vakuumbrecher",
    "vakuumventil",
    "casse_vide",
    "soupape_de_vide",
];

/// Fields and attributes with the vacuum at which a device lets air in, in snake_case.
pub const VACUUM_SETTINGS: &[&str] = &[
    "set_vacuum",
    "set_vacuum_pressure",
    "vacuum_set",
    "vacuum_set_point",
    "vacuum_set_pressure",
    "vacuum_setting",
    "set_pressure_vacuum",
    "opening_vacuum",
];

/// Words in a set pressure that say that it is below that of the atmosphere.
pub const VACUUM_WORDS: &[&str] = &["fv", "unterdruck", "vac", "vacuum", "vakuum", "vide"];

/// Parts of the classes of relief devices that open in both directions, or outwards.
pub const BREATHING: &[&str] =
    &["breather", "conservation", "pressure_vacuum", "vacuum_pressure", "pressure_and", "and_pressure", "pvsv", "pvrv"];

/// Words in the classes of equipment that burns what is relieved, or is open to the air. What burns only with a fan and
/// fuel, such as an oxidizer, is none.
pub const RELIEF_ENDS: &[&str] = &[
    "basin",
    "chimney",
    "cooling_tower",
    "equipment_vent",
    "flare",
    "lagoon",
    "pit",
    "pond",
    "stack",
    "sump",
    "waste_gas_emitter",
];

/// Last words in the classes of items at which a pipe ends in the open air.
pub const AIR_ENDS: &[&str] = &[
    "atmospheric_vent",
    "bird_cage",
    "bird_screen",
    "birdscreen",
    "discharge_head",
    "drain_funnel",
    "drain_hub",
    "exhaust_head",
    "exhaust_silencer",
    "flare_tip",
    "funnel",
    "goose_neck",
    "gooseneck",
    "hood",
    "open_drain",
    "tundish",
    "vent_head",
    "vent_line",
    "vent_silencer",
    "vent_tip",
    "vent_to_atmosphere",
];

/// Last words in the classes of items behind which a pipe ends in the open air, or which are in a pipe whose end is not drawn.
pub const LIKELY_AIR_ENDS: &[&str] = &["silencer", "tail_pipe"];

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

/// Words in the classes and descriptions of equipment through which relieved fluid flows to a flare.
pub const FLARE_EQUIPMENT: &[&str] = &[
    "knock_out",
    "knockout",
    "ko_drum",
    "k_o_drum",
    "kod",
    "blowdown",
    "blow_down",
    "flare",
    "relief_header",
    "seal_drum",
    "vent_stack",
];

/// Words in the classes of drums of a flare, from which gas flows on.
pub const FLARE_DRUMS: &[&str] =
    &["knock_out", "knockout", "ko_drum", "k_o_drum", "kod", "seal_drum", "blowdown_drum", "blow_down_drum"];

/// Words of connectors and branches into which something is drained or vented.
pub const BLEED_WORDS: &[&str] = &[
    "atmosphere",
    "bleed",
    "blowdown",
    "drain",
    "drainage",
    "drains",
    "flare",
    "sewer",
    "slop",
    "slops",
    "vent",
    "vents",
];

/// Parts of the classes and descriptions of check valves with a spindle that may hold them shut.
pub const STOP_CHECKS: &[&str] = &[
    "stop_check",
    "stop_and_check",
    "screw_down_check",
    "screw_down_non_return",
    "screw_down_nonreturn",
    "screwdown_non_return",
    "screwdown_nonreturn",
    "sdnr",
    "globe_check",
    "absperr_rückschlag",
    "absperrrückschlag",
    "absperrbares_rückschlag",
    "rückschlagventil_absperrbar",
];

/// Parts of the classes of valves that close when the flow through them is high.
pub const EXCESS_FLOW: &[&str] = &["excess_flow"];

/// Parts of the classes of couplings that close when they are parted, and of meters that are shut when they stand still.
pub const SELF_CLOSING: &[&str] =
    &["coupling", "dry_disconnect", "self_sealing", "breakaway", "positive_displacement", "oval_gear", "gear_meter"];

/// Parts of the classes of items that let liquid through and hold back gas, or the other way round.
pub const TRAPS: &[&str] = &[
    "steam_trap",
    "air_trap",
    "float_trap",
    "drain_trap",
    "condensate_trap",
    "air_vent",
    "air_release",
    "air_eliminator",
    "automatic_vent",
    "auto_vent",
    "automatic_drain",
    "auto_drain",
];

/// Parts of the classes of couplings that are released by hand or by a pull, many of which close then.
pub const COUPLINGS: &[&str] = &[
    "breakaway",
    "break_away",
    "camlock",
    "cam_lock",
    "dry_break",
    "dry_disconnect",
    "quick_connect",
    "quick_coupl",
    "quick_disconnect",
    "quick_release",
];

/// Texts and parts of the texts of two valves that are moved together, in snake_case.
pub const LINKED: &[&str] =
    &["chain", "coupled", "interlock", "linkage", "linked", "simultaneous", "synchron", "tandem"];

/// Words of remarks that say that a relief device is closed off.
pub const CLOSED_OFF: &[&str] =
    &["blanked", "blinded", "blocked", "bypassed", "closed", "isolated", "plugged", "shut", "spaded"];

/// Words of such remarks that change nothing about it.
pub const CLOSED_OFF_ATTRIBUTES: &[&str] = &[
    "and",
    "at",
    "be",
    "by",
    "currently",
    "device",
    "disc",
    "from",
    "in",
    "inlet",
    "is",
    "lc",
    "locked",
    "now",
    "off",
    "outlet",
    "permanently",
    "present",
    "process",
    "psv",
    "sealed",
    "temporarily",
    "temporary",
    "the",
    "this",
    "to",
    "valve",
];

/// Parts of the classes of items that are narrower than the pipe.
pub const RESTRICTIONS: &[&str] =
    &["orifice", "restriction", "restrictor", "flow_nozzle", "venturi", "flame_arrest", "detonation_arrest"];

/// Parts of the classes and descriptions of valves of several ways of which one is always open.
pub const CHANGEOVER: &[&str] = &["changeover", "change_over", "transfer_valve", "selector_valve", "switching_valve"];

/// Words in the classes of items that stop a flame, a leak or a reverse flow by themselves, with the kind of safeguard.
pub const PASSIVE_SAFEGUARDS: &[(&str, &str)] = &[
    ("flame_arrest", "flame_arrester"),
    ("detonation_arrest", "flame_arrester"),
    ("deflagration_arrest", "flame_arrester"),
    ("excess_flow", "excess_flow_valve"),
    ("backflow_prevent", "backflow_preventer"),
    ("back_flow_prevent", "backflow_preventer"),
];

/// Returns whether a list contains a word. Both are compared in snake_case, so `hasNozzle` equals `has_nozzle`.
pub fn contains(words: &[&str], word: &str) -> bool {
    words.contains(&word) || words.contains(&super::snake_case::snake_case(word).as_str())
}

/// Like [`contains`], without a conversion of words that have other letters. The words of the list are ASCII.
pub(crate) fn contains_plain(words: &[&str], word: &str) -> bool {
    (!word.is_ascii() || words.iter().any(|known| letters(known).eq(letters(word)))) && contains(words, word)
}

/// Returns the letters and digits of a name in ASCII, in lower case: what snake_case leaves of them.
pub(crate) fn letters(text: &str) -> impl Iterator<Item = u8> + '_ {
    text.bytes().filter(u8::is_ascii_alphanumeric).map(|byte| byte.to_ascii_lowercase())
}
