//! Items in a pipe whose class is known, but has no role in the flow.

use super::class_words::Words::{self, *};
use crate::graph::vocabulary;

/// Chokes of one opening: they never close.
pub(super) const FIXED_CHOKES: &[&str] =
    &["positive_choke", "positive_choke_valve", "fixed_choke", "fixed_choke_valve", "choke_bean"];

/// Items in a pipe that never close it. They have no role in the flow, but their class is known. Items of other
/// classes without a role are passed too, and make a result uncertain.
const PASSED: &[Words] = &[
    Last(&["pipe", "spool", "spool_piece", "flange", "flanged_connection", "coupling", "union", "elbow", "bend"]),
    // Pipes that are nodes of their own.
    Last(&["pipe_segment", "piping_segment", "piping_network_segment", "pipe_run", "piping_run", "pipe_section"]),
    Last(&["pipeline", "pipe_line", "line_segment", "process_line", "process_pipe", "pipe_piece", "pipe_length"]),
    Is(&["rohr", "rohrleitung", "rohrstück", "tuyau", "tuyauterie", "tubería", "tubo", "leiding", "pijp"]),
    Last(&["spec_break", "spec_change", "specification_break", "piping_spec_break"]),
    Last(&["fitting", "joint", "compensator", "bellows", "hose", "penetration", "property_break", "vent_line"]),
    Last(&["strainer", "in_line_mixer", "inline_mixer", "silencer", "funnel", "steam_trap", "restriction_orifice"]),
    Last(&["orifice", "orifice_plate", "sight_glass", "flame_arrestor", "flame_arrester", "detonation_arrestor"]),
    Last(&[
        "flow_meter",
        "flowmeter",
        "measuring_element",
        "primary_element",
        "flow_element",
        "venturi",
        "venturi_tube",
        "flow_nozzle",
    ]),
    Last(&["rotameter", "pitot_tube", "annubar", "olet", "weldolet", "threadolet", "sockolet", "wye", "y_piece"]),
    Last(&["siphon", "drip_leg", "drip_pot", "drip_ring", "condensate_pot", "desuperheater", "attemperator"]),
    Last(&["header", "detonation_arrester", "spark_arrester", "injection_quill", "muffler", "manifold", "eductor"]),
    Last(&["ystrainer", "tstrainer", "suction_screen", "ubend", "flow_straightener", "flow_conditioner", "diffuser"]),
    Last(&["molecular_seal", "loop_seal", "seal_pot", "water_seal", "liquid_seal", "seal_leg", "barometric_seal"]),
    Last(&["diaphragm_seal", "chemical_seal", "remote_seal", "swage", "swage_nipple", "swaged_nipple", "snubber"]),
    Last(&["coriolis_meter", "vortex_meter", "turbine_meter", "positive_displacement_meter", "averaging_pitot"]),
    Has(&["insulation_break", "class_break"]),
    Last(FIXED_CHOKES),
    InPiping(&["filter", "mixer", "heater", "cooler", "separator", "scrubber", "ejector", "cyclone"]),
];

/// Items that close the end of a pipe, or that are put into it from outside: nothing follows them.
const ENDING: &[Words] = &[
    Last(vocabulary::CAPS),
    Last(&["sensorwell", "thermowell"]),
    // Closed vessels and probes with one connection.
    Last(&["pulsation_dampener", "pulsation_damper", "surge_suppressor", "bladder_accumulator", "air_chamber"]),
    Last(&["hydraulic_accumulator", "corrosion_probe", "corrosion_coupon", "coupon_holder"]),
];

/// Passage of items of a class without a role.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Passage {
    /// A pipe enters and leaves it.
    Through,
    /// A pipe ends at it.
    End,
}

/// Returns what is known about a class without a role, by the entire class in snake_case or its last part.
pub(in crate::graph) fn passage(full_class: &str, last: &str) -> Option<Passage> {
    let matches = |words: &Words| words.matches(full_class) || words.matches(last);
    if ENDING.iter().any(matches) {
        return Some(Passage::End);
    }
    PASSED.iter().any(matches).then_some(Passage::Through)
}
