//! Design pressures of the two sides of an exchanger that are written at the exchanger: `design_pressure_shell`, `SHELL 10 barg /
//! TUBE 25 barg`.

use crate::graph::adjacency::{NONE, NodeId};
use crate::graph::config::{MAX_CLASS, Names};
use crate::graph::drawing::Drawing;
use crate::graph::vocabulary;
use crate::pid::quantity::{self, Stated};
use crate::pid::relief::protected::EquipmentSide;
use crate::pid::stated_values::{plain_name, stated_fields};
use crate::value::{Value, convert};

/// Words of the two sides in fields, texts and names of chambers, and the letters for them in texts.
const SIDES: [(&[&str], &str); 2] = [
    (&["shell", "shellside", "mantel", "mantelseite", "mantelraum", "calandre"], "s"),
    (&["tube", "tubes", "tubeside", "rohr", "rohrseite", "rohrraum", "tubulaire"], "t"),
];

/// Returns the design pressure that equipment states for one of its sides, in a field or a part of a text.
pub(super) fn design_pressure<'a>(drawing: &Drawing<'a>, side: EquipmentSide) -> Option<Stated<'a>> {
    let words = side_words(drawing, side)?;
    let names = drawing.topology.config.words_of(Names::DesignPressure);
    let object = drawing.node(side.0).as_object()?;
    let mut found = None;
    for (name, stated) in stated_fields(object).filter(|(name, _)| name.len() <= MAX_CLASS) {
        let name = plain_name(name);
        let of_side = |word: &&str| words.0.contains(word);
        let parts: Vec<&str> = name.split('_').collect();
        let rest: Vec<&str> = parts.iter().copied().filter(|word| !of_side(word) && *word != "side").collect();
        if parts.iter().any(of_side) && names.contains(&rest.join("_")) {
            return Some(stated);
        }
        if names.contains(&name) {
            found = found.or_else(|| part_of_value(stated.value, words));
        }
    }
    found
}

/// Returns the name of a field without the word of a side of an exchanger, as `design_pressure` of `design_pressure_tube`; `None`
/// if it has none.
pub(super) fn name_without_side(field: &str) -> Option<String> {
    let name = plain_name(field);
    let is_side = |word: &str| SIDES.iter().any(|(words, _)| words.contains(&word));
    let rest: Vec<&str> = name.split('_').filter(|word| !is_side(word) && *word != "side").collect();
    (rest.len() < name.split('_').count()).then(|| rest.join("_"))
}

/// Returns the part of a value that is that of a side: of an object by its key, of a text by the word or the letter in it.
fn part_of_value<'a>(value: Value<'a>, (words, letter): (&[&str], &str)) -> Option<Stated<'a>> {
    if let Some(parts) = value.as_object() {
        return words.iter().find_map(|word| parts.get(word)).map(|value| Stated::new(value, None));
    }
    let text = value.as_str().filter(|text| text.len() <= MAX_CLASS)?;
    let is_of_side = |part: &&str| {
        let part = part.to_lowercase();
        part.split(|c: char| !c.is_alphanumeric()).any(|word| words.contains(&word) || word == letter)
    };
    let mut parts = text.split(['/', ';', '|']).filter(is_of_side);
    let (part, others) = (parts.next()?, parts.count());
    let start = part.find(|c: char| c.is_ascii_digit())?;
    let end = remark_in_brackets(&part[start..]).map_or(part.len(), |end| start + end);
    (others == 0).then(|| Stated::new(Value::String(part[start..end].trim()), None))
}

/// Returns where a remark in brackets begins: not the zero of a unit, as in `10 bar(g)` and `10 bar (ü)`.
fn remark_in_brackets(text: &str) -> Option<usize> {
    let is_of_unit = |at: usize| {
        let before = text[..at].trim_end();
        let unit = text[at..]
            .find(')')
            .map(|end| &text[before.rfind(|c: char| !c.is_alphabetic()).map_or(0, |at| at + 1)..at + end + 1]);
        unit.is_some_and(|unit| quantity::pressure_unit(unit).is_some())
    };
    text.match_indices('(').map(|(at, _)| at).find(|at| !is_of_unit(*at))
}

/// Returns the words of a side and its letter, by the name or the word of its chamber.
fn side_words(
    drawing: &Drawing<'_>,
    (equipment, zone): EquipmentSide,
) -> Option<(&'static [&'static str], &'static str)> {
    let topology = &drawing.topology;
    let is_node = zone != NONE && (zone as usize) < topology.node_count();
    let name = match is_node {
        true => drawing.name(zone),
        false => {
            let is_on_side = |port: &&NodeId| zone != NONE && topology.zone(**port) == zone;
            let mut ports = topology.ports.nodes(equipment).iter().filter(is_on_side);
            convert::to_text(ports.find_map(|port| drawing.node_field(*port, Names::Zone))?)
        }
    };
    let name = name.to_lowercase();
    let mut sides = SIDES
        .into_iter()
        .filter(|(words, _)| vocabulary::text_has_any(&name, words) || is_node && drawing.class_has_word(zone, words));
    sides.next().filter(|_| sides.next().is_none())
}
