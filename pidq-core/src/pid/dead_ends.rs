//! Dead ends of pipes: plugged branches, drains, vents and bleeds.
//!
//! A drawing has no elevations: a drain and a vent look alike unless a word distinguishes them.

use hashbrown::HashSet;

use super::valve_state::unread_texts::is_class;
use super::{ChargeFn, Datum, valve_state};
use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NONE, NodeId};
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::graph::roles::{self, Passage, Role};
use crate::graph::snake_case::snake_case;
use crate::graph::topology::{Direction, EdgeFilter};
use crate::graph::vocabulary::{self, Limited, limits, text_limits};
use crate::value::{Value, write};

/// A branch that leads to nothing: the item it leaves, its items, and its class.
#[derive(Clone, Debug)]
pub(crate) struct DeadEnd {
    /// The item that the branch leaves; `NONE` if it is isolated.
    pub at: NodeId,
    /// From next to `at` to the end.
    pub items: Vec<NodeId>,
    pub class: &'static str,
}

const DEAD_END: &[&str] = &["at", "end", "items", "class"];

/// A dead end without its class.
#[derive(Clone, Debug)]
pub(crate) struct Branch {
    at: NodeId,
    pub items: Vec<NodeId>,
}

impl Branch {
    fn ends_at_sheet(&self, drawing: &Drawing<'_>) -> bool {
        self.at != NONE && drawing.topology.is_sheet_end(self.at)
    }
}

/// Returns all branches that reach no equipment, no junction and no other sheet, with their class.
pub(crate) fn dead_ends(drawing: &Drawing<'_>, charge: ChargeFn<'_>) -> Result<Vec<DeadEnd>> {
    let branches = branches(drawing, charge)?.into_iter();
    Ok(branches.map(|Branch { at, items }| DeadEnd { at, class: class_of(drawing, &items), items }).collect())
}

/// Returns the same branches without their class.
pub(crate) fn branches(drawing: &Drawing<'_>, charge: ChargeFn<'_>) -> Result<Vec<Branch>> {
    let topology = &drawing.topology;
    let mut found = Vec::new();
    for node in 0..topology.node_count() as u32 {
        charge(1)?;
        let is_end = topology.flow_degree(node) == 1 && !topology.has_dangling_pipe(node) && !is_vessel(drawing, node);
        if is_end && !topology.is_sheet_end(node) {
            found.extend(branch_to(drawing, node, NONE, charge)?);
        } else if is_common_outlet(drawing, node) {
            found.extend(branches_to_common_outlet(drawing, node, charge)?);
        }
    }
    Ok(found)
}

/// Returns whether several pipes meet at an item that is open to the air: an open end, or a funnel, whose own drain may be one of
/// them.
pub(crate) fn is_common_outlet(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let topology = &drawing.topology;
    topology.flow_degree(node) > 1
        && match topology.roles[node as usize] {
            Role::OpenEnd => true,
            Role::None => drawing.class_ends_with_word(node, vocabulary::OPEN_FUNNELS),
            _ => false,
        }
}

/// Returns the branches that end at an outlet of several pipes: not those that lead away from it.
fn branches_to_common_outlet(drawing: &Drawing<'_>, outlet: NodeId, charge: ChargeFn<'_>) -> Result<Vec<Branch>> {
    let topology = &drawing.topology;
    let table = topology.table(EdgeFilter::Flow, Direction::Both);
    let mut found = Vec::new();
    for first in neighbors(drawing, outlet, charge)? {
        charge(table.degree(outlet) as u64)?;
        let leads_away = |pipe: EdgeId| topology.flow_ends(pipe)[0] == outlet && !topology.is_assumed(pipe);
        let mut pipes = table.arcs(outlet).filter(|(other, _)| *other == first);
        if !pipes.any(|(_, pipe)| leads_away(pipe)) {
            found.extend(branch_to(drawing, outlet, first, charge)?.filter(|branch| !branch.ends_at_sheet(drawing)));
        }
    }
    Ok(found)
}

/// Returns whether a pipe at a node leads into equipment: a nozzle belongs to some, even if the drawing ties it by an edge
/// that is not for nozzles, or not at all. A vent stack for one pipe is the end of that pipe.
fn is_vessel(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let topology = &drawing.topology;
    let is_equipment = topology.is_equipment(node) || topology.roles[node as usize] == Role::Port;
    is_equipment && !is_end_of_vent(drawing, node)
}

/// Returns whether an item is a vent stack with one pipe, or the nozzle of one.
pub(crate) fn is_end_of_vent(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let topology = &drawing.topology;
    let stack = topology.equipment_or_self(node);
    drawing.class_has(stack, vocabulary::VENT_STACKS) && topology.flow_degree_with_ports(stack) == 1
}

/// Returns the branch that ends at a node, by its pipe to `first` if there are several. `None` if it is the other end of a
/// dead end that is listed already.
fn branch_to(drawing: &Drawing<'_>, end: NodeId, first: NodeId, charge: ChargeFn<'_>) -> Result<Option<Branch>> {
    let topology = &drawing.topology;
    let table = topology.table(EdgeFilter::Flow, Direction::Both);
    let mut items = vec![end];
    let (mut node, mut before) = (end, NONE);
    loop {
        charge(1)?;
        let is_next = |next: &NodeId| *next != before && (node != end || first == NONE || *next == first);
        let Some(next) = table.nodes(node).iter().copied().find(is_next) else {
            // A pipe between two ends is listed once, at its first end.
            let is_first = end <= node;
            items.reverse();
            return Ok(is_first.then_some(Branch { at: NONE, items }));
        };
        let is_branching = table.degree(next) > 2 || is_vessel(drawing, next);
        let is_stop = is_branching || topology.is_sheet_end(next) || is_common_outlet(drawing, next);
        if is_stop || items.len() > topology.node_count() {
            items.reverse();
            return Ok(Some(Branch { at: next, items }));
        }
        items.push(next);
        (before, node) = (node, next);
    }
}

/// Returns the purpose of a dead end, by its items and words.
fn class_of(drawing: &Drawing<'_>, items: &[NodeId]) -> &'static str {
    let topology = &drawing.topology;
    let has_valve = items.iter().any(|item| topology.roles[*item as usize] == Role::Barrier);
    // A relief device has an outlet of its own, whatever measures beside it.
    let has_relief = items.iter().any(|item| topology.roles[*item as usize] == Role::Relief);
    let is_measured = !has_relief && items.iter().any(|item| has_sensor(drawing, *item));
    let is_blind = items.last().is_some_and(|end| closes_pipe(drawing, *end));
    let has_word = |known: &[&str]| items.iter().any(|item| names_purpose(drawing, *item, known));
    match () {
        () if has_word(vocabulary::DRAIN_WORDS) => "drain",
        () if has_word(vocabulary::VENT_WORDS) => "vent",
        () if items.last().is_some_and(|end| opens_to_air(drawing, *end)) => "vent",
        () if is_measured => "instrument_connection",
        () if has_valve && !is_blind => "drain_or_vent",
        () if items.last().is_some_and(|end| is_open(drawing, *end)) => "open",
        () => "plugged",
    }
}

/// Returns whether a text of an item, or a remark that is no sentence, has a word for a purpose that nothing before it denies.
/// Entire words match, as a venturi is not a vent.
fn names_purpose(drawing: &Drawing<'_>, node: NodeId, known: &[&str]) -> bool {
    const MAX_WORDS: usize = 4;
    let is_short = |text: &&str| text.split_whitespace().count() <= MAX_WORDS;
    let remarks = valve_state::texts(drawing, node, Names::Remarks).filter(is_short).map(snake_case);
    std::iter::once(all_words_of(drawing, node)).chain(remarks).any(|text| {
        let words: Vec<&str> = text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty()).collect();
        words.iter().enumerate().any(|(at, word)| {
            let is_denied =
                || words[at.saturating_sub(2)..at].iter().any(|word| vocabulary::PHRASE_DENIALS.contains(word));
            known.contains(word) && !is_denied()
        })
    })
}

/// Returns whether an item closes the end of a pipe: a blind, a blind flange, a cap, a plug.
fn closes_pipe(drawing: &Drawing<'_>, end: NodeId) -> bool {
    matches!(drawing.topology.roles[end as usize], Role::PositiveBarrier | Role::Blind) || is_cap(drawing, end)
}

/// Returns whether an item is a cap or a plug at the end of a pipe.
pub(crate) fn is_cap(drawing: &Drawing<'_>, end: NodeId) -> bool {
    drawing.topology.roles[end as usize] == Role::None
        && drawing.topology.flow_degree(end) == 1
        && drawing.class_ends_with_word(end, vocabulary::CAPS)
}

/// Returns whether a pipe ends at an item that does not close it: in the open air, or with a side without a pipe.
fn is_open(drawing: &Drawing<'_>, end: NodeId) -> bool {
    match drawing.topology.roles[end as usize] {
        Role::OpenEnd | Role::OneWay | Role::Junction | Role::SizeBreak => true,
        Role::None => drawing.passage(end) != Some(Passage::End),
        Role::Relief => opens_to_air(drawing, end),
        _ => drawing.class_ends_with_word(end, vocabulary::AIR_ENDS) || is_end_of_vent(drawing, end),
    }
}

/// Returns whether an item is a relief device without an outlet pipe that opens to the air where it is: a breather valve.
pub(crate) fn opens_to_air(drawing: &Drawing<'_>, end: NodeId) -> bool {
    drawing.topology.roles[end as usize] == Role::Relief
        && drawing.topology.flow_degree(end) == 1
        && drawing.class_has(end, vocabulary::ATMOSPHERIC_RELIEF)
}

/// Returns the service of an item, such as "low point drain".
fn service_of(drawing: &Drawing<'_>, node: NodeId) -> String {
    let service = drawing.node_field(node, Names::Service).and_then(Value::as_str);
    service.map(|text| format!(" {}", snake_case(text))).unwrap_or_default()
}

fn words_of(drawing: &Drawing<'_>, node: NodeId) -> String {
    let texts = [Names::Tag, Names::Class].map(|names| drawing.node_field(node, names).and_then(Value::as_str));
    let object = drawing.node(node).as_object();
    let descriptions = drawing.topology.config.names(Names::Description).iter().map(|key| object?.get(key)?.as_str());
    let texts = texts.into_iter().chain(descriptions).flatten();
    texts.map(|text| format!(" {}", snake_case(text))).collect()
}

/// Returns the words of the tag, the class, the description and the service of an item, in fields or attributes.
fn all_words_of(drawing: &Drawing<'_>, node: NodeId) -> String {
    let own = words_of(drawing, node) + &service_of(drawing, node);
    let texts =
        [Names::Description, Names::Service].into_iter().flat_map(|names| valve_state::texts(drawing, node, names));
    texts.fold(own, |words, text| words + " " + &snake_case(text))
}

/// Returns whether words at an item state that it drains or vents: those of a bleed, a drain, a flare. A remark does too, if it
/// has no word for a negation.
pub(crate) fn names_bleed(drawing: &Drawing<'_>, node: NodeId) -> bool {
    /// Returns the words of a text, without digits: `drain1` is a drain.
    fn words(text: &str) -> impl Iterator<Item = &str> {
        text.split(|c: char| !c.is_alphabetic())
    }
    let names_one = |text: &str| words(text).any(|word| vocabulary::BLEED_WORDS.contains(&word));
    let is_limited = |text: &str| words(text).any(|word| limits(word, Limited::Status));
    let mut remarks = valve_state::texts(drawing, node, Names::Remarks).map(snake_case);
    names_one(&all_words_of(drawing, node)) || remarks.any(|text| names_one(&text) && !is_limited(&text))
}

/// Returns the number of pipes at an item: to different neighbors, on different lines, or from the item to itself. Tools list a
/// pipe in both directions, which is one.
pub(crate) fn pipe_ends(drawing: &Drawing<'_>, node: NodeId, charge: ChargeFn<'_>) -> Result<usize> {
    let table = drawing.topology.table(EdgeFilter::Flow, Direction::Both);
    let neighbors = neighbors(drawing, node, charge)?;
    let arcs = table.arcs(node).len();
    if arcs == neighbors.len() || arcs > MAX_PIPES {
        return Ok(neighbors.len());
    }
    let line = |edge: EdgeId| drawing.edge_field(edge, Names::Line).map(write::to_string);
    let (own, others): (Vec<_>, Vec<_>) = table.arcs(node).partition(|(other, _)| *other == node);
    let pipes: HashSet<(NodeId, String)> =
        others.iter().filter_map(|(other, edge)| Some((*other, line(*edge)?))).collect();
    let of_lines = |other: &NodeId| pipes.iter().filter(|(to, _)| to == other).count().max(1);
    Ok(neighbors.iter().map(of_lines).sum::<usize>() + 2 * own.len())
}

/// Number of pipes of an item from which on those of equal ends are not told apart.
const MAX_PIPES: usize = 64;

/// Returns whether words at an item name a connection for a supply, such as a hose or a loading arm, and none of a bleed. The
/// words supply and injection decide: the supply of a drain is no drain.
pub(crate) fn names_supply(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let texts = all_words_of(drawing, node);
    let has_any = |known: &[&str]| vocabulary::text_has_any(&texts, known);
    has_any(vocabulary::INWARD_WORDS) || has_any(vocabulary::SUPPLY_WORDS) && !has_any(vocabulary::BLEED_WORDS)
}

/// Returns whether a text of an item names something that is neither a drain nor a vent nor a part of one, such as
/// `steam out` or `wash water`: the branch may be a supply.
pub(crate) fn names_other_purpose(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let names = [Names::Description, Names::Service, Names::Remarks];
    let texts = names.iter().flat_map(|names| valve_state::texts(drawing, node, *names));
    // The words of a class are read as those of a class.
    let texts = texts.filter(|text| !is_known_class(drawing, node, text));
    let text: String = texts.map(|text| format!(" {}", snake_case(text))).collect();
    let is_neutral = |word: &str| {
        word.len() < 3
            || word.chars().any(|c| c.is_ascii_digit())
            || roles::is_hand_valve_word(word) && word != "kill"
            || vocabulary::BLEED_NEUTRAL_WORDS.contains(&word)
    };
    !names_bleed(drawing, node) && text.split(|c: char| !c.is_alphanumeric()).any(|word| !is_neutral(word))
}

/// Returns whether a text is a class of an item that names the end of a branch, such as `SamplePoint`, or an item in a pipe.
fn is_known_class(drawing: &Drawing<'_>, node: NodeId, text: &str) -> bool {
    let is_known = || drawing.topology.config.knows_item_class(text);
    is_class(drawing, node, text) && (is_known() || drawing.class_ends_with_word(node, vocabulary::OUTLETS))
}

/// Returns whether a nozzle is closed without a pipe: an opening with a cover, or one that is stated to be blinded.
pub(crate) fn is_covered(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let words = words_of(drawing, node) + &service_of(drawing, node);
    let has_any = |known: &[&str]| vocabulary::text_has_any(&words, known);
    let is_code = |word: &str| vocabulary::COVERED_OPENING_CODES.contains(&word.trim_end_matches(char::is_numeric));
    let is_cover = vocabulary::COVERED_OPENINGS.iter().any(|opening| words.contains(opening))
        || vocabulary::words_in(&words).any(is_code);
    let is_blind = has_any(&["blanked", "blind", "blinded", "capped", "plugged", "spaded"])
        && !has_any(&["to", "if"])
        && !text_limits(&words, Limited::Status);
    (is_cover || is_blind) && !has_any(vocabulary::UNCOVERED_WORDS) && !is_stated_open(drawing, node)
}

/// Returns whether a nozzle is said to be a spare one, which is blinded as long as nothing is connected to it.
fn is_said_unused(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let words = words_of(drawing, node) + &service_of(drawing, node);
    let has_any = |known: &[&str]| vocabulary::text_has_any(&words, known);
    has_any(vocabulary::UNUSED_NOZZLES)
        && !has_any(&["to", "if"])
        && !text_limits(&words, Limited::Status)
        && !has_any(vocabulary::UNCOVERED_WORDS)
        && !is_stated_open(drawing, node)
}

/// Returns whether the position, the status or a remark of a nozzle says that its cover is open.
fn is_stated_open(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let names = [Names::NormalPosition, Names::BlindPosition, Names::Status, Names::Remarks];
    let mut texts = names.into_iter().flat_map(|names| valve_state::texts(drawing, node, names)).map(snake_case);
    texts.any(|text| vocabulary::text_has_any(&text, vocabulary::UNCOVERED_WORDS))
}

/// Returns whether a nozzle without a pipe has no instrument either and is neither a manhole nor a spare one: its connection may be missing.
/// An instrument with a pipe of its own is no end: a branch may go on at it.
pub(crate) fn is_unused_port(drawing: &Drawing<'_>, port: NodeId) -> bool {
    let topology = &drawing.topology;
    let is_end = |node: &NodeId| topology.roles[*node as usize] == Role::Instrument && topology.flow_degree(*node) == 0;
    let mut connected = topology.table(EdgeFilter::All, Direction::Both).nodes(port).iter();
    !is_covered(drawing, port) && !is_said_unused(drawing, port) && !connected.any(is_end)
}

/// Returns whether an instrument is connected to an item, or is the item.
pub(crate) fn has_instrument(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let topology = &drawing.topology;
    let is_instrument = |node: &NodeId| topology.roles[*node as usize] == Role::Instrument;
    is_instrument(&node) || topology.table(EdgeFilter::All, Direction::Both).nodes(node).iter().any(is_instrument)
}

/// Returns the number of instruments without a pipe that are connected to an item: each is at a leg of a tee.
pub(crate) fn instrument_legs(drawing: &Drawing<'_>, node: NodeId) -> usize {
    let topology = &drawing.topology;
    let is_leg =
        |other: &&NodeId| topology.roles[**other as usize] == Role::Instrument && topology.flow_degree(**other) == 0;
    let connected = topology.table(EdgeFilter::All, Direction::Both).nodes(node).iter();
    connected.filter(is_leg).collect::<HashSet<_>>().len()
}

/// Returns whether a connected instrument measures at an item. An instrument connected to a control valve moves it
/// instead.
pub(crate) fn has_sensor(drawing: &Drawing<'_>, node: NodeId) -> bool {
    drawing.topology.roles[node as usize] != Role::Control && has_instrument(drawing, node)
}

/// Returns whether an item belongs between two pipes: a valve, a reducer, a tee.
pub(crate) fn is_inline_item(drawing: &Drawing<'_>, node: NodeId) -> bool {
    match drawing.topology.roles[node as usize] {
        Role::Barrier | Role::Control | Role::MultiWay | Role::OneWay | Role::Relief => true,
        Role::SizeBreak | Role::Junction => true,
        Role::None => words_of(drawing, node).contains("valve"),
        _ => false,
    }
}

/// Returns the neighbors of a node, each once, and charges fuel for them.
pub(crate) fn neighbors(drawing: &Drawing<'_>, node: NodeId, charge: ChargeFn<'_>) -> Result<Vec<NodeId>> {
    /// Number of pipes from which on a set is faster than a list.
    const MANY: usize = 16;
    let nodes = drawing.topology.table(EdgeFilter::Flow, Direction::Both).nodes(node);
    charge(nodes.len() as u64)?;
    if nodes.len() < MANY {
        let mut distinct = Vec::with_capacity(nodes.len());
        for next in nodes.iter().filter(|next| **next != node) {
            if !distinct.contains(next) {
                distinct.push(*next);
            }
        }
        return Ok(distinct);
    }
    let mut seen = HashSet::new();
    Ok(nodes.iter().copied().filter(|next| *next != node && seen.insert(*next)).collect())
}

/// Returns whether a hand valve, reached from one side, is a drain, a vent or a bleed.
pub(crate) fn is_bleed_valve(
    drawing: &Drawing<'_>,
    node: NodeId,
    before: NodeId,
    charge: ChargeFn<'_>,
) -> Result<bool> {
    Ok(drawing.topology.roles[node as usize] == Role::Barrier && is_bleed(drawing, node, before, charge)?)
}

/// Returns whether a valve, reached from one side, leads to nothing. On another sheet, there may be something.
fn is_bleed(drawing: &Drawing<'_>, valve: NodeId, before: NodeId, charge: ChargeFn<'_>) -> Result<bool> {
    if before == NONE {
        return Ok(false);
    }
    let topology = &drawing.topology;
    let items = only_branch(drawing, [before, valve], |_| false, charge)?;
    let end = items.as_deref().and_then(<[NodeId]>::last).copied();
    Ok(end.is_some_and(|end| !is_vessel(drawing, end) && topology.roles[end as usize] != Role::OffPage))
}

/// Returns the items behind a valve, from the valve to the last one or to one at which the branch ends. `None` if they
/// branch, are many, or lead to equipment, a relief device or an item that the drawing lacks: what protects by opening is not
/// opened to drain.
pub(crate) fn only_branch(
    drawing: &Drawing<'_>,
    [before, valve]: [NodeId; 2],
    ends_at: impl Fn(NodeId) -> bool,
    charge: ChargeFn<'_>,
) -> Result<Option<Vec<NodeId>>> {
    const MAX_ITEMS: usize = 10;
    let topology = &drawing.topology;
    let (mut before, mut items) = (before, vec![valve]);
    let is_last = |node: NodeId| ends_at(node) || is_common_outlet(drawing, node);
    while let Some(node) = items.last().copied().filter(|node| !is_last(*node)) {
        let next = neighbors(drawing, node, charge)?;
        let mut next = next.into_iter().filter(|next| *next != before);
        let only = match (next.next(), next.next()) {
            (None, _) => break,
            (Some(only), None) => only,
            _ => return Ok(None),
        };
        let is_other_end = topology.roles[only as usize] == Role::Relief || is_vessel(drawing, only);
        if is_other_end && !ends_at(only) || items.len() == MAX_ITEMS {
            return Ok(None);
        }
        before = node;
        items.push(only);
    }
    if items.iter().any(|item| topology.has_dangling_pipe(*item)) {
        return Ok(None);
    }
    Ok(Some(items))
}

/// Returns dead ends as rows.
pub(crate) fn rows<'a>(ends: &[DeadEnd], includes: impl Fn(&DeadEnd) -> bool) -> Datum<'a> {
    let row = |end: &DeadEnd| {
        let last = end.items.last().copied().unwrap_or(NONE);
        vec![Datum::Node(end.at), Datum::Node(last), Datum::Nodes(end.items.clone()), Datum::Word(end.class)]
    };
    Datum::Table(DEAD_END, ends.iter().filter(|end| includes(end)).map(row).collect())
}
