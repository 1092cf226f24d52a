//! Qualifiers of a quantity that exclude each other: a design pressure is no operating pressure.

use std::collections::BTreeSet;

/// A qualifier: its group, and which of the group it is.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Qualifier {
    pub group: u8,
    pub member: u8,
}

/// Groups of qualifiers that exclude each other; the words of a row mean the same.
#[rustfmt::skip]
const GROUPS: &[&[&[&str]]] = &[
    &[&["design", "auslegungs"], &["operating", "working", "betriebs"], &["test", "prüf"], &["set", "ansprech", "einstell"]],
    &[&["minimum", "min", "lowest", "mindest"], &["maximum", "max", "highest", "maximal", "höchst"], &["normal", "average"]],
    &[&["suction", "saug"], &["discharge", "delivery", "förder"]],
    &[&["inlet", "eintritts"], &["outlet", "austritts"]],
    &[&["shell", "mantel"], &["tube", "rohr"]],
    &[&["upper", "high"], &["lower", "low"]],
];

/// Words for quantities, to which a qualifier belongs.
const NOUNS: &[&str] = &[
    "pressure",
    "temperature",
    "flow",
    "flowrate",
    "rate",
    "level",
    "capacity",
    "head",
    "speed",
    "power",
    "volume",
    "density",
    "diameter",
    "thickness",
    "height",
    "limit",
    "alarm",
    "trip",
    "setting",
    "setpoint",
    "point",
    "load",
    "velocity",
    "druck",
    "temperatur",
    "durchfluss",
    "menge",
    "drehzahl",
    "leistung",
    "volumen",
    "höhe",
    "stand",
];

/// Words between the qualifiers of one quantity: design and operating pressure.
const CONNECTORS: &[&str] = &["and", "or", "und", "oder"];

/// Words before a quantity that are read.
const MAX_WORDS: usize = 6;

/// Returns the qualifiers of the quantities in a text.
pub fn read(text: &str) -> BTreeSet<Qualifier> {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty()).collect();
    let mut found = BTreeSet::new();
    for (index, word) in words.iter().enumerate() {
        found.extend(compound(word));
        if !NOUNS.contains(word) && !is_plural_noun(word) {
            continue;
        }
        for before in words[..index].iter().rev().take(MAX_WORDS) {
            match qualifier(before) {
                Some(qualifier) => {
                    found.insert(qualifier);
                }
                None if CONNECTORS.contains(before) || NOUNS.contains(before) => {}
                None => break,
            }
        }
    }
    found
}

fn is_plural_noun(word: &str) -> bool {
    word.strip_suffix('s').is_some_and(|noun| NOUNS.contains(&noun))
}

fn members() -> impl Iterator<Item = (Qualifier, &'static str)> {
    let groups = GROUPS.iter().zip(0u8..);
    groups.flat_map(|(members, group)| {
        let rows = members.iter().zip(0u8..);
        rows.flat_map(move |(words, member)| words.iter().map(move |word| (Qualifier { group, member }, *word)))
    })
}

fn qualifier(word: &str) -> Option<Qualifier> {
    members().find(|(_, name)| *name == word).map(|row| row.0)
}

/// Reads a German compound such as `auslegungsdruck`.
fn compound(word: &str) -> Option<Qualifier> {
    let is_noun = |rest: &str| NOUNS.contains(&rest);
    members().find(|(_, name)| word.strip_prefix(name).is_some_and(is_noun)).map(|row| row.0)
}

/// Returns whether two sets of qualifiers exclude each other: in a group, both have members and none in common.
pub fn exclude(one: &BTreeSet<Qualifier>, other: &BTreeSet<Qualifier>) -> bool {
    one.iter().any(|qualifier| {
        let members: Vec<u8> = other.iter().filter(|row| row.group == qualifier.group).map(|row| row.member).collect();
        let own = || one.iter().filter(|row| row.group == qualifier.group).map(|row| row.member);
        !members.is_empty() && !own().any(|member| members.contains(&member))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn qualifiers_of_one_group_exclude_each_other() {
        let check = |one: &str, other: &str, expected: bool| {
            assert_eq!(exclude(&read(one), &read(other)), expected, "{one:?} {other:?}");
            assert_eq!(exclude(&read(other), &read(one)), expected, "{other:?} {one:?}");
        };
        check("design pressure", "operating pressure", true);
        check("Auslegungsdruck", "the design pressure", false);
        check("Auslegungsdruck", "Betriebsdruck", true);
        check("design and operating pressure", "operating pressure", false);
        check("minimum flow", "maximum flow", true);
        check("max. operating pressure", "maximum design pressure", true);
        check("the inlet separator has a pressure", "outlet pressure", false);
        check("pressure", "operating pressure", false);
        check("suction pressure", "discharge pressures", true);
        check("", "", false);
    }
}
