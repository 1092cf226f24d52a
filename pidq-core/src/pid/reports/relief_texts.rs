//! Texts of a relief device about its pressure and its case: another set pressure than its field, a case that is not that of
//! a flow from the high side, a capacity that does not suffice.

mod set_pressure;

use crate::graph::adjacency::NodeId;
use crate::graph::config::{MAX_CLASS, Names};
use crate::graph::drawing::Drawing;
use crate::graph::vocabulary::{THERMAL_RELIEF_WORDS, has_any};
use crate::pid::quantity::Stated;
use crate::pid::stated_values::{plain_name, stated_fields};
use crate::pid::valve_state::texts;
use crate::value::Value;

/// Words of a fire as a case of relief, and those that follow it there.
const FIRES: &[&str] = &["brand", "brandfall", "brandgeval", "fire", "feu", "fuego", "fuoco", "incendie", "incendio"];
const FIRE_CASES: &[&str] = &["case", "exposure", "only", "relief", "scenario"];

/// Words of a case before that of a fire: `governing case: fire`.
const CASES: &[&str] = &["cas", "case", "caso", "fall", "lastfall", "scenario", "szenario"];

/// Words of a capacity, before the percentage of what is needed: `capacity 20 % of PCV-1`.
const CAPACITIES: &[&str] = &["capacity", "capacidad", "capacité", "capaciteit", "kapazität", "leistung"];

/// Words that name another case beside it: one flow from the high side may be that.
const OTHER_CASES: &[&str] = &["all", "and", "blocked", "blowby", "breakthrough", "failure", "gas", "governing", "not"];

/// Words of a capacity that does not suffice.
const TOO_SMALL: &[&str] = &["inadequate", "insufficient", "insuffisante", "undersized", "unterdimensioniert"];

/// Returns the set pressure that a device states, with the other one that a text of it states, if there is one.
pub(super) fn with_text<'a>(drawing: &Drawing<'a>, device: NodeId, stated: Option<Stated<'a>>) -> Option<Stated<'a>> {
    let mut stated = stated?;
    let names = [Names::Remarks, Names::Description];
    let found = names.into_iter().find_map(|names| texts(drawing, device, names).find_map(set_pressure::in_text));
    stated.others.extend(found.map(|text| (Value::String(text), None)));
    Some(stated)
}

/// Returns whether a class, a text or a field of a device says that it is for another case than a flow from a side with a
/// higher pressure, or too small.
pub(super) fn is_for_other_case(drawing: &Drawing<'_>, device: NodeId) -> bool {
    let names = [Names::Description, Names::Service, Names::Remarks, Names::ComponentName];
    let mut fields = drawing.node(device).as_object().into_iter().flat_map(stated_fields);
    drawing.class_has_word(device, &["thermal", "thermal_relief"])
        || names
            .into_iter()
            .any(|names| texts(drawing, device, names).any(|text| names_other_case(text, CaseText::Free)))
        || fields.any(|(name, stated)| {
            let is_case = name.len() <= MAX_CLASS && plain_name(name).split('_').any(|word| word == "case");
            is_case && stated.value.as_str().is_some_and(|text| names_other_case(text, CaseText::CaseField))
        })
}

/// Place of a text that may name a case of relief.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum CaseText {
    /// A remark or a description, in which `fire` alone is no case.
    Free,
    /// A field for the case.
    CaseField,
}

/// Returns whether a text names such a case.
fn names_other_case(text: &str, place: CaseText) -> bool {
    if text.len() > MAX_CLASS {
        return false;
    }
    let text = text.to_lowercase();
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let is_fire = words.iter().enumerate().any(|(at, word)| {
        let is_case = || words.get(at + 1).is_some_and(|next| FIRE_CASES.contains(next)) || is_behind_case(&words, at);
        let is_known = || matches!(*word, "brandfall" | "brandgeval");
        FIRES.contains(word) && (place == CaseText::CaseField || is_known() || is_case())
    });
    // `governing case: fire` names no other case.
    let is_governing =
        |at: usize| words.get(at + 2).is_some_and(|word| FIRES.contains(word)) && words[at] == "governing";
    let names_other = (0..words.len()).any(|at| OTHER_CASES.contains(&words[at]) && !is_governing(at));
    has_any(&words, TOO_SMALL)
        || is_partial_capacity(&text)
        || (has_any(&words, THERMAL_RELIEF_WORDS) || is_fire) && !names_other
}

/// Returns whether a word is behind one of a case, also with an article between: `cas de feu`.
fn is_behind_case(words: &[&str], at: usize) -> bool {
    let before = |distance: usize| at.checked_sub(distance).map_or("", |at| words[at]);
    CASES.contains(&before(1)) || matches!(before(1), "de" | "of" | "d" | "is" | "im") && CASES.contains(&before(2))
}

/// Returns whether a text in lower case states a capacity of less than 100 %.
fn is_partial_capacity(text: &str) -> bool {
    let percentage = |rest: &str| {
        let rest = rest.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, ':' | '='));
        let number = rest.split(|c: char| !c.is_ascii_digit()).next()?;
        let is_percent = rest[number.len()..].trim_start().starts_with('%');
        number.parse::<u32>().ok().filter(|number| is_percent && *number < 100)
    };
    CAPACITIES.iter().any(|word| text.split(word).skip(1).any(|rest| percentage(rest).is_some()))
}
