//! Switches that start no trip: those that override, bypass or reset one, and those that select, start, test or acknowledge.

use crate::graph::adjacency::NodeId;
use crate::graph::config::{MAX_CLASS, Names};
use crate::graph::drawing::Drawing;
use crate::graph::snake_case::snake_case;
use crate::graph::vocabulary::OVERRIDES;
use crate::graph::vocabulary::{Motion, MotionText, any_names_motion, has_any};
use crate::pid::instrument_class;
use crate::pid::valve_state::texts;

/// Starts of words in the texts of hand switches that have a purpose other than a trip.
const OTHER_PURPOSES: &[&str] = &[
    "accept",
    "acknowledg",
    "ack",
    "anfahr",
    "anwahl",
    "auto",
    "changeover",
    "disable",
    "démarrage",
    "duty",
    "ein",
    "einschalt",
    "enable",
    "jog",
    "lamp",
    "lead",
    "maintenance",
    "marche",
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
    "abschalt",
    "aps",
    "arret",
    "arrêt",
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
    "notaus",
    "nothalt",
    "stillsetz",
    "trip",
    "urgence",
    "usd",
    "xsd",
];

/// Parts of words in other languages of switches that prevent or end a trip, whatever else the text says: `Wartungsüberbrückung`.
const OVERRIDE_PARTS: &[&str] = &[
    "acquit",
    "anulac",
    "contourn",
    "entriegel",
    "entsperr",
    "esclus",
    "freigabe",
    "gebrückt",
    "inhib",
    "overbrug",
    "puente",
    "quittier",
    "rearm",
    "réarm",
    "shunt",
    "ueberbrueck",
    "überbrück",
];

/// Words of the positions of selectors of a mode.
const MODES: &[&str] = &["a", "aus", "auto", "automatic", "h", "hand", "m", "man", "manual", "o", "off", "selector"];

/// Stops in texts that only test one: `trip test`.
const TESTS: &[&str] = &["acknowledg", "ack", "lamp", "mute", "permi", "silence", "simulat", "test"];

/// Returns whether a switch overrides, bypasses or resets a trip, by its class, or has another purpose by the texts of a hand
/// switch: it causes no effect.
pub(super) fn starts_no_trip(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let names = [Names::Description, Names::Service, Names::Remarks];
    let mut texts = names.into_iter().flat_map(|names| texts(drawing, node, names));
    drawing.class_texts(node).any(|class| has_any(&words(class), OVERRIDES))
        || instrument_class::is_hand_switch(drawing, node) && texts.any(has_other_purpose)
}

/// Returns whether a text of a hand switch names a purpose other than a trip.
fn has_other_purpose(text: &str) -> bool {
    let words = words(text);
    let has = |stems: &[&str]| words.iter().any(|word| stems.iter().any(|stem| word.starts_with(stem)));
    let has_word = |known: &str| words.iter().any(|word| word == known);
    // `NOT-AUS` and `Ein/Aus`; `Auswahl` begins so too.
    let stops = || has(STOPS) || has_word("aus");
    // A single one of them is a location. `off` is a position of such a selector, and moves nothing to a trip.
    let has_stop = |word: &String| STOPS.iter().any(|stem| word.starts_with(stem)) || word == "aus";
    let only_stop = |known: &[&str]| words.iter().filter(|word| has_stop(word)).all(|word| known.contains(&&**word));
    let selects_location = has_word("local") && has_word("remote") && only_stop(&["off"]);
    // The switch with which a valve is operated in both directions.
    let names = |motion| any_names_motion(&words, motion, MotionText::HandSwitch);
    let operates_valve =
        names(Motion::Opens) && names(Motion::Closes) && only_stop(&["close", "closed", "off", "stop"])
            || ["osc", "o_s_c", "open_stop_close"].contains(&words.join("_").as_str());
    // A selector of a mode: hand, off, automatic.
    let is_mode = |word: &String| MODES.contains(&word.as_str());
    let selects_mode = words.len() > 1 && words.iter().all(is_mode) || words.concat() == "hoa";
    let is_bypass = words.windows(2).any(|pair| pair == ["by", "pass"]);
    let overrides = |word: &String| OVERRIDE_PARTS.iter().any(|part| word.contains(part));
    words.iter().any(|word| OVERRIDES.contains(&&**word) || overrides(word))
        // A process override switch.
        || matches!(words.as_slice(), [word] if word == "pos")
        || has(TESTS)
        || is_bypass
        || operates_valve
        || selects_location
        || selects_mode
        || has(OTHER_PURPOSES) && !stops()
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
            "Entriegelung",
            "Quittierung NOT-AUS",
            "Wartungsüberbrückung",
            "Freigabe",
            "réarmement",
            "acquittement alarme",
            "marche",
            "Ein",
            "POS",
            "open/close XV-1",
            "open / close / local",
            "open-stop-close",
            "O/S/C",
            "Auf/Zu",
            "local / off / remote",
            "off/auto/manual",
            "H-O-A",
            "Hand-Off-Auto",
            "Interrupteur de by-pass",
            "Overbruggingsschakelaar",
            "Llave de anulación",
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
            "open/close, ESD",
            "emergency close",
            "close XV-1",
            "local/remote stop",
            "hand switch",
            "NOT-AUS",
            "Not-Halt",
            "Notabschaltung",
            "Ein/Aus",
            "marche/arrêt",
            "arrêt d'urgence",
            "position of XV-1",
        ] {
            assert!(!has_other_purpose(text), "{text}");
        }
    }
}
