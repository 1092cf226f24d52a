//! Phrases in texts of an item that speak against its state: `passes`, `handwheel missing`, `test overdue`.

use std::sync::LazyLock;

use super::phrases::{PhraseIndex, clauses, is_denied};
use crate::graph::vocabulary::{self, StatedOf, has_any};

/// Maximum number of words before a phrase in which a denial counts: `does not let by`.
const MAX_DISTANCE: usize = 2;

/// Phrases with the kinds of items that they speak against.
static INDEX: LazyLock<PhraseIndex<&[StatedOf]>> = LazyLock::new(|| {
    let rows = vocabulary::STATE_PHRASES.iter();
    PhraseIndex::new(rows.flat_map(|(kinds, phrases)| phrases.iter().map(|phrase| (*phrase, *kinds))))
});

/// Returns whether a text of an item of a kind has a phrase that speaks against its state, and no word that denies it.
pub(crate) fn has_state_phrase(text: &str, kind: StatedOf) -> bool {
    clauses(text).iter().any(|clause| has_phrase(clause, kind) || kind == StatedOf::Valve && is_leakage_class(clause))
}

fn has_phrase(clause: &[String], kind: StatedOf) -> bool {
    if matches!(kind, StatedOf::Equipment | StatedOf::Pipe) && has_any(clause, vocabulary::NO_CONNECTION_WORDS) {
        return false;
    }
    INDEX.all_in(clause).any(|phrase| {
        phrase.meaning.contains(&kind) && !is_denied(&clause[..phrase.at], vocabulary::PHRASE_DENIALS, MAX_DISTANCE)
    })
}

/// Returns whether a clause states a leakage class that is not tight: `leakage class IV`.
fn is_leakage_class(clause: &[String]) -> bool {
    let Some(at) = clause.iter().position(|word| vocabulary::LEAKAGE_WORDS.contains(&word.as_str())) else {
        return false;
    };
    let level =
        clause[at..].iter().skip_while(|word| !["class", "rate", "klasse", "classe"].contains(&&***word)).nth(1);
    let level = level.or_else(|| clause[..at].last());
    level.is_some_and(|level| vocabulary::LEAKING_LEVELS.contains(&level.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phrase_is_written_as_it_is_read() {
        for phrase in vocabulary::STATE_PHRASES.iter().flat_map(|(_, phrases)| *phrases) {
            let written = phrase.replace(" $", "");
            assert_eq!(clauses(&written).concat().join(" "), written);
        }
    }

    #[test]
    fn a_denied_phrase_says_nothing() {
        for (text, expected) in [
            ("seat passes", true),
            ("does not let by", false),
            ("no leak by", false),
            ("leakage class II", true),
            ("shutoff class VI", false),
            ("FCI 70-2 class III", true),
            ("handwheel missing", true),
            ("gate valve with handwheel", false),
            ("leak test connection", false),
        ] {
            assert_eq!(has_state_phrase(text, StatedOf::Valve), expected, "{text}");
        }
        assert!(!has_state_phrase("handwheel missing", StatedOf::Blind));
    }
}
