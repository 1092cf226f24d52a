//! Built-in classes and their roles.

use super::class_words::Words::{self, *};
use super::passage::FIXED_CHOKES;
use super::{Role, other_languages};

/// Utilities for instruments, in front of the class of what contains them: an instrument air receiver is no instrument.
const INSTRUMENT_UTILITIES: &[&str] =
    &["instrument_air", "instrument_gas", "instrument_nitrogen", "instrument.air_header", "instrument.air_receiver"];

/// Returns the role of a built-in class in snake_case, by the entire class or its last part.
pub(in crate::graph) fn built_in_role(full_class: &str, last: &str) -> Option<Role> {
    let matches = |words: &Words| words.matches(full_class) || words.matches(last);
    let is_utility =
        [full_class, last].iter().any(|class| INSTRUMENT_UTILITIES.iter().any(|known| class.starts_with(known)));
    let rows = BUILT_IN.iter().filter(|(role, _)| *role != Role::Instrument || !is_utility);
    rows.clone().find(|(_, any)| any.iter().any(matches)).map(|(role, _)| *role)
}

/// Returns the built-in classes as patterns, in the order in which they are tried.
pub(in crate::graph) fn patterns() -> impl Iterator<Item = (Role, String)> {
    let pattern = |words: &&[Words]| words.iter().map(|words| words.pattern()).collect::<Vec<_>>().join("|");
    BUILT_IN.iter().map(move |(role, words)| (*role, pattern(words)))
}

/// Words of valves that join three pipes or more: in any position, some of their ways are open to each other.
const SEVERAL_WAYS: &[&str] = &[
    "three_way",
    "3_way",
    "3way",
    "four_way",
    "4_way",
    "4way",
    "3/2",
    "4/2",
    "5/2",
    "4/3",
    "5/3",
    "multi_way",
    "multiway",
    "multi_port",
    "multiport",
    "three_port",
    "four_port",
    "divert",
    "changeover",
    "change_over",
];

/// Words of valves at the outlet of a pump that have a third way, for its minimum flow.
const RECIRCULATION_VALVES: &[&str] =
    &["automatic_recirculation", "automatic_recirculating", "auto_recirculation", "auto_recirculating"];

/// Words of valves with more than two ports: a full port is the bore of a valve.
const SEVERAL_PORTS: &[&str] = &[
    "3_port",
    "4_port",
    "5_port",
    "6_port",
    "five_port",
    "six_port",
    "_l_port",
    "_t_port",
    ".l_port",
    ".t_port",
    "_l_pattern",
    ".l_pattern",
];

/// Returns whether a class of a valve, in snake_case, is one that does not close all its ways.
pub(in crate::graph) fn has_several_ways(class: &str) -> bool {
    Has(SEVERAL_WAYS).matches(class)
}

/// Relief devices that some tools class as instruments.
const RELIEF_INSTRUMENTS: &[&str] = &[
    "safety_valve",
    "relief_valve",
    "safety_relief_valve",
    "pressure_safety_valve",
    "pressure_relief_valve",
    "pressure_vacuum_relief_valve",
    "vacuum_relief_valve",
    "thermal_relief_valve",
    "relief_device",
    "safety_device",
    "safety_relief_device",
    "pressure_relief_device",
    "pressure_safety_device",
    "safety_and_relief_valve",
    "relief_and_safety_valve",
    "relief_safety_valve",
    "rupture_disc",
    "rupture_disk",
    "bursting_disc",
    "bursting_disk",
    "burst_disc",
    "psv",
    "prv",
    "pse",
    "srv",
    "tsv",
];

/// Valves with an actuator that some tools class as instruments.
const VALVE_INSTRUMENTS: &[&str] = &[
    "control_valve",
    "control_valves_and_regulator",
    "regulator",
    "pressure_regulator",
    "shutdown_valve",
    "shut_down_valve",
    "blowdown_valve",
    "on_off_valve",
    "solenoid_valve",
    "motor_operated_valve",
    "emergency_shutdown_valve",
    "emergency_isolation_valve",
    "xv",
    "sdv",
    "esdv",
    "bdv",
    "mov",
];

/// Hand valves that some tools class as instruments.
const HAND_VALVES_OF_INSTRUMENTS: &[&str] = &[
    "ball_valve",
    "block_valve",
    "gate_valve",
    "globe_valve",
    "hand_valve",
    "isolating_valve",
    "isolation_valve",
    "needle_valve",
    "plug_valve",
    "root_valve",
    "shut_off_valve",
    "stop_valve",
];
const HAND_VALVES_AT_INSTRUMENTS: &[&str] = &[
    "instrument_air_valve",
    "instrument_ball_valve",
    "instrument_block_valve",
    "instrument_gate_valve",
    "instrument_hand_valve",
    "instrument_isolating_valve",
    "instrument_isolation_valve",
    "instrument_needle_valve",
    "instrument_root_valve",
    "instrument_shut_off_valve",
    "instrument_stop_valve",
];

/// Valves that can be operated, of a type that the class does not state. The upper master valve and the production wing
/// valve of a well have an actuator on most wells (API 6A, API 14C).
const UNSPECIFIED_VALVES: &[&str] = &[
    "operated_valve",
    "custom_operated_valve",
    "upper_master_valve",
    "upper_master_gate_valve",
    "production_wing_valve",
    "production_wing_gate_valve",
    "production_master_valve",
];

/// Classes that state that the class is unknown. Another field may still call the item a valve.
const UNKNOWN_CLASSES: &[&str] = &["unknown", "unclassified", "undefined", "unidentified", "unspecified"];

/// Returns whether a class in snake_case, without its namespace, is that of a valve whose type is not stated.
pub(in crate::graph) fn is_unspecified_valve(class: &str) -> bool {
    [UNSPECIFIED_VALVES, UNKNOWN_CLASSES, other_languages::HAND_VALVES].iter().any(|words| Is(words).matches(class))
}

/// Classes of valves and piping items of any type, which another field may state.
const GENERAL_CLASSES: &[&str] = &[
    "valve",
    "valves",
    "process_valve",
    "inline_valve",
    "component",
    "inline_component",
    "piping_component",
    "piping_item",
];

/// Returns whether a class in snake_case, without its namespace, leaves the type of a piping item to another field.
pub(in crate::graph) fn is_general(class: &str) -> bool {
    Is(GENERAL_CLASSES).matches(class)
}

/// Built-in classes. The first matching row applies.
const BUILT_IN: &[(Role, &[Words])] = &[
    // Measuring and spray nozzles in a pipe are not nozzles of equipment.
    (Role::None, &[InPiping(&["nozzle"]), Last(&["flow_nozzle", "spray_nozzle"])]),
    (Role::Port, &[Last(&["nozzle"])]),
    (Role::OffPage, &[Has(&["off_page", "connector_symbol"]), Last(&["opc", "outlet", "inlet"])]),
    // Caps against rain and dust are no closures.
    (
        Role::OpenEnd,
        &[
            Has(&["open_end"]),
            Last(&["desiccant_breather", "air_breather", "breather", "breather_cap", "tank_breather"]),
            Last(&["rain_cap", "vent_cap", "vented_cap", "weather_cap", "dust_cap", "open_cap"]),
        ],
    ),
    (Role::None, &[Is(&["reference.signal_end"])]),
    // References to another sheet, whatever the rest of their class.
    (Role::OffPage, &[Begins(&["reference."])]),
    // Some tools class what protects by opening, and the valves in a pipe, as instruments.
    (Role::Relief, &[InInstruments(RELIEF_INSTRUMENTS)]),
    (Role::Control, &[InInstruments(VALVE_INSTRUMENTS)]),
    // Equipment of the instrument air, whatever the rest of its class.
    (
        Role::Equipment,
        &[
            Begins(&["equipment.instrument_"]),
            Last(&[
                "instrument_air_compressor",
                "instrument_air_drier",
                "instrument_air_drum",
                "instrument_air_dryer",
                "instrument_air_receiver",
                "instrument_air_tank",
                "instrument_air_vessel",
                "instrument_gas_drum",
                "instrument_gas_vessel",
            ]),
        ],
    ),
    (Role::None, &[Last(&["instrument_air_header", "instrument_header", "instrument_air_manifold"])]),
    // Hand valves of instruments.
    (Role::Barrier, &[InInstruments(HAND_VALVES_OF_INSTRUMENTS), Last(HAND_VALVES_AT_INSTRUMENTS)]),
    (
        Role::Instrument,
        &[
            Is(&["instrument", "instruments", "process_instrumentation_function"]),
            Begins(&["instrument.", "instrument_", "instruments.", "instruments_"]),
            Last(&[
                "instrument",
                "transmitter",
                "controller",
                "indicator",
                "sensor",
                "analyser",
                "analyzer",
                "transducer",
                "recorder",
                "gauge",
                "switch",
                "interlock",
                "trip",
                "sis",
                "sif",
                "safety_instrumented_function",
                "logic_solver",
            ]),
        ],
    ),
    // Vents and drains that open by themselves cannot be shut.
    (
        Role::None,
        &[
            Has(&[
                "air_vent",
                "automatic_vent",
                "auto_vent",
                "air_release",
                "air_eliminator",
                "automatic_drain",
                "auto_drain",
            ]),
            Ends(&["excess_flow_valve", "excess_flow_safety_valve", "excess_flow_check_valve", "excess_flow_check"]),
        ],
    ),
    (Role::None, &[Last(FIXED_CHOKES)]),
    // Before blind flanges: a spectacle blind flange swings.
    (
        Role::Blind,
        &[
            Has(&[
                "line_blind",
                "slip_blind",
                "spade",
                "spectacle",
                "figure_8",
                "figure_eight",
                "paddle_b",
                "swing_blind",
            ]),
            Has(&["blanking_plate", "blind_plate", "goggle", "removable_spool", "spool_removable"]),
            Last(&["blind", "spacer", "spacer_ring", "ring_spacer"]),
            Last(other_languages::BLINDS),
        ],
    ),
    (Role::OpenEnd, &[Has(&["drilled_blind", "vented_blind"])]),
    (
        Role::PositiveBarrier,
        &[
            Last(&["blind_flange", "blank_flange", "flange_blind", "flange_blank"]),
            Is(&["capped_end", "plugged_end", "closed_end"]),
            Last(&["removed_spool", "removed_spool_piece"]),
            Is(other_languages::BLIND_FLANGES),
        ],
    ),
    // Equipment and parts that are named after relief, and relieve nothing themselves.
    (
        Role::Equipment,
        &[Last(&[
            "relief_condenser",
            "relief_drum",
            "relief_tank",
            "relief_vessel",
            "relief_scrubber",
            "relief_separator",
            "relief_stack",
            "relief_knock_out_pot",
            "relief_knock_out_drum",
            "relief_knockout_drum",
            "relief_pot",
        ])],
    ),
    (
        Role::None,
        &[
            Last(&[
                "relief_header",
                "relief_line",
                "relief_piping",
                "relief_tee",
                "emergency_vent_line",
                "air_relief_valve",
                "relief_manifold",
                "relief_pipe",
                "relief_system",
                "relief_orifice",
            ]),
            Last(&["relief_nozzle", "relief_silencer", "relief_valve_silencer"]),
            Last(&["disc_holder", "disk_holder", "disc_detector", "disk_detector", "disc_indicator", "disk_indicator"]),
        ],
    ),
    // Detectors, push buttons, alarms and logic of classes without the word `instrument`.
    (
        Role::Instrument,
        &[
            Last(&["detector", "flame_scanner", "fusible_plug", "fusible_link"]),
            Last(&["push_button", "pushbutton", "call_point", "stop_button", "emergency_button"]),
            Last(&["alarm", "annunciator"]),
            Last(&["sis_logic", "trip_logic", "logic", "plc", "voter", "voting", "voting_block", "voting_unit"]),
            Last(&["burner_management_system", "shutdown_system", "esd_system", "fire_and_gas_system"]),
            Last(&["bms", "burner_management", "fgs", "fire_and_gas", "safety_system", "safety_instrumented_system"]),
            Last(&["hipps_logic", "esd_logic", "psd_logic", "shutdown_logic", "interlock_logic", "safety_logic"]),
            Last(&["logic_box", "logic_system", "safety_plc", "interlock_diamond", "interlock_symbol"]),
            Last(&["and_gate", "or_gate", "not_gate", "nand_gate", "nor_gate", "xor_gate", "logic_gate"]),
            Last(&["logic_inverter"]),
            Last(other_languages::INSTRUMENTS),
            Last(&["protection_system", "protection_logic", "protection_function", "protective_system"]),
            // What starts and stops a motor.
            Last(&["motor_starter", "starter", "soft_starter", "contactor", "circuit_breaker", "motor_breaker"]),
            Last(&["mcc", "motor_control_center", "motor_control_centre", "switchgear", "vsd", "vfd"]),
            Last(&["variable_speed_drive", "variable_frequency_drive", "frequency_converter"]),
        ],
    ),
    // Accessories of the air of an actuator.
    (
        Role::None,
        &[Last(&[
            "air_booster",
            "booster_relay",
            "lock_up_valve",
            "pneumatic_booster",
            "pneumatic_relay",
            "quick_exhaust",
            "quick_exhaust_valve",
            "volume_booster",
        ])],
    ),
    // Safety valves of wells, burners and tanks close in an emergency (API 14A, API 6A, EN 161, EN 13175).
    (
        Role::Control,
        &[
            Has(&["surface_safety", "downhole_safety"]),
            Last(&["burner_safety_valve", "internal_safety_valve", "flame_safety_valve"]),
        ],
    ),
    // Valves and other items at a relief device: the word before `valve` says what they are.
    (
        Role::Barrier,
        &[Ends(&[
            "relief_isolation_valve",
            "relief_isolating_valve",
            "relief_block_valve",
            "relief_stop_valve",
            "relief_inlet_valve",
            "relief_outlet_valve",
            "relief_valve_isolation_valve",
            "relief_valve_isolating_valve",
            "relief_valve_block_valve",
            "relief_valve_stop_valve",
            "relief_valve_inlet_valve",
            "relief_valve_outlet_valve",
            "relief_inlet_block_valve",
            "relief_inlet_isolation_valve",
            "relief_isolation_block_valve",
            "relief_outlet_block_valve",
            "relief_outlet_isolation_valve",
            "relief_valve_inlet_block_valve",
            "relief_valve_inlet_isolation_valve",
            "relief_valve_outlet_block_valve",
            "relief_valve_outlet_isolation_valve",
        ])],
    ),
    (
        Role::Barrier,
        &[Begins(&[
            "block_valve_at_",
            "block_valve_for_",
            "block_valve_of_",
            "inlet_valve_at_",
            "inlet_valve_for_",
            "inlet_valve_of_",
            "isolating_valve_at_",
            "isolating_valve_for_",
            "isolating_valve_of_",
            "isolation_valve_at_",
            "isolation_valve_for_",
            "isolation_valve_of_",
            "outlet_valve_at_",
            "outlet_valve_for_",
            "outlet_valve_of_",
            "stop_valve_at_",
            "stop_valve_for_",
            "stop_valve_of_",
        ])],
    ),
    (Role::Control, &[Ends(&["relief_control_valve"])]),
    (Role::OneWay, &[Ends(&["relief_check_valve", "relief_non_return_valve"])]),
    (
        Role::None,
        &[
            Ends(&["relief_test_valve", "relief_valve_test_valve", "relief_bypass_valve", "relief_valve_bypass_valve"]),
            Has(&["stress_relief"]),
            Last(&["breather_filter", "breather_cap_filter"]),
        ],
    ),
    (
        Role::Relief,
        &[
            Ends(&["safety", "safety_valve", "safety_head"]),
            Ends(&["safety_or_fitting", "safety_valve_or_fitting", "safety_head_or_fitting"]),
            Has(&["rupture_dis", "bursting_dis", "burst_dis", "rupture_pin", "buckling_pin", "breaking_pin"]),
            Last(&["burst_cap", "bursting_cap", "frangible_cap", "blow_off_cap"]),
            Has(&["relief", "breather", "vacuum_breaker"]),
            Has(&["conservation_vent", "emergency_vent", "explosion_vent", "explosion_panel", "pressure_vacuum"]),
            Last(&["emergency_pressure_vent", "bursting_panel", "rupture_panel", "vent_panel", "weighted_hatch"]),
            Last(&["psv", "prv", "tsv", "pvsv", "pvrv", "prd", "overflow_valve"]),
            // Not the valve of a truck that is unloaded.
            Is(&["unloading_valve"]),
            Last(other_languages::RELIEF_DEVICES),
            // Of a hand valve, the disc: `robinet à soupape`.
            Is(&["soupape"]),
        ],
    ),
    (
        Role::OneWay,
        &[
            Last(&["check", "nrv"]),
            Valve(&["check", "foot", "reflux", "clack", "duckbill"]),
            Has(&["check_valve", "checkvalve", "non_return", "nonreturn", "backflow", "back_flow", "valve.check"]),
            InValve(&["check_", "_check", "one_way", "oneway"]),
            Last(other_languages::CHECK_VALVES),
        ],
    ),
    // By hand, whatever else operates valves.
    (
        Role::Barrier,
        &[
            Last(&["hand_operated_valve", "manually_operated_valve", "manual_operated_valve", "lever_operated_valve"]),
            Last(&["gear_operated_valve", "handwheel_operated_valve", "wheel_operated_valve", "chain_operated_valve"]),
            Is(UNSPECIFIED_VALVES),
        ],
    ),
    // Of a pump: to its process and back to its tank.
    (Role::MultiWay, &[InValve(RECIRCULATION_VALVES), Last(&["arc_valve"])]),
    (
        Role::Control,
        &[
            Last(&["control", "regulating", "regulator", "choke", "ballcock", "ssv", "sssv", "scssv", "scsv"]),
            // A choke and a throttle valve do not close tightly, a float valve opens and closes by itself.
            Valve(&["control", "regulating", "choke", "float", "throttle", "throttling", "expansion", "reducing"]),
            Valve(&["metering", "dosing", "governor", "line_break"]),
            Has(&["controlvalve", "control_valves"]),
            Driven(&[
                "motor",
                "motorised",
                "motorized",
                "solenoid",
                "pneumatic",
                "hydraulic",
                "actuated",
                "shutdown",
                "shut_down",
                "blowdown",
                "blow_down",
                "onoff",
                "on_off",
                "esd",
                "hipps",
                "hips",
                "dump",
                "trip",
                "deluge",
                "slam_shut",
                "quick_closing",
                "quick_opening",
                "remote",
            ]),
            Ends(&["_operated_valve", "_actuated_valve", "back_pressure_valve", "backpressure_valve"]),
            InValve(&[
                "pressure_reducing",
                "pressure_sustaining",
                "thermostatic",
                "emergency_",
                "safety_shut",
                "automatic_",
            ]),
            // A drive in front of a type: a motor-operated ball valve.
            InValve(&["motor_operated_", "motor_actuated_", "motorized_", "motorised_", "pneumatic_", "hydraulic_"]),
            InValve(&["actuated_", "air_operated_", "solenoid_", "on_off_", "shutdown_", "shut_down_", "remotely_"]),
            InValve(&[
                "actuator_",
                "automated_",
                "electric",
                "pneumatically_",
                "hydraulically_",
                "motor_",
                "servo_",
                "remote_",
            ]),
            InValve(&["control_", "modulating_", "regulating_", "positioner", "self_acting", "self_operated"]),
            // Before the type of a valve: a float-operated or throttling globe valve, types of trim for control.
            InValve(&["choke_", "float_", "throttle_", "throttling_", "dynamic_balancing", "pressure_independent"]),
            InValve(&["characterized_", "characterised_", "v_notch", "segmented_ball", "eccentric_rotary"]),
            InValve(&[
                "spring_",
                "double_acting",
                "single_acting",
                "fail_",
                "quick_closing",
                "trip_",
                "pilot_",
                "power_",
            ]),
            Last(other_languages::ACTUATED_VALVES),
            InValve(&["sdv_", "xv_", "esd_", "esdv_", "rosov_", "onoff_", "gas_over_oil"]),
            // Valves by the letters of their tags. As a tag, HV is often a hand valve; as a class, it is not stated.
            Last(&[
                "sdv", "esdv", "esv", "xv", "mov", "aov", "rov", "bdv", "hv", "eiv", "fcv", "pcv", "lcv", "tcv", "hcv",
            ]),
        ],
    ),
    (
        Role::MultiWay,
        &[
            InValve(SEVERAL_WAYS),
            InValve(&["mixing", "selector", "transfer", "switching"]),
            Last(&["diverter"]),
            InValve(SEVERAL_PORTS),
            Begins(&["l_port_", "t_port_", "l_pattern_"]),
            Has(&["way_cock", "way_plug_cock", "way_stopcock", "way_stop_cock", "way_ball_cock", "way_tap"]),
            Last(other_languages::VALVES_OF_SEVERAL_WAYS),
        ],
    ),
    (
        Role::Barrier,
        &[
            HandValve(&[
                "ball",
                "gate",
                "globe",
                "plug",
                "butterfly",
                "needle",
                "straightway",
                "angle",
                "shut_off",
                "shutoff",
                "diaphragm",
                "pinch",
                "piston",
                "slide",
                "sluice",
                "block",
                "isolation",
                "isolating",
                "stop",
                "root",
                "hand",
                "manual",
                "drain",
                "vent",
                "bleed",
                "sample",
                "manifold",
                "balancing",
                "knife",
                "master",
                "wing",
                "swab",
                "crown",
                "kill",
            ]),
            Is(other_languages::HAND_VALVES),
            Last(&["stopcock", "stop_cock", "plug_cock"]),
            Last(&["flush_bottom_valve", "tank_bottom_valve", "bottom_outlet_valve", "bottom_drain_valve"]),
            // Valves of fire water rings: outside screw and yoke, and with a post that shows the position.
            Last(&[
                "post_indicator_valve",
                "os_and_y_valve",
                "os_and_y_gate_valve",
                "os_y_gate_valve",
                "osy_gate_valve",
            ]),
            Is(&["drain_cock", "vent_cock", "gauge_cock", "test_cock", "isolating_cock"]),
            // A plug or a needle alone is not a valve.
            Is(&["ball", "gate", "globe", "butterfly"]),
            Is(&["plug_valve_manual", "needle_valve_manual", "globe_valve_angle"]),
            Is(&["gate_valve_flanged", "ball_valve_flanged", "globe_valve_flanged", "butterfly_valve_flanged"]),
            Is(&["ballvalve", "butterflyvalve", "gatevalve", "globevalve", "needlevalve", "plugvalve"]),
            Is(&["valv_ball", "valv_gate", "valv_globe", "valv_plug", "valv_butterfly", "valv_needle"]),
            Is(&["double_block_and_bleed", "double_block_bleed", "dbb", "dbb_valve"]),
            Is(&["valve_ball", "valve_gate", "valve_globe", "valve_plug", "valve_butterfly", "valve_needle"]),
        ],
    ),
    (
        Role::Junction,
        &[
            Last(&["tee", "branch", "tpiece", "t_piece", "tee_piece", "pipe_junction", "piping_junction"]),
            Is(&["cross", "junction", "tee_junction", "branch_connection", "branch_fitting"]),
            Has(&["pipe_cross", "pipe_tee"]),
        ],
    ),
    // A regulator of pressure or flow, not a fitting; and a gear box.
    (Role::Control, &[Last(&["pressure_reducer", "flow_reducer"])]),
    (Role::None, &[Last(&["speed_reducer", "gear_reducer", "noise_reducer"])]),
    (Role::SizeBreak, &[Has(&["reducer", "diameter_change"])]),
    // Items in a pipe are not its end.
    (
        Role::None,
        &[
            Last(&["in_line_mixer", "inline_mixer"]),
            InPiping(&["filter", "mixer", "heater", "cooler", "separator", "scrubber", "ejector", "cyclone"]),
        ],
    ),
    (
        Role::Equipment,
        &[
            Begins(&["equipment."]),
            Is(&["equipment"]),
            Last(&[
                "tank",
                "vessel",
                "pump",
                "heat_exchanger",
                "compressor",
                "column",
                "filter",
                "reactor",
                "blower",
                "boiler",
                "turbine",
                "exchanger",
                "cooler",
                "heater",
                "condenser",
                "evaporator",
                "reboiler",
                "chiller",
                "drum",
                "silo",
                "fan",
                "dryer",
                "furnace",
                "agitator",
                "mixer",
                "separator",
                "scrubber",
                "absorber",
                "stripper",
                "ejector",
                "cyclone",
                "centrifuge",
                "cooling_tower",
                "flare",
                "stack",
                "chimney",
                "basin",
                "pond",
                "lagoon",
                "sump",
                "autoclave",
                "bioreactor",
                "coalescer",
                "crystalliser",
                "crystallizer",
                "deaerator",
                "desalter",
                "economiser",
                "economizer",
                "electrolyser",
                "electrolyzer",
                "extruder",
                "fermenter",
                "fermentor",
                "homogeniser",
                "homogenizer",
                "hopper",
                "hydrocyclone",
                "pasteuriser",
                "pasteurizer",
                "pig_launcher",
                "pig_receiver",
                "regenerator",
                "slug_catcher",
                "softener",
                "superheater",
                "turbo_expander",
                "turboexpander",
                "vaporiser",
                "vaporizer",
                "vent_mast",
            ]),
            Is(&["bullet", "sphere"]),
            Is(other_languages::EQUIPMENT),
        ],
    ),
];

#[cfg(test)]
mod tests {
    use regex::Regex;

    use super::*;

    /// Words of the table, alone and combined with others.
    fn classes() -> impl Iterator<Item = String> {
        let words: Vec<&str> = BUILT_IN
            .iter()
            .flat_map(|(_, words)| *words)
            .flat_map(|words| match words {
                Is(words) | Begins(words) | Ends(words) | Has(words) => *words,
                Last(words) | Valve(words) | Driven(words) | InPiping(words) | InInstruments(words) => *words,
                InValve(words) | HandValve(words) => *words,
            })
            .copied()
            .collect();
        let in_context = |word: &str| {
            let before = [
                "",
                "x",
                "x_",
                "motor_",
                "instrument.",
                "instruments.",
                "piping_component.",
                "piping_component.x_",
                "piping_component.x",
            ];
            let after = ["", "x", "_valve", "_operated_valve", "_actuated_valve", "valve", "_or_fitting", ".", "_"];
            before.iter().flat_map(|before| after.map(|after| format!("{before}{word}{after}"))).collect::<Vec<_>>()
        };
        words.into_iter().flat_map(in_context).collect::<Vec<_>>().into_iter()
    }

    #[test]
    fn words_match_the_same_classes_as_their_pattern() {
        let patterns: Vec<Regex> =
            patterns().map(|(_, pattern)| Regex::new(&pattern).expect("valid pattern")).collect();
        for class in classes() {
            let of_patterns = patterns.iter().position(|pattern| pattern.is_match(&class));
            let of_words = BUILT_IN.iter().position(|(_, any)| any.iter().any(|words| words.matches(&class)));
            assert_eq!(of_words, of_patterns, "{class}");
        }
    }
}
