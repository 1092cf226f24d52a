//! Texts of a relief device about its pressure and its case: another set pressure than its field, a case that is not that of
//! a flow from the high side, a capacity that does not suffice.

use crate::graph::adjacency::NodeId;
use crate::graph::config::{MAX_CLASS, Names};
use crate::graph::drawing::Drawing;
use crate::graph::vocabulary::has_any;
use crate::pid::quantity::{self, Stated};
use crate::pid::stated_values::{plain_name, stated_fields};
use crate::pid::valve_state::texts;
use crate::value::Value;

/// Words before a set pressure in a text, in lower case.
const SET_WORDS: &[&str] =
    &["ansprechdruck", "eingestellt", "readjusted", "reset", "set", "sp", "tarage", "taré", "tarée", "umgestellt"];

/// Words before such a word that make it the pressure of a test bench, or that of another part: `cold set pressure`.
const OTHER_SETTINGS: &[&str] = &["bench", "cdtp", "cold", "pilot", "spring"];

/// The word behind `reset` that makes it the pressure at which a valve closes again.
const PRESSURES: &[&str] = &["pressure"];

/// Words of devices for the expansion of a liquid.
const THERMAL: &[&str] = &["expansion", "thermal", "thermique", "thermisch", "thermische", "trv", "wärmeausdehnung"];

/// Words of a fire as a case of relief, and those that follow it there.
const FIRES: &[&str] = &["brandfall", "fire", "feu", "incendie"];
const FIRE_CASES: &[&str] = &["case", "exposure", "only", "relief", "scenario"];

/// Words that name another case beside it: one flow from the high side may be that.
const OTHER_CASES: &[&str] = &["all", "and", "blocked", "blowby", "breakthrough", "failure", "gas", "governing", "not"];

/// Words of a capacity that does not suffice.
const TOO_SMALL: &[&str] = &["inadequate", "insufficient", "insuffisante", "undersized", "unterdimensioniert"];

/// Returns the set pressure that a device states, with the other one that a text of it states, if there is one.
pub(super) fn with_text<'a>(drawing: &Drawing<'a>, device: NodeId, stated: Option<Stated<'a>>) -> Option<Stated<'a>> {
    let mut stated = stated?;
    let names = [Names::Remarks, Names::Description];
    let found = names.into_iter().find_map(|names| texts(drawing, device, names).find_map(set_pressure_in));
    stated.others.extend(found.map(|text| (Value::String(text), None)));
    Some(stated)
}

/// Returns the number and the unit of pressure behind a word such as `set`: `set @ 12 barg`.
fn set_pressure_in(text: &str) -> Option<&str> {
    let is_end_of_word = |c: char| !c.is_alphanumeric();
    let (mut at, mut before) = (0, String::new());
    let mut behind = text.split_inclusive(is_end_of_word).filter_map(|part| {
        at += part.len();
        let word = part.trim_end_matches(is_end_of_word).to_lowercase();
        if word.is_empty() {
            return None;
        }
        let before = std::mem::replace(&mut before, word.clone());
        let is_set = SET_WORDS.contains(&word.as_str()) && !OTHER_SETTINGS.contains(&before.as_str());
        (is_set && !(word == "reset" && begins_with(&text[at..], PRESSURES))).then(|| &text[at..])
    });
    behind.find_map(leading_pressure)
}

/// Returns whether the first word of a text is one of some words.
fn begins_with(text: &str, words: &[&str]) -> bool {
    let first = text.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty()).unwrap_or_default();
    words.iter().any(|word| first.eq_ignore_ascii_case(word))
}

/// Returns the number and the unit of pressure at the start of a text, behind a short word such as `at`.
fn leading_pressure(text: &str) -> Option<&str> {
    const MAX_BEFORE: usize = 14;
    let start = text.find(|c: char| c.is_ascii_digit()).filter(|start| *start <= MAX_BEFORE)?;
    let number = &text[start..];
    let digits = number.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ',')))?;
    let unit = number[digits..].trim_start();
    let unit = unit.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | ')')).next()?;
    let length = digits + number[digits..].find(unit)? + unit.len();
    quantity::pressure_unit(unit).map(|_| &number[..length])
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
        let is_case = || words.get(at + 1).is_some_and(|next| FIRE_CASES.contains(next));
        FIRES.contains(word) && (place == CaseText::CaseField || *word == "brandfall" || is_case())
    });
    has_any(&words, TOO_SMALL) || (has_any(&words, THERMAL) || is_fire) && !has_any(&words, OTHER_CASES)
}
