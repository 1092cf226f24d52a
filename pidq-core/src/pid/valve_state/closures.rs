//! Texts of blind flanges, caps and plugs that name their purpose: `future tie-in`, `spare`, `blinded`.
//!
//! The closure is there for what is not, so such a text says nothing against it.

use super::Installation;
use super::phrases::{self, clauses};
use crate::graph::adjacency::NodeId;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::vocabulary;

/// Returns whether an item closes the end of a pipe for good: a blind flange, a cap, a plug.
pub(super) fn is_closure(drawing: &Drawing<'_>, node: NodeId) -> bool {
    match drawing.topology.roles[node as usize] {
        Role::PositiveBarrier => !drawing.is_spool(node),
        Role::None => drawing.class_ends_with_word(node, vocabulary::CAPS),
        _ => false,
    }
}

/// Returns whether a closure is there by a text of it.
pub(super) fn installation_by_text(text: &str) -> Installation {
    phrases::installation_by_text(&without_purpose(text))
}

/// Returns a text without the clauses that name what a closure is for.
pub(super) fn without_purpose(text: &str) -> String {
    let rest = clauses(text).into_iter().filter(|clause| !is_purpose(clause)).map(|clause| clause.join(" "));
    rest.collect::<Vec<String>>().join(", ")
}

/// Returns whether a clause names what a closure is for, and says nothing else of it: what is future is a connection or
/// equipment, and not the closure itself.
fn is_purpose(clause: &[String]) -> bool {
    let is_in = |word: &String, known: &[&str]| known.contains(&word.as_str());
    let Some(at) = clause.iter().position(|word| is_in(word, vocabulary::FUTURE_WORDS)) else {
        return clause.iter().all(|word| is_in(word, vocabulary::CLOSURE_PURPOSES));
    };
    let is_future = |word: &String| is_in(word, vocabulary::FUTURE_WORDS);
    let is_for = at.checked_sub(1).is_some_and(|at| is_in(&clause[at], vocabulary::PURPOSE_PREPOSITIONS));
    let others = || clause.iter().filter(|word| !is_future(word) && !is_in(word, vocabulary::PURPOSE_PREPOSITIONS));
    let names_closure = others().any(|word| is_in(word, vocabulary::CLOSURE_NOUNS));
    let names_event = others().any(|word| is_in(word, vocabulary::FUTURE_EVENTS));
    let names_purpose = others().next().is_some() && (is_for || !names_closure) && !names_event;
    names_purpose && !phrases::says_absent(clause, is_future)
}
