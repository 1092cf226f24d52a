//! Words of classes and letters of tags that name trips, safety instrumented functions and emergency valves.

use super::adjacency::NodeId;
use super::drawing::{Drawing, has_word};
use super::roles::Role;

/// Function of a trip that a class states.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum TripFunction {
    /// A safety instrumented function.
    Safety,
    /// A trip, a shutdown or an interlock.
    Trip,
}

/// Function of a valve in the emergency shutdown.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum EmergencyValve {
    Shutdown,
    Blowdown,
    /// A valve that is switched, for a purpose that the drawing does not state.
    Possible,
}
use EmergencyValve::{Blowdown, Possible, Shutdown};
use TripFunction::{Safety, Trip};

/// Words of classes: what they state of an instrument or a loop, and of a valve. The first matching row applies.
const CLASS_WORDS: &[(&str, Option<TripFunction>, Option<EmergencyValve>)] = &[
    ("sis", Some(Safety), Some(Possible)),
    ("sif", Some(Safety), Some(Possible)),
    ("safety", Some(Safety), Some(Possible)),
    ("hipps", Some(Safety), Some(Shutdown)),
    ("bdv", None, Some(Blowdown)),
    ("blowdown", Some(Trip), Some(Blowdown)),
    ("blow_down", Some(Trip), Some(Blowdown)),
    ("depressuring", Some(Trip), Some(Blowdown)),
    ("depressurizing", Some(Trip), Some(Blowdown)),
    ("depressurising", Some(Trip), Some(Blowdown)),
    ("depressurization", Some(Trip), Some(Blowdown)),
    ("depressurisation", Some(Trip), Some(Blowdown)),
    ("esd", Some(Trip), Some(Shutdown)),
    ("esdv", None, Some(Shutdown)),
    ("esv", None, Some(Shutdown)),
    ("sdv", None, Some(Shutdown)),
    ("eiv", None, Some(Shutdown)),
    ("emergency", Some(Trip), Some(Shutdown)),
    ("shutdown", Some(Trip), Some(Shutdown)),
    ("shut_down", Some(Trip), Some(Shutdown)),
    ("trip", Some(Trip), Some(Possible)),
    ("interlock", Some(Trip), Some(Possible)),
    ("logic_solver", Some(Trip), None),
    ("bms", Some(Trip), None),
    ("burner_management", Some(Trip), None),
    ("fgs", Some(Trip), None),
    ("fire_and_gas", Some(Trip), None),
    ("protection_system", Some(Trip), None),
    ("protection_logic", Some(Trip), None),
    ("protection_function", Some(Trip), None),
    ("protective_function", Some(Trip), None),
    ("protective_system", Some(Trip), None),
    ("verriegelung", Some(Trip), None),
    ("schutz", Some(Trip), None),
    ("schutzfunktion", Some(Trip), None),
    ("schutzlogik", Some(Trip), None),
    ("schutzsystem", Some(Trip), None),
    ("sicherheitsabschaltung", Some(Trip), None),
    ("notabschaltung", Some(Trip), None),
    ("verrouillage", Some(Trip), None),
    ("enclavamiento", Some(Trip), None),
    ("vergrendeling", Some(Trip), None),
    ("psd", Some(Trip), Some(Shutdown)),
    ("xv", None, Some(Possible)),
    ("rov", None, Some(Possible)),
    ("on_off", None, Some(Possible)),
    ("onoff", None, Some(Possible)),
    ("slam_shut", None, Some(Possible)),
    ("quick_closing", None, Some(Possible)),
];

/// Nouns at the end of classes that make a word before them the name of another item: a trip indicator trips nothing.
const NO_FUNCTIONS: &[&str] =
    &["alarm", "bypass", "display", "indicator", "lamp", "light", "override", "recorder", "reset"];

fn ends_with_word(class: &str, word: &str) -> bool {
    class.strip_suffix(word).is_some_and(|rest| !rest.ends_with(char::is_alphanumeric))
}

/// Letters of the tags of valves. What letters state about protection is in `pid/tag.rs`.
const VALVE_LETTERS: &[(&str, EmergencyValve)] = &[
    ("BDV", Blowdown),
    ("ESDV", Shutdown),
    ("ESV", Shutdown),
    ("SDV", Shutdown),
    ("EIV", Shutdown),
    ("ESD", Shutdown),
    ("HIPPS", Shutdown),
    ("EBV", Possible),
    ("ROSOV", Shutdown),
    ("ROV", Possible),
    ("USV", Possible),
    ("UV", Possible),
    ("UZV", Possible),
    ("XSV", Possible),
    ("XV", Possible),
    ("XZV", Possible),
    ("ZV", Possible),
];

/// Returns the function of a valve in the emergency shutdown by the letters of its tag.
pub(crate) fn emergency_valve_by_letters(letters: &str) -> Option<EmergencyValve> {
    VALVE_LETTERS.iter().find(|(known, _)| *known == letters).map(|(_, valve)| *valve)
}

impl Drawing<'_> {
    /// Returns the function of a trip that the classes of a node state.
    pub fn trip_function(&self, node: NodeId) -> Option<TripFunction> {
        let is_function = |class: &String| !NO_FUNCTIONS.iter().any(|noun| ends_with_word(class, noun));
        let classes: Vec<String> = self.classes(node).filter(is_function).collect();
        CLASS_WORDS
            .iter()
            .find_map(|(word, function, _)| function.filter(|_| classes.iter().any(|class| has_word(class, word))))
    }

    /// Returns the function of a valve in the emergency shutdown that its classes state: one that is certain before a
    /// possible one. The class of a node without a role has to name a valve.
    pub fn emergency_valve(&self, node: NodeId) -> Option<EmergencyValve> {
        let role = self.topology.roles[node as usize];
        if !matches!(role, Role::Barrier | Role::Control | Role::MultiWay | Role::None) {
            return None;
        }
        let classes: Vec<String> = self.classes(node).collect();
        let is_valve = role != Role::None || classes.iter().any(|class| class.contains("valve"));
        let states =
            |word: &str| (is_valve || word.ends_with('v')) && classes.iter().any(|class| has_word(class, word));
        let mut stated = CLASS_WORDS.iter().filter_map(|(word, _, valve)| valve.filter(|_| states(word)));
        let first = stated.next()?;
        Some(if first == Possible { stated.find(|valve| *valve != Possible).unwrap_or(Possible) } else { first })
    }
}

#[cfg(test)]
mod tests {
    use super::{CLASS_WORDS, VALVE_LETTERS};
    use crate::graph::roles::{TagLetters, tag_letters_behind};

    #[test]
    fn emergency_valves_are_no_hand_valves() {
        for (letters, _) in VALVE_LETTERS {
            assert_eq!(tag_letters_behind("", letters), TagLetters::Actuated, "{letters}");
        }
    }

    #[test]
    fn each_word_has_one_row() {
        let words = CLASS_WORDS.iter().map(|(word, ..)| *word).chain(VALVE_LETTERS.iter().map(|(letters, _)| *letters));
        let words: Vec<&str> = words.collect();
        for (at, word) in words.iter().enumerate() {
            assert!(!words[..at].contains(word), "{word}");
        }
    }
}
