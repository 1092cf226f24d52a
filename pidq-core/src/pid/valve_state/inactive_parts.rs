//! Texts and fields that say that a part of a trip does not act: `MOS active`, `nur Alarm`, `puenteado`, `bypass: "on"`.
//!
//! The phrases are rows of a table. A clause that denies one (`not bypassed`) or states a condition (`alarm if MOS active`) is
//! no statement about the part.

use std::sync::LazyLock;

use super::phrases::{PhraseIndex, clauses, is_denied};
use super::truth;
use crate::graph::config::MAX_CLASS;
use crate::graph::vocabulary::{self, PhraseExtent};
use crate::pid::quantity::Stated;
use crate::pid::stated_values::{plain_name, stated_fields};
use crate::value::Value;

/// Maximum number of words before a phrase in which a denial counts: `not to be set to "override active"`.
const MAX_DISTANCE: usize = 3;

/// Phrases with their extents.
static INDEX: LazyLock<PhraseIndex<PhraseExtent>> =
    LazyLock::new(|| PhraseIndex::new(vocabulary::INACTIVE_PHRASES.iter().copied()));

/// Returns whether a text says that a part of a trip does not act; `is_filler` is called with a word, and returns whether it
/// adds nothing.
pub(super) fn says_inactive(text: &str, is_filler: impl Fn(&str) -> bool) -> bool {
    clauses(text).iter().any(|clause| is_inactive(clause, &is_filler))
}

fn is_inactive(clause: &[String], is_filler: impl Fn(&str) -> bool) -> bool {
    let adds_nothing = |word: &String| is_filler(word) || vocabulary::PHRASE_FILLERS.contains(&word.as_str());
    INDEX.all_in(clause).any(|phrase| {
        let (before, after) = (&clause[..phrase.at], &clause[phrase.at + phrase.words..]);
        match phrase.meaning {
            PhraseExtent::Any => {
                ![vocabulary::PHRASE_DENIALS, vocabulary::PHRASE_CONDITIONS]
                    .iter()
                    .any(|words| is_denied(before, words, MAX_DISTANCE))
                    && !after.first().is_some_and(|next| vocabulary::PHRASE_OBJECTS.contains(&next.as_str()))
            }
            PhraseExtent::Clause => before.iter().chain(after).all(adds_nothing),
            PhraseExtent::WholeClause => before.is_empty() && after.is_empty(),
        }
    })
}

/// Returns whether a field or a mark of a part or a signal of a trip says that it does not act.
pub(super) fn has_inactive_field(holder: Value<'_>) -> bool {
    let mut fields = holder.as_object().into_iter().flat_map(stated_fields);
    fields.any(|(name, stated)| name.len() <= MAX_CLASS && is_inactive_field(name.trim(), &stated))
}

fn is_inactive_field(name: &str, stated: &Stated<'_>) -> bool {
    let is_of = |names: &[&str]| vocabulary::contains_plain(names, name);
    match truth(stated.value) {
        Some(true) => is_of(vocabulary::INACTIVE_MARKS),
        Some(false) => is_of(vocabulary::ACTIVE_MARKS),
        None => {
            let text = stated.value.as_str().filter(|text| text.len() <= MAX_CLASS);
            text.is_some_and(|text| {
                vocabulary::contains(vocabulary::OVERRIDE_STATES, text.trim())
                    && vocabulary::OVERRIDE_FIELDS.contains(&plain_name(name).as_str())
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::says_inactive as says_inactive_without;

    fn says_inactive(text: &str) -> bool {
        says_inactive_without(text, |word| word == "trip")
    }

    #[test]
    fn a_phrase_counts_unless_it_is_denied_or_about_something_else() {
        for text in [
            "MOS active",
            "trip signal: MOS on",
            "High level, alarm only",
            "startup bypass",
            "OOS",
            "Brücke gesetzt",
            "disparo puenteado",
            "nur Alarm",
            "buiten gebruik",
        ] {
            assert!(says_inactive(text), "{text}");
        }
        for text in [
            "",
            "with MOS",
            "with startup bypass",
            "alarm if MOS active",
            "override active alarm",
            "no override active",
            "niet overbrugd",
            "bypass line level",
            "off gas compressor",
            "supplied by vendor",
            "fault tolerant logic",
            "reserve tank level",
        ] {
            assert!(!says_inactive(text), "{text}");
        }
    }
}
