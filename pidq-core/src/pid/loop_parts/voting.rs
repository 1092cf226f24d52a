//! Voting of the signals of a trip, such as `2oo3`, and whether there are enough of them.

use super::gates;
use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NodeId};
use crate::graph::config::{MAX_CLASS, Names};
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter, EdgeFlags};
use crate::graph::vocabulary;
use crate::pid::ChargeFn;
use crate::pid::instrument_class::{self, Stage};
use crate::pid::stated_values::{stated_fields, stated_values};
use crate::pid::valve_state::phrases::clauses;
use crate::pid::valve_state::texts;
use crate::value::{Value, convert};

/// Returns the voting that an item states in a field, or in the words of its tag, class or description.
pub(crate) fn stated_voting(drawing: &Drawing<'_>, node: NodeId, charge: ChargeFn<'_>) -> Result<Option<String>> {
    let holder = drawing.node(node);
    let [stated] = stated_values(drawing, holder, [Names::Voting], charge)?;
    if let Some(stated) = stated {
        return Ok(Some(convert::to_text(stated.value)));
    }
    let object = holder.as_object();
    let names = [Names::Tag, Names::Class, Names::Description, Names::Service, Names::Remarks];
    let mut texts = names.iter().flat_map(|names| drawing.topology.config.names(*names)).filter_map(|name| {
        let text = object?.get(name).and_then(Value::as_str)?;
        (text.len() <= MAX_CLASS).then_some(text)
    });
    let found = texts.find_map(voting_in).or_else(|| voting_in_fields(holder));
    Ok(found.or_else(|| gates::voting_of_gate(drawing, node)).or_else(|| voting_of_logic(drawing, node)))
}

/// Returns the voting in a clause of a text of logic that is nothing else: `2 of 3`. At a sensor, it may be its number.
fn voting_of_logic(drawing: &Drawing<'_>, node: NodeId) -> Option<String> {
    if instrument_class::stage(drawing, node) != Stage::Logic {
        return None;
    }
    let names = [Names::Description, Names::Remarks];
    names.into_iter().find_map(|names| {
        texts(drawing, node, names).find_map(|text| clauses(text).iter().find_map(|clause| voting_clause(clause)))
    })
}

fn voting_clause(clause: &[String]) -> Option<String> {
    const VOTES: [&str; 6] = ["logic", "selection", "trip", "vote", "voted", "voting"];
    let words: Vec<&str> = clause.iter().map(String::as_str).filter(|word| !VOTES.contains(word)).collect();
    let [needed, between, count] = words[..] else { return None };
    let number = |word: &str| word.parse::<u32>().ok();
    (BETWEEN_NUMBERS.contains(&between) && number(needed)? <= number(count)?).then(|| format!("{needed}oo{count}"))
}

/// Returns the voting in a field or an attribute under any name whose value is nothing else: `group_logic: "2oo3"`.
fn voting_in_fields(holder: Value<'_>) -> Option<String> {
    const MAX_VOTING: usize = 16;
    let is_whole = |text: &str| {
        let text = text.trim();
        let is_in_words =
            text.len() <= MAX_VOTING && text.starts_with(|c: char| c.is_ascii_digit()) && text.contains(' ');
        let is_in_letters = || voting_in_letters(text).is_some_and(|voting| voting.len() == text.len());
        is_in_words || is_in_letters()
    };
    let mut fields = holder.as_object().into_iter().flat_map(stated_fields);
    fields.find_map(|(name, stated)| {
        let text = stated.value.as_str().filter(|text| is_whole(text) && !names_sheet(name))?;
        voting_in(text)
    })
}

/// Words between the numbers of a voting that other texts have between numbers too.
const BETWEEN_NUMBERS: [&str; 6] = ["of", "v", "de", "su", "van", "uit"];

/// Words of the numbers of sheets, which are written like a voting: `2 von 3`.
const SHEETS: [&str; 4] = ["sheet", "blatt", "page", "feuille"];

fn names_sheet(text: &str) -> bool {
    let text = text.to_lowercase();
    SHEETS.iter().any(|sheet| text.contains(sheet))
}

/// Returns the first voting in a text: digits, `oo`, digits, or two numbers with words between them, as in `2 out of 3`.
fn voting_in(text: &str) -> Option<String> {
    voting_in_words(text).or_else(|| voting_in_letters(text))
}

/// Returns the first voting in words, such as `2 out of 3`. `Sheet 2 of 3` and the like are none.
fn voting_in_words(text: &str) -> Option<String> {
    const BETWEEN: [&str; 4] = [" out of ", " von ", " aus ", " sur "];
    let voting = BETWEEN.iter().find_map(|between| {
        let (before, after) = text.split_once(between)?;
        let needed = before.rsplit(|c: char| !c.is_ascii_digit()).next()?;
        let count = after.split(|c: char| !c.is_ascii_digit()).next()?;
        (!needed.is_empty() && !count.is_empty()).then(|| format!("{needed}oo{count}"))
    });
    voting.filter(|_| !names_sheet(text))
}

/// Returns the first voting in letters: digits, `oo`, digits.
fn voting_in_letters(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let at = (1..bytes.len()).find(|at| {
        is_digit(at - 1) && is_digit(at + 2) && text.get(*at..at + 2).is_some_and(|oo| oo.eq_ignore_ascii_case("oo"))
    })?;
    let start = (0..at).rev().take_while(|before| is_digit(*before)).last()?;
    let end = (at + 2..bytes.len()).take_while(|after| is_digit(*after)).last()?;
    text.get(start..=end).map(String::from)
}

/// Texts in a field for the voting that need no number of signals, or state none, beside empty texts.
const WORDS_OF_VOTING: &[&str] = &[
    "1",
    "all",
    "and",
    "any",
    "average",
    "dual",
    "duplex",
    "et",
    "high_select",
    "low_select",
    "median",
    "oder",
    "one",
    "or",
    "ou",
    "redundant",
    "simplex",
    "single",
    "tmr",
    "triplex",
    "und",
];

/// Returns whether a voting such as `2oo3` needs more signals than there are sensors, none of them, or cannot be read. A tag
/// such as `PT-1A/B/C` stands for several of them. Logic may vote on the signals of other trips too: `1oo2` of a temperature and
/// a pressure.
pub(crate) fn may_not_be_met(
    drawing: &Drawing<'_>,
    item: NodeId,
    sensors: &[NodeId],
    charge: ChargeFn<'_>,
) -> Result<bool> {
    let is_several = |sensor: &NodeId| drawing.tag(*sensor).is_some_and(|tag| tag.contains(['/', ',', '&']));
    let Some(voting) = stated_voting(drawing, item, &mut *charge)? else { return Ok(false) };
    Ok(match voting_count(&voting) {
        Some((needed, count)) => {
            let has_all = |inputs: usize| needed <= sensors.len() && count <= inputs;
            needed == 0
                || needed > count
                || count > sensors.len() && !sensors.iter().any(is_several) && !has_all(inputs(drawing, item, charge)?)
        }
        None => {
            let text = voting.trim();
            let is_known = [WORDS_OF_VOTING, vocabulary::NEGATIVES, vocabulary::EMPTY_TEXTS, &["&"]];
            !is_known.iter().any(|words| vocabulary::contains(words, text))
        }
    })
}

/// Returns the number of instruments with a signal to an item that may start a trip: no hand switch, no position, no controller.
fn inputs(drawing: &Drawing<'_>, item: NodeId, charge: ChargeFn<'_>) -> Result<usize> {
    let topology = &drawing.topology;
    let table = topology.table(EdgeFilter::All, Direction::Up);
    charge(1 + table.degree(item) as u64)?;
    let is_input = |(from, edge): &(NodeId, EdgeId)| {
        topology.edge_flags[*edge as usize].contains(EdgeFlags::SIGNAL)
            && !topology.is_assumed(*edge)
            && topology.roles[*from as usize] == Role::Instrument
            && !instrument_class::is_by_hand(drawing, *from)
            && !instrument_class::has_position_letters(drawing, *from)
            && !instrument_class::is_controller(drawing, *from)
    };
    let mut found: Vec<NodeId> = table.arcs(item).filter(is_input).map(|(from, _)| from).collect();
    found.sort_unstable();
    found.dedup();
    Ok(found.len())
}

/// Returns whether the voting of one of some items may not be met by some sensors.
pub(super) fn lacks_voters(
    drawing: &Drawing<'_>,
    items: impl Iterator<Item = NodeId>,
    sensors: &[NodeId],
    charge: ChargeFn<'_>,
) -> Result<bool> {
    for item in items {
        if may_not_be_met(drawing, item, sensors, charge)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the numbers of a voting: 2 and 3 of `2oo3`, `2 of 3` and `2/3`.
fn voting_count(text: &str) -> Option<(usize, usize)> {
    let numbers = |voting: &str| {
        let (needed, count) = voting.split_once(|c: char| !c.is_ascii_digit())?;
        let count = count.trim_start_matches(|c: char| !c.is_ascii_digit());
        Some((needed.parse().ok()?, count.parse().ok()?))
    };
    if let Some(voting) = voting_in(text) {
        return numbers(&voting);
    }
    let text = text.trim().to_lowercase();
    let between: String = text.chars().filter(|c| !c.is_ascii_digit() && !matches!(c, ' ' | '-' | '_')).collect();
    (BETWEEN_NUMBERS.contains(&between.as_str()) || between == "/").then(|| numbers(&text)).flatten()
}

#[cfg(test)]
mod tests {
    use super::{voting_count, voting_in};

    #[test]
    fn a_voting_is_found_in_a_text() {
        for (text, expected) in [
            ("voter 2oo3", Some("2oo3")),
            ("1OO2D", Some("1OO2")),
            ("level 2oo3, 1oo2", Some("2oo3")),
            ("2 out of 3", Some("2oo3")),
            ("Auswahl 2 von 3", Some("2oo3")),
            ("2 sur 3", Some("2oo3")),
            ("Blatt 2 von 3", None),
            ("pool 3", None),
            ("2oo", None),
            ("oo3", None),
            ("", None),
            ("ü2oo3ü", Some("2oo3")),
        ] {
            assert_eq!(voting_in(text).as_deref(), expected, "{text}");
        }
        for (text, expected) in [
            ("2oo3", Some((2, 3))),
            ("1OO2", Some((1, 2))),
            ("2 out of 3", Some((2, 3))),
            ("2 of 3", Some((2, 3))),
            ("2/3", Some((2, 3))),
            ("0oo2", Some((0, 2))),
            ("23", None),
            ("?", None),
            ("", None),
        ] {
            assert_eq!(voting_count(text), expected, "{text}");
        }
    }
}
