//! Words for the opening and the closing of a valve.

use self::Motion::{Closes, Opens};
use self::MotionText::{HandSwitch, TripSignal, ValveText};

/// Motion of a valve.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Motion {
    /// To the open position.
    Opens,
    /// To the closed position.
    Closes,
}

/// Text in which a word for a motion is read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum MotionText {
    /// A remark or a description of a valve. `shut` is not read there: it is a word of a shut-off valve.
    ValveText,
    /// A text of a signal of a trip or of its logic.
    TripSignal,
    /// A text of a hand switch.
    HandSwitch,
}

/// Words in lower case, each with the motion and the texts in which it is read.
pub const MOTION_WORDS: &[(&str, Motion, &[MotionText])] = &[
    ("auf", Opens, &[HandSwitch]),
    ("oeffnen", Opens, &[ValveText, TripSignal, HandSwitch]),
    ("oeffnet", Opens, &[TripSignal]),
    ("open", Opens, &[ValveText, TripSignal, HandSwitch]),
    ("opened", Opens, &[ValveText]),
    ("opening", Opens, &[ValveText, TripSignal]),
    ("opens", Opens, &[TripSignal]),
    ("ouverture", Opens, &[TripSignal]),
    ("ouvre", Opens, &[TripSignal]),
    ("ouvrir", Opens, &[ValveText, TripSignal, HandSwitch]),
    ("öffnen", Opens, &[ValveText, TripSignal, HandSwitch]),
    ("öffnet", Opens, &[TripSignal]),
    ("close", Closes, &[ValveText, TripSignal, HandSwitch]),
    ("closed", Closes, &[HandSwitch]),
    ("closes", Closes, &[TripSignal]),
    ("closing", Closes, &[ValveText, TripSignal]),
    ("ferme", Closes, &[TripSignal]),
    ("fermer", Closes, &[ValveText, TripSignal, HandSwitch]),
    ("fermeture", Closes, &[TripSignal]),
    ("schliessen", Closes, &[ValveText, TripSignal, HandSwitch]),
    ("schliesst", Closes, &[TripSignal]),
    ("schließen", Closes, &[ValveText, TripSignal, HandSwitch]),
    ("schließt", Closes, &[TripSignal]),
    ("shut", Closes, &[TripSignal]),
    ("shuts", Closes, &[TripSignal]),
    ("zu", Closes, &[HandSwitch]),
];

/// Returns whether a word in lower case names a motion, where it is read.
pub fn names_motion(word: &str, motion: Motion, text: MotionText) -> bool {
    MOTION_WORDS.iter().any(|(known, of, texts)| *known == word && *of == motion && texts.contains(&text))
}

/// Returns whether one of some words in lower case, such as those of a clause, names a motion.
pub(crate) fn any_names_motion<W: AsRef<str>>(words: &[W], motion: Motion, text: MotionText) -> bool {
    words.iter().any(|word| names_motion(word.as_ref(), motion, text))
}

#[cfg(test)]
mod tests {
    use super::MOTION_WORDS;

    #[test]
    fn each_word_has_one_row() {
        for (at, (word, ..)) in MOTION_WORDS.iter().enumerate() {
            assert!(!MOTION_WORDS[..at].iter().any(|(other, ..)| other == word), "{word}");
        }
    }
}
