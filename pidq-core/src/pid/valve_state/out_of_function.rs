//! Texts that say that a shutdown or blowdown valve does not act: its function is inhibited, overridden, bypassed.

use super::all_texts;
use super::phrases::clauses;
use crate::graph::adjacency::NodeId;
use crate::graph::drawing::Drawing;

const WORDS: &[&str] =
    &["bypassed", "deactivated", "defeated", "disabled", "inhibited", "isolated", "jumpered", "overridden"];

/// Words beside which a clause denies it, or is about another time or a condition: `may be overridden during start-up`.
const CONDITIONS: &[&str] = &[
    "after", "before", "by", "can", "cannot", "during", "for", "if", "may", "must", "never", "no", "not", "only", "to",
    "until", "when", "while", "with",
];

/// Returns whether a clause of a text of a valve says so.
pub(crate) fn says_out_of_function(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let has = |clause: &[String], known: &[&str]| clause.iter().any(|word| known.contains(&word.as_str()));
    let is_out = |text: &str| clauses(text).iter().any(|clause| has(clause, WORDS) && !has(clause, CONDITIONS));
    all_texts(drawing, node).any(|(text, _)| is_out(text))
}
