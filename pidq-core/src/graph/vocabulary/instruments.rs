//! Words of instruments and trips: sensors, logic, switches, codes of shutdown systems.

/// Parts of the classes of instruments through which a sample flows out, or a purge flows in.
pub const SAMPLING_INSTRUMENTS: &[&str] = &["analys", "analyz", "bubbler", "injection", "purge", "quill", "sampl"];

/// Parts of the classes of instruments that measure a flow: the line goes on behind them, unless they are at the end of
/// an impulse line.
pub const FLOW_INSTRUMENTS: &[&str] = &["flow", "rotameter", "coriolis", "vortex"];

/// Words in the classes of instruments that measure something else than a flow: nothing flows through them.
pub const STATIC_VARIABLES: &[&str] = &["level", "pressure", "temperature"];

/// Parts of the classes of instruments that sense.
pub const SENSORS: &[&str] = &["sensor", "transmitter", "element", "signal_generating", "sensing"];

/// Parts of the classes of detectors, whose tags have letters of their own: `GD-101` is no position, `HD-101` no hand switch.
pub const DETECTORS: &[&str] = &["detector", "flame_scanner", "fusible_plug", "fusible_link"];

/// Words in the classes of bubbles that stand for all functions at a measuring point, as in IEC 62424.
pub const BUBBLES: &[&str] = &["process_instrumentation_function", "process_control_function"];

/// Parts of the classes of instruments that only show or record what others sense.
pub const DISPLAYS: &[&str] = &["indicator", "recorder", "gauge"];

/// Words in the classes of controllers.
pub const CONTROLLERS: &[&str] = &["controller", "control_function"];

/// Words in the classes of instruments between a function and a final element.
pub const LOGIC: &[&str] = &["logic_solver", "interlock", "relay", "solenoid", "solenoid_valve", "converter"];

/// Words in the classes of timers and of selectors of signals, which pass a signal on whatever the letters of their tags: `TD-1`
/// measures no difference of temperatures, `LSS-1` is no switch.
pub const RELAYS: &[&str] = &[
    "delay",
    "delay_timer",
    "high_select",
    "low_select",
    "median_select",
    "select_relay",
    "signal_select",
    "signal_selector",
    "time_delay",
    "timer",
];

/// Tags of systems that control, whose letters are no functions: the `S` of `DCS` is no switch.
pub const CONTROL_SYSTEMS: &[&str] = &["BPCS", "DCS", "ICSS", "LCS", "PCS"];

/// Words in the classes of instruments that act whatever the letters of their tags: `Z-1` is no position then.
pub const INTERLOCKS: &[&str] = &[
    "bms",
    "burner_management",
    "enclavamiento",
    "esd_system",
    "fgs",
    "fire_and_gas",
    "interlock",
    "logic",
    "logic_box",
    "logic_solver",
    "logic_system",
    "notabschaltung",
    "plc",
    "protection_function",
    "protection_system",
    "protective_function",
    "protective_system",
    "safety_system",
    "schutz",
    "schutzfunktion",
    "schutzlogik",
    "schutzsystem",
    "shutdown_system",
    "sicherheitsabschaltung",
    "vergrendeling",
    "verriegelung",
    "verrouillage",
];

/// Words in the classes of blocks that vote on several signals or combine them, whatever the letters of their tags.
pub const VOTERS: &[&str] =
    &["voting", "voter", "vote", "and_gate", "or_gate", "not_gate", "nand_gate", "nor_gate", "xor_gate", "logic_gate"];

/// Words in the classes of gates whose output is not that of their inputs.
pub const INVERTING_GATES: &[&str] = &["not_gate", "nand_gate", "nor_gate", "xor_gate", "logic_inverter", "negation"];

/// Parts of the classes of solenoid valves.
pub const SOLENOIDS: &[&str] = &[
    "electroválvula",
    "electrovalvula",
    "electrovanne",
    "elettrovalvola",
    "magneetklep",
    "magneetventiel",
    "magnetventil",
    "solenoid",
    "électrovanne",
];

/// Letters of shutdown systems, as codes in symbols and letters of tags, and their meaning.
pub const SHUTDOWN_CODES: &[(&str, &str)] = &[
    ("APS", "abandon platform shutdown"),
    ("BMS", "burner management system"),
    ("ESD", "emergency shutdown"),
    ("FGS", "fire and gas system"),
    ("FSD", "fire shutdown"),
    ("PSD", "process shutdown"),
    ("USD", "unit shutdown"),
    ("XSD", "shutdown"),
];

/// Words in the classes of what starts and stops a motor for the functions that feed it.
pub const MOTOR_STARTERS: &[&str] = &[
    "circuit_breaker",
    "contactor",
    "frequency_converter",
    "mcc",
    "motor_breaker",
    "motor_control_center",
    "motor_control_centre",
    "motor_starter",
    "soft_starter",
    "starter",
    "switchgear",
    "variable_frequency_drive",
    "variable_speed_drive",
    "vfd",
    "vsd",
];

/// Words of the kinds of edges from a motor or a starter to what it drives.
pub const DRIVE_EDGES: &[&str] = &["drives", "driven", "drive"];

/// Words in the classes of what the air from a solenoid valve to an actuator passes.
pub const AIR_ACCESSORIES: &[&str] = &[
    "air_booster",
    "air_regulator",
    "booster_relay",
    "filter_regulator",
    "lock_up_valve",
    "pneumatic_booster",
    "pneumatic_relay",
    "quick_exhaust",
    "quick_exhaust_valve",
    "speed_controller",
    "volume_booster",
];

/// Words in the classes of instruments that report the position of a valve.
pub const POSITION_SWITCHES: &[&str] =
    &["limit_switch", "position_switch", "end_switch", "position_indicator", "position_transmitter"];

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

/// Last words in the classes of fittings of instruments that a pipe goes on behind.
pub const INSTRUMENT_FITTINGS: &[&str] = &["manifold", "hose", "tubing", "valve", "supply"];

/// Parts of the classes of pockets for sensors, which are put into a pipe and do not close it.
pub const WELLS: &[&str] = &["sensorwell", "sensor_well", "thermowell", "thermo_well"];

/// Words in the classes of instruments operated by hand.
pub const HAND_SWITCH_CLASSES: &[&str] = &[
    "hand_switch",
    "push_button",
    "pushbutton",
    "manual_switch",
    "selector_switch",
    "key_switch",
    "toggle_switch",
    "call_point",
    "break_glass",
    "stop_button",
    "emergency_button",
    "pull_station",
];

/// Words in the classes and texts of switches that prevent a trip, or end one, whatever else the text says: `trip reset`.
pub const OVERRIDES: &[&str] = &["bypass", "inhibit", "mos", "override", "reset", "overbridge"];

/// Words in the classes of switches.
pub const SWITCH_CLASSES: &[&str] = &["switch"];

/// Words in the classes of alarms.
pub const ALARM_CLASSES: &[&str] = &["alarm", "annunciator"];

/// First letters of the tags of valves that control a variable, with the variable.
pub const CONTROLLED_VARIABLES: &[(char, &str)] = &[
    ('A', "analysis"),
    ('D', "density"),
    ('F', "flow"),
    ('L', "level"),
    ('P', "pressure"),
    ('Q', "quality or quantity"),
    ('T', "temperature"),
];

/// Returns whether the first letter of a tag is that of a variable that a valve controls.
pub(crate) fn is_controlled_variable(letter: char) -> bool {
    CONTROLLED_VARIABLES.iter().any(|(known, _)| *known == letter)
}

/// Last words in the classes of instruments that position a valve, whatever their tag is.
pub const POSITIONERS: &[&str] = &["positioner"];

/// Fields of a valve or a machine with the tags of what trips it, in snake_case.
pub const CAUSE_FIELDS: &[&str] = &[
    "actuated_by",
    "cause",
    "causes",
    "closed_by",
    "esd_initiator",
    "esd_signal",
    "initiated_by",
    "initiator",
    "initiators",
    "interlock",
    "interlock_no",
    "interlock_number",
    "interlock_ref",
    "interlock_tag",
    "interlocked_by",
    "interlocks",
    "opened_by",
    "sif",
    "sif_tag",
    "shutdown_by",
    "stopped_by",
    "trip",
    "trip_by",
    "trip_initiator",
    "trip_no",
    "trip_source",
    "trip_tag",
    "tripped_by",
    "trips",
];

/// Fields of a valve with the tags of what moves it, in snake_case.
pub const DRIVE_FIELDS: &[&str] = &[
    "actuator",
    "actuator_tag",
    "operated_by",
    "pilot",
    "pilot_valve",
    "solenoid",
    "solenoid_tag",
    "solenoid_valve",
    "sov",
    "sov_tag",
];

/// Fields of an instrument with the tags of what it trips, in snake_case.
pub const EFFECT_TARGET_FIELDS: &[&str] = &[
    "acts_on",
    "actuates",
    "closes",
    "effect",
    "effects",
    "final_element",
    "final_elements",
    "opens",
    "shuts",
    "shuts_down",
    "stops",
    "target",
    "targets",
    "trip",
    "trips",
];
