//! Words of valves, blinds and other items of pipes: types, drives, marks, purposes.

/// Parts of the classes of actuators.
pub const ACTUATORS: &[&str] = &["actuat", "positioner"];

/// Words in the classes of the bodies of valves that are open or closed, and are no control valves.
pub const ON_OFF_BODIES: &[&str] =
    &["ball_valve", "butterfly_valve", "gate_valve", "globe_valve", "plug_valve", "knife_valve", "straightway_valve"];

/// Words in the classes of valves that control.
pub const CONTROL_VALVES: &[&str] = &["control", "regulating", "regulator", "choke"];

/// Parts of the classes of references from an actuator to its valve.
pub const VALVE_REFERENCES: &[&str] = &["valve_reference"];

/// Parts of the classes of functions that act on a valve or a machine.
pub const ACTUATING_FUNCTIONS: &[&str] = &["actuating_function", "actuating_electrical_function"];

/// Parts of the classes of drives of valves, and words of descriptions that name one.
pub const VALVE_DRIVES: &[&str] = &["actuat", "positioner", "solenoid", "motor", "pneumatic", "hydraul"];

/// Fields of an actuator, a solenoid valve or a motor with the valve that it moves, in snake_case.
pub const DRIVEN_VALVE_FIELDS: &[&str] = &[
    "actuated_valve",
    "actuates",
    "acts_on",
    "assigned_to",
    "associated_valve",
    "controlled_valve",
    "controls",
    "drives",
    "driven_valve",
    "final_element",
    "for_valve",
    "fitted_on",
    "fitted_to",
    "host_valve",
    "located_on",
    "main_valve",
    "mounted_at",
    "mounted_to",
    "moves",
    "operated_valve",
    "operates",
    "parent_valve",
    "refers_to",
    "related_valve",
    "valve",
    "valve_id",
    "valve_name",
    "valve_no",
    "valve_number",
    "valve_ref",
    "valve_tag",
    "valve_tag_no",
    "valve_tag_number",
    "armatur",
    "ventil",
    "vanne",
];

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
    "bar",
    "bevel",
    "box",
    "chain",
    "chainwheel",
    "gear",
    "gearbox",
    "hand",
    "handle",
    "handwheel",
    "key",
    "lever",
    "manual",
    "manually",
    "operated",
    "operation",
    "operator",
    "square",
    "t",
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

/// Nouns in the classes of valves that throttle a flow, without the type of the valve. They are open in an emergency
/// unless a trip closes them.
pub const THROTTLING_VALVES: &[&str] = &[
    "back_pressure_valve",
    "choke",
    "choke_valve",
    "control",
    "control_valve",
    "controlvalve",
    "fcv",
    "float_valve",
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

/// Words in the classes of parts that move a valve and have its tag.
pub const ACTUATOR_CLASSES: &[&str] = &["actuat", "positioner", "valve_reference"];

/// Words for a branch that empties a pipe or a vessel at its lowest point.
pub const DRAIN_WORDS: &[&str] = &[
    "ablass",
    "aftap",
    "drain",
    "drainage",
    "draining",
    "drains",
    "drenaje",
    "entleerung",
    "entleerungshahn",
    "entleerungsventil",
    "entwässerung",
    "lpd",
    "scarico",
    "vidange",
];

/// Words for a branch that lets gas out of a pipe or a vessel, or air into it.
pub const VENT_WORDS: &[&str] = &[
    "belüftung",
    "bleeder",
    "entlüfter",
    "entlüftung",
    "entlüftungsventil",
    "hpv",
    "ontluchting",
    "sfiato",
    "venteo",
    "vent",
    "vented",
    "ventilation",
    "venting",
    "vents",
    "évent",
];

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

/// Words of closed systems into which several items are drained or vented, and that may hold pressure.
pub const SHARED_SYSTEMS: &[&str] = &["flare", "header", "headers", "blowdown", "slop", "slops"];

/// Ends of the classes of fittings that close the end of a pipe.
pub const CAPS: &[&str] =
    &["cap", "plug", "pipe_plug", "plug_fitting", "threaded_plug", "screwed_plug", "hex_plug", "bull_plug"];

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

/// Words in the classes of hand valves, with the letters of their tags, which are those of actuated or other valves
/// elsewhere: the valves of a well, and post indicator valves of fire water.
pub const HAND_VALVE_TAGS: &[(&[&str], &[&str])] = &[
    (
        &["master", "wing", "swab", "kill", "crown"],
        &["SV", "AV", "AWV", "AMV", "LMV", "MMV", "MV", "WV", "PWV", "KV", "KWV", "NAWV"],
    ),
    (&["annulus"], &["AV", "AMV", "AWV"]),
    (&["crossover"], &["XOV"]),
    (&["post_indicator", "post_indicator_valve"], &["PIV"]),
];

/// Parts of the classes of valves with two seats and a bleed between them.
pub const DOUBLE_BLOCKS: &[&str] = &["double_block_and_bleed", "double_block_bleed"];

/// Parts of the classes and descriptions of valves of several ways of which one is always open.
pub const CHANGEOVER: &[&str] = &["changeover", "change_over", "transfer_valve", "selector_valve", "switching_valve"];

/// Parts of the classes of valves with four ways.
pub const FOUR_WAYS: &[&str] = &["four_way", "4_way", "four_port", "4_port"];
