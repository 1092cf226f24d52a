//! Words for the opening and the closing of a valve, and for the start and the stop of a machine.

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
    ("abre", Opens, &[TripSignal]),
    ("abrir", Opens, &[TripSignal, HandSwitch]),
    ("apertura", Opens, &[TripSignal]),
    ("apre", Opens, &[TripSignal]),
    ("aprire", Opens, &[TripSignal, HandSwitch]),
    ("auf", Opens, &[HandSwitch]),
    ("aufbefehl", Opens, &[TripSignal]),
    ("auffahren", Opens, &[TripSignal, HandSwitch]),
    ("oeffnen", Opens, &[ValveText, TripSignal, HandSwitch]),
    ("oeffnet", Opens, &[TripSignal]),
    ("open", Opens, &[ValveText, TripSignal, HandSwitch]),
    ("opened", Opens, &[ValveText]),
    ("openen", Opens, &[TripSignal, HandSwitch]),
    ("opening", Opens, &[ValveText, TripSignal]),
    ("opens", Opens, &[TripSignal]),
    ("opent", Opens, &[TripSignal]),
    ("ouverture", Opens, &[TripSignal]),
    ("ouvre", Opens, &[TripSignal]),
    ("ouvrir", Opens, &[ValveText, TripSignal, HandSwitch]),
    ("öffnen", Opens, &[ValveText, TripSignal, HandSwitch]),
    ("öffnet", Opens, &[TripSignal]),
    ("öffnungsbefehl", Opens, &[TripSignal]),
    ("cerrar", Closes, &[TripSignal, HandSwitch]),
    ("chiude", Closes, &[TripSignal]),
    ("chiudere", Closes, &[TripSignal, HandSwitch]),
    ("chiusura", Closes, &[TripSignal]),
    ("cierra", Closes, &[TripSignal]),
    ("cierre", Closes, &[TripSignal]),
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
    ("sluit", Closes, &[TripSignal]),
    ("sluiten", Closes, &[TripSignal, HandSwitch]),
    ("zu", Closes, &[HandSwitch]),
    ("zubefehl", Closes, &[TripSignal]),
    ("zufahren", Closes, &[TripSignal, HandSwitch]),
];

/// Words that name the start of a machine, in lower case.
pub const START_WORDS: &[&str] = &[
    "anfahren",
    "anlauf",
    "anlaufen",
    "arrancar",
    "arranque",
    "autostart",
    "avviamento",
    "avviare",
    "démarrage",
    "démarre",
    "démarrer",
    "einschalten",
    "einschaltung",
    "inschakelen",
    "start",
    "started",
    "starten",
    "startet",
    "starts",
    "zuschalten",
    "zuschaltung",
];
/// Words that name the stop of a machine, in lower case.
pub const STOP_WORDS: &[&str] = &[
    "abschalten",
    "abschaltung",
    "arrestare",
    "arresto",
    "arret",
    "arrêt",
    "arrête",
    "arrêter",
    "aus",
    "ausschalten",
    "auslösung",
    "block",
    "disparo",
    "déclenchement",
    "esd",
    "off",
    "parada",
    "parar",
    "paro",
    "protection",
    "shut",
    "shutdown",
    "shuts",
    "stop",
    "stoppen",
    "stops",
    "stopt",
    "trip",
    "tripped",
    "trips",
    "uitschakelen",
];

/// Words that make a start behind or before them no command: `start-up`, `start failed`.
pub const NO_START_WORDS: &[&str] = &["failed", "failure", "inhibit", "prevent", "prevents", "up"];

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
