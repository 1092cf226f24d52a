//! Switches that start no trip: those that override, bypass or reset one, and those that select, start, test or acknowledge.

use crate::graph::adjacency::NodeId;
use crate::graph::config::{MAX_CLASS, Names};
use crate::graph::drawing::Drawing;
use crate::graph::snake_case::snake_case;
use crate::graph::vocabulary::OVERRIDES;
use crate::pid::instrument_class;
use crate::pid::valve_state::texts;

/// Starts of words in the texts of hand switches that have a purpose other than a trip.
const OTHER_PURPOSES: &[&str] = &[
    "accept",
    "acknowledg",
    "ack",
    "auto",
    "changeover",
    "disable",
    "duty",
    "enable",
    "jog",
    "lamp",
    "lead",
    "maintenance",
    "mode",
    "mute",
    "permi",
    "reacceler",
    "resume",
    "select",
    "silence",
    "simulat",
    "speed",
    "standby",
    "start",
    "test",
];

/// Starts of words in the texts of hand switches that stop something, whatever purpose the text has beside it: `start/stop`.
const STOPS: &[&str] = &[
    "aps",
    "block",
    "blow",
    "clos",
    "depressur",
    "dump",
    "emergency",
    "esd",
    "eso",
    "estop",
    "fsd",
    "halt",
    "isolat",
    "kill",
    "off",
    "panic",
    "psd",
    "quench",
    "scram",
    "shut",
    "stop",
    "trip",
    "usd",
    "xsd",
];

/// Stops in texts that only test one: `trip test`.
const TESTS: &[&str] = &["acknowledg", "ack", "lamp", "mute", "permi", "silence", "simulat", "test"];

/// Returns whether a switch overrides, bypasses or resets a trip, by its class, or has another purpose by the texts of a hand
/// switch: it causes no effect.
pub(super) fn starts_no_trip(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let names = [Names::Description, Names::Service, Names::Remarks];
    let mut texts = names.into_iter().flat_map(|names| texts(drawing, node, names));
    drawing.class_texts(node).any(|class| words(class).iter().any(|word| OVERRIDES.contains(&&**word)))
        || instrument_class::is_hand_switch(drawing, node) && texts.any(has_other_purpose)
}

/// Returns whether a text of a hand switch names a purpose other than a trip.
fn has_other_purpose(text: &str) -> bool {
    let words = words(text);
    let has = |stems: &[&str]| words.iter().any(|word| stems.iter().any(|stem| word.starts_with(stem)));
    let has_word = |known: &str| words.iter().any(|word| word == known);
    // A single one of them is a location.
    let selects_location = has_word("local") && has_word("remote");
    words.iter().any(|word| OVERRIDES.contains(&&**word))
        || has(TESTS)
        || (has(OTHER_PURPOSES) || selects_location) && !has(STOPS)
}

/// Returns the words of a text that is not too long for a class.
fn words(text: &str) -> Vec<String> {
    if text.len() > MAX_CLASS {
        return Vec::new();
    }
    let text = snake_case(text);
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(String::from).collect()
}

#[cfg(test)]
mod tests {
    use super::has_other_purpose;

    #[test]
    fn a_text_of_a_hand_switch_has_another_purpose_unless_it_stops_something() {
        for text in [
            "local/remote selector",
            "Local / Remote",
            "auto/manual selector",
            "duty/standby selector",
            "start push button",
            "permissive to start",
            "lamp test",
            "alarm acknowledge",
            "trip reset",
            "ESD bypass",
            "trip test",
        ] {
            assert!(has_other_purpose(text), "{text}");
        }
        for text in [
            "",
            "emergency stop",
            "start/stop",
            "manual trip",
            "local push button",
            "remote shutdown",
            "ESD push button",
            "open/close XV-1",
            "hand switch",
            "off/auto/manual",
        ] {
            assert!(!has_other_purpose(text), "{text}");
        }
    }
}
