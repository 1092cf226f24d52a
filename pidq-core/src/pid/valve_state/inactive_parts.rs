//! Texts and fields that say that a part of a trip does not act: `MOS active`, `nur Alarm`, `puenteado`, `bypass: "on"`.
//!
//! The phrases are rows of a table. A clause that denies one (`not bypassed`) or states a condition (`alarm if MOS active`) is
//! no statement about the part. A text may write a field: `BYPASS: ON`, `MOS = 1`.

use std::sync::LazyLock;

use super::phrases::{PhraseIndex, clauses, is_denied};
use super::truth;
use crate::graph::config::MAX_CLASS;
use crate::graph::vocabulary::{self, PhraseExtent};
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
    let is_stated = |(name, state): (&str, &str)| {
        // `MOS: yes` may only say that there is one.
        let is_on = ["1", "true"].iter().any(|on| state.eq_ignore_ascii_case(on));
        is_inactive_field(name, Value::String(state)) || is_on && is_override(name) && !is_position(name)
    };
    clauses(text).iter().any(|clause| is_inactive(clause, &is_filler)) || fields_in(text).any(is_stated)
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
    fields.any(|(name, stated)| name.len() <= MAX_CLASS && is_inactive_field(name.trim(), stated.value))
}

fn is_inactive_field(name: &str, state: Value<'_>) -> bool {
    let is_of = |names: &[&str]| vocabulary::contains_plain(names, name);
    match truth(state) {
        Some(true) => is_of(vocabulary::INACTIVE_MARKS),
        Some(false) => is_of(vocabulary::ACTIVE_MARKS),
        None => state.as_str().filter(|text| text.len() <= MAX_CLASS).is_some_and(|text| {
            let states = if is_position(name) { vocabulary::ACTIVE_STATES } else { vocabulary::OVERRIDE_STATES };
            vocabulary::contains(states, text.trim()) && is_override(name)
        }),
    }
}

/// Returns whether a name is that of what keeps a part of a trip from acting, alone or behind other words: `trip bypass`.
fn is_override(name: &str) -> bool {
    let name = plain_name(name);
    let ends_name = |known: &&str| name.strip_suffix(known).is_some_and(|rest| rest.is_empty() || rest.ends_with('_'));
    vocabulary::OVERRIDE_FIELDS.iter().any(ends_name)
}

/// Returns whether a name may be that of a position, of a valve or in a list of parts.
fn is_position(name: &str) -> bool {
    plain_name(name).split('_').any(|word| word == "pos")
}

/// Returns the names and states of what a text writes like a field.
pub(super) fn fields_in(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let parts = text.split([',', ';', '\n']).filter_map(|part| part.split_once([':', '=']));
    let trimmed = parts.map(|(name, state)| (name.trim(), state.trim()));
    trimmed.filter(|(name, state)| name.len() <= MAX_CLASS && state.len() <= MAX_CLASS)
}

#[cfg(test)]
mod tests {
    use super::says_inactive as says_inactive_without;

    fn says_inactive(text: &str) -> bool {
        says_inactive_without(text, |word| ["switch", "trip"].contains(&word))
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
            "BYPASS: ON",
            "MOS = 1",
            "mos=true",
            "Trip bypass: active, see MOC 12",
            "In service: no",
            "OOS: yes",
            "bypass key in ON position",
            "key switch in BYPASS",
            "U/S",
            "o/s",
            "en bypass",
            "for information only",
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
            "MOS: yes",
            "BYPASS: OFF",
            "MOS = 0",
            "Pos: 1",
            "valve pos: closed",
            "In service: yes",
            "Nivel en bypass del separador",
            "O/S/C",
            "information from vendor",
        ] {
            assert!(!says_inactive(text), "{text}");
        }
    }
}
