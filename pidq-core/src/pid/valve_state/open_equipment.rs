//! Equipment that is open to the atmosphere, by its class, a text or a field: nothing isolates it from there.

use super::phrases::clauses;
use super::{texts, truth};
use crate::graph::adjacency::NodeId;
use crate::graph::config::{MAX_CLASS, Names};
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::vocabulary::{self, Limited, any_limits, has_any};
use crate::pid::stated_values::{plain_name, stated_fields};
use crate::value::Value;

/// Opening of equipment to the atmosphere. In ascending order of certainty.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Opening {
    NotStated,
    /// A text names an opening in other circumstances, or says that open equipment is closed.
    Possible,
    Stated,
}

/// Returns the opening of equipment to the atmosphere, as for an open tank, a basin or a stack.
pub(crate) fn opening(drawing: &Drawing<'_>, equipment: NodeId) -> Opening {
    if drawing.topology.roles[equipment as usize] != Role::Equipment {
        return Opening::NotStated;
    }
    let own_texts = || {
        [Names::Description, Names::Remarks, Names::Class]
            .into_iter()
            .flat_map(|names| texts(drawing, equipment, names))
    };
    let is_closed = |text: &str| {
        clauses(text)
            .iter()
            .any(|clause| has_any(clause, vocabulary::CLOSED_TOP_WORDS) && !any_limits(clause, Limited::OpenTop))
    };
    let is_outlet = |words: &[&str]| {
        drawing.class_ends_with_word(equipment, words) && drawing.topology.flow_degree_with_ports(equipment) == 1
    };
    let by_class = match drawing.is_relief_end(equipment) || is_outlet(vocabulary::OUTLET_EQUIPMENT) {
        true if own_texts().any(is_closed) => Opening::Possible,
        true => Opening::Stated,
        false if is_outlet(vocabulary::CLOSABLE_OUTLETS) => Opening::Possible,
        false if drawing.class_ends_with_word(equipment, vocabulary::OFTEN_OPEN) && !own_texts().any(is_closed) => {
            Opening::Possible
        }
        false => Opening::NotStated,
    };
    let of_texts = own_texts().map(opening_in_text).max().unwrap_or(Opening::NotStated);
    if drawing.raises_pressure(equipment) {
        return by_class.max(of_texts);
    }
    let fields = drawing.node(equipment).as_object().into_iter().flat_map(stated_fields);
    let fields = fields.filter(|(name, _)| name.len() <= MAX_CLASS);
    let of_fields = fields.map(|(name, stated)| by_field(name, stated.value)).max().unwrap_or(Opening::NotStated);
    by_class.max(of_texts).max(of_fields)
}

/// Returns what a text says. A clause about a relief device says nothing about the equipment.
pub(crate) fn opening_in_text(text: &str) -> Opening {
    let read = |clause: &Vec<String>| match () {
        () if !names_opening(clause) || any_limits(clause, Limited::OpenTop) => Opening::NotStated,
        () if has_any(clause, vocabulary::RELIEF_WORDS_IN_TEXTS) => Opening::NotStated,
        () if any_limits(clause, Limited::OpenAtPresent) => Opening::Possible,
        () => Opening::Stated,
    };
    clauses(text).iter().map(read).max().unwrap_or(Opening::NotStated)
}

/// Returns whether a clause has the words of an opening one after the other, apart from articles.
fn names_opening(clause: &[String]) -> bool {
    let words: Vec<&str> =
        clause.iter().map(String::as_str).filter(|word| !vocabulary::ARTICLES.contains(word)).collect();
    vocabulary::OPEN_TO_AIR_PHRASES.iter().any(|opening| {
        let opening: Vec<&str> = opening.split('_').collect();
        words.windows(opening.len()).any(|words| words == opening)
    })
}

/// Returns what a field for the roof, a cover, a vent or the type of equipment says.
fn by_field(name: &str, value: Value<'_>) -> Opening {
    let name = plain_name(name);
    // A part, such as `top_nozzle` or `vent_valve`, is not the equipment.
    let is_for = |known: &[&str]| {
        name.split('_').all(|word| known.contains(&word) || vocabulary::EQUIPMENT_FIELD_WORDS.contains(&word))
            && name.split('_').any(|word| known.contains(&word))
    };
    let words = value.as_str().map(clauses).unwrap_or_default();
    let first = |known: &[&str]| {
        words.first().and_then(|clause| clause.first()).is_some_and(|word| known.contains(&word.as_str()))
    };
    let open = || match words.iter().any(|clause| any_limits(clause, Limited::OpenAtPresent)) {
        true => Opening::Possible,
        false => Opening::Stated,
    };
    let text = || value.as_str().map_or(Opening::NotStated, opening_in_text);
    match () {
        () if is_for(vocabulary::COVER_FIELD_WORDS) => {
            let is_absent =
                truth(value) == Some(false) || first(&["no", "none", "without", "keine", "ohne", "aucun", "sans"]);
            if is_absent || first(vocabulary::OPEN_WORDS) { open() } else { text() }
        }
        () if is_for(vocabulary::VENT_FIELD_WORDS) => {
            let is_free = first(vocabulary::OPEN_WORDS) || first(&["free", "frei", "libre", "atmosphere", "atm"]);
            if is_free { open() } else { text() }
        }
        () if is_for(vocabulary::TYPE_FIELD_WORDS) && first(vocabulary::OPEN_WORDS) => open(),
        () => Opening::NotStated,
    }
}
