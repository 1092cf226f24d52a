//! Texts of instruments of trips that describe the cause that they detect: `pump not running`, `blocked filter`. They say
//! nothing about whether the instrument acts.

use super::phrases::clauses;
use crate::graph::adjacency::NodeId;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::vocabulary::{self, has_any};
use crate::pid::instrument_class;

/// Words of what instruments watch, in lower case.
const WATCHED: &[&str] = &[
    "agitator",
    "air",
    "arm",
    "bearing",
    "belt",
    "bin",
    "blower",
    "boiler",
    "burner",
    "catalyst",
    "column",
    "compressor",
    "container",
    "conveyor",
    "cooling",
    "cover",
    "damper",
    "discharge",
    "door",
    "drum",
    "earth",
    "earthing",
    "fan",
    "feed",
    "feeder",
    "filter",
    "flame",
    "flow",
    "fuel",
    "furnace",
    "gas",
    "grounding",
    "guard",
    "hatch",
    "heater",
    "hopper",
    "hose",
    "ignition",
    "level",
    "lid",
    "liquid",
    "lube",
    "mixer",
    "motor",
    "nitrogen",
    "oil",
    "phase",
    "power",
    "pressure",
    "product",
    "pump",
    "purge",
    "reactor",
    "screen",
    "seal",
    "silo",
    "speed",
    "steam",
    "stirrer",
    "strainer",
    "suction",
    "supply",
    "tank",
    "temperature",
    "truck",
    "turbine",
    "unit",
    "vacuum",
    "valve",
    "ventilation",
    "vessel",
    "voltage",
    "water",
];

/// Words of the instrument itself, of what it does and needs to act, and words of what has been done to it.
const OF_INSTRUMENT: &[&str] = &[
    "alarm",
    "annunciated",
    "bellows",
    "bridle",
    "bulb",
    "bypass",
    "bypassed",
    "cable",
    "calibrated",
    "capillary",
    "card",
    "circuit",
    "commissioned",
    "connection",
    "contact",
    "decommissioned",
    "defeated",
    "defective",
    "deleted",
    "demolished",
    "detected",
    "detector",
    "diaphragm",
    "disabled",
    "disconnected",
    "displacer",
    "displayed",
    "electrode",
    "element",
    "faulty",
    "fitted",
    "float",
    "forced",
    "function",
    "functional",
    "gauge",
    "impulse",
    "indicated",
    "indication",
    "inhibited",
    "initiator",
    "input",
    "installed",
    "instrument",
    "interlock",
    "isolated",
    "isolation",
    "jumpered",
    "leg",
    "logic",
    "loop",
    "manifold",
    "measured",
    "measurement",
    "monitored",
    "operational",
    "output",
    "overridden",
    "override",
    "probe",
    "read",
    "reading",
    "recorded",
    "relay",
    "removed",
    "required",
    "root",
    "sensed",
    "sensing",
    "sensor",
    "service",
    "signal",
    "sis",
    "spare",
    "standpipe",
    "supervised",
    "switch",
    "tapping",
    "tested",
    "transmitted",
    "transmitter",
    "trip",
    "use",
    "used",
    "visible",
    "watched",
    "wired",
    "yet",
];

/// Uncertain words that a cause has too; the others are about the instrument, as in `low flow, tbc`.
const DENIALS: &[&str] = &["incomplete", "lost", "missing", "nicht", "not", "pas"];

/// Words of an action and words of the condition for it, in `trips if level < 10 %`.
const ACTIONS: &[&str] = &["closes", "opens", "stops", "trips"];
const LIMITS: &[&str] = &["above", "below", "exceeds", "falls", "high", "low", "rises"];
/// Words that make such a condition one of the trip itself.
const SELECTIONS: &[&str] = &["active", "auto", "enabled", "key", "manual", "mode", "permitted", "selected"];

/// Returns what a text of an item says about the item itself: of an instrument, without the clauses about the cause that it
/// detects.
pub(super) fn without_causes(drawing: &Drawing<'_>, node: NodeId, text: &str) -> String {
    let is_instrument =
        drawing.topology.roles[node as usize] == Role::Instrument && !instrument_class::acts_by_class(drawing, node);
    if !is_instrument {
        return text.into();
    }
    let about_item = clauses(text).into_iter().filter(|clause| !describes_cause(clause));
    about_item.map(|clause| clause.join(" ")).collect::<Vec<_>>().join("; ")
}

/// Returns whether a clause is about what an instrument watches, and not about the instrument.
fn describes_cause(clause: &[String]) -> bool {
    let is_uncertain = |word: &str| vocabulary::UNCERTAIN_WORDS.contains(&word) && !DENIALS.contains(&word);
    let has_uncertain_word = || clause.iter().any(|word| is_uncertain(word));
    let has_number = || clause.iter().any(|word| word.chars().all(char::is_numeric));
    let is_condition = || {
        clause.windows(2).any(|pair| ACTIONS.contains(&pair[0].as_str()) && pair[1] == "if")
            && (has_any(clause, LIMITS) || has_number())
            && !has_any(clause, SELECTIONS)
    };
    !has_any(clause, OF_INSTRUMENT) && has_any(clause, WATCHED) && !has_uncertain_word() || is_condition()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clause_describes_the_cause_unless_it_names_the_instrument_or_what_was_done_to_it() {
        let describes = |text: &str| clauses(text).iter().all(|clause| describes_cause(clause));
        for text in ["pump not running", "Valve failed to close", "earth not connected", "trips if LT-7 < 10 %"] {
            assert!(describes(text), "{text}");
        }
        for text in [
            "not active",
            "pump trip defeated",
            "pump switch not connected",
            "impulse line blocked, no flow",
            "level transmitter not commissioned",
            "low flow trip not yet in use",
            "trips if selected",
            "trips if key 1 enabled",
            "root valve closed",
            "low flow tbc",
            "level float jammed",
            "flow not measured",
            "low flow not monitored",
            "pump temporarily not watched",
        ] {
            assert!(!describes(text), "{text}");
        }
    }
}
