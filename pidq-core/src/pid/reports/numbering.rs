//! Numbering of tags: gaps in the series of each letter group, and tags that occur several times.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::topology::EdgeFlags;
use crate::graph::vocabulary;
use crate::pid::tag::Tag;
use crate::pid::{Budget, Datum, lists, pipe_lines, push_row};

const RESULT: &[&str] = &["series", "duplicates", "not_numbered"];
const SERIES: &[&str] = &["kind", "prefix", "letters", "count", "first", "last", "missing", "gaps"];
const GAP: &[&str] = &["first", "last", "count"];
const DUPLICATE: &[&str] = &["tag", "kind", "items", "exact"];

/// Part of a tag that numbers are unique in.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum SeriesBy {
    /// All letters: FT and FIC are two series.
    #[default]
    Letters,
    /// The first letter: FT-101, FIC-101 and FV-101 are one number.
    Variable,
    /// The prefix alone.
    Prefix,
}

impl SeriesBy {
    /// The names of the option, in the order of `ALL`.
    pub const NAMES: &'static [&'static str] = &["letters", "variable", "prefix"];
    pub const ALL: [SeriesBy; 3] = [SeriesBy::Letters, SeriesBy::Variable, SeriesBy::Prefix];
}

/// Key of a series: kind, prefix, letters.
type SeriesKey = (&'static str, String, String);

/// Numbers of a series, and the widest one with leading zeros.
#[derive(Default)]
struct Series {
    numbers: Vec<u64>,
    width: usize,
}

/// Returns the series of numbers with their gaps, duplicate tags, and items whose tag has no number.
pub(crate) fn numbering_gaps<'a>(drawing: &Drawing<'a>, by: SeriesBy, budget: &mut dyn Budget) -> Result<Datum<'a>> {
    let mut series: BTreeMap<SeriesKey, Series> = BTreeMap::new();
    let mut tags: BTreeMap<(&'static str, String), Vec<NodeId>> = BTreeMap::new();
    let mut not_numbered = Vec::new();
    for node in 0..drawing.topology.node_count() as u32 {
        budget.charge(1)?;
        let Some((kind, tag)) = kind_of(drawing, node).and_then(|kind| Some((kind, drawing.tag(node)?))) else {
            continue;
        };
        budget.charge(tag.len() as u64 / 16)?;
        budget.reserve(2 * tag.len() + size_of::<(SeriesKey, Series)>())?;
        // A word such as `drain` is no tag.
        if tag.contains(|c: char| c.is_ascii_digit()) {
            tags.entry((kind, identity(drawing, node, kind, tag))).or_default().push(node);
        }
        match numbered(drawing, node, kind, tag, by) {
            Some((key, number, width)) => {
                let entry = series.entry(key).or_default();
                entry.numbers.push(number);
                entry.width = entry.width.max(width);
            }
            None => not_numbered.push(node),
        }
    }
    add_lines_of_pipes(drawing, &tags, &mut series, budget)?;
    let mut rows = Vec::with_capacity(series.len());
    for ((kind, prefix, letters), found) in series {
        budget.charge(found.numbers.len() as u64)?;
        push_row(&mut rows, series_row(kind, prefix, letters, found), budget)?;
    }
    let mut duplicates = Vec::new();
    for ((kind, _), nodes) in tags.into_iter().filter(|(_, nodes)| nodes.len() > 1) {
        budget.charge(nodes.len() as u64)?;
        let first = drawing.tag(nodes[0]).unwrap_or_default();
        let exact = nodes.iter().all(|node| drawing.tag(*node) == Some(first));
        let row = vec![Datum::String(first.into()), Datum::Word(kind), Datum::Nodes(nodes), Datum::Bool(exact)];
        push_row(&mut duplicates, row, budget)?;
    }
    Ok(Datum::Record(
        RESULT,
        vec![Datum::Table(SERIES, rows), Datum::Table(DUPLICATE, duplicates), Datum::Nodes(not_numbered)],
    ))
}

/// Adds the lines that only their pipes name to the series of lines.
fn add_lines_of_pipes(
    drawing: &Drawing<'_>,
    tags: &BTreeMap<(&'static str, String), Vec<NodeId>>,
    series: &mut BTreeMap<SeriesKey, Series>,
    budget: &mut dyn Budget,
) -> Result<()> {
    const LINE: &str = "line";
    budget.charge(drawing.topology.edge_count() as u64)?;
    let mut seen = BTreeSet::new();
    for name in pipe_lines::lines_of(drawing, drawing.topology.edges_of(EdgeFlags::FLOW)) {
        budget.charge(1 + name.len() as u64 / 16)?;
        budget.reserve(name.len() + size_of::<(SeriesKey, Series)>())?;
        let key = (LINE, alphanumeric(&name));
        let digits = line_number(&name).filter(|_| !tags.contains_key(&key));
        let Some((digits, number)) = digits.and_then(|digits| Some((digits, digits.parse().ok()?))) else { continue };
        if seen.insert(key.1) {
            let entry = series.entry((LINE, String::new(), String::new())).or_default();
            entry.numbers.push(number);
            entry.width = entry.width.max(width_of(digits));
        }
    }
    Ok(())
}

/// Returns what a node is for its number: tags of different kinds do not collide. `None` for nodes without a number of
/// their own: segments, loops, which have the number of their instruments, and the actuators of valves.
fn kind_of(drawing: &Drawing<'_>, node: NodeId) -> Option<&'static str> {
    let topology = &drawing.topology;
    match () {
        () if drawing.has_type(node, Names::LineType) => Some("line"),
        () if [Names::SegmentType, Names::LoopType].iter().any(|types| drawing.has_type(node, *types)) => None,
        () if topology.roles[node as usize] == Role::Instrument
            && drawing.class_has(node, vocabulary::ACTUATOR_CLASSES) =>
        {
            None
        }
        () if topology.owner(node).is_some() => Some("nozzle"),
        () if lists::is_component(drawing, node) => Some("component"),
        () => None,
    }
}

/// Returns the identity of a tag: letters and digits in upper case, for a nozzle after its equipment.
fn identity(drawing: &Drawing<'_>, node: NodeId, kind: &str, tag: &str) -> String {
    let owner = drawing.topology.owner(node).filter(|_| kind == "nozzle");
    let owner = owner.map(|owner| format!("{owner}/")).unwrap_or_default();
    owner + &alphanumeric(tag)
}

/// Returns the letters and digits of a tag in upper case.
fn alphanumeric(tag: &str) -> String {
    tag.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_uppercase).collect()
}

/// Returns the series of a tag, its number and the number of digits if it starts with a zero.
fn numbered(
    drawing: &Drawing<'_>,
    node: NodeId,
    kind: &'static str,
    tag: &str,
    by: SeriesBy,
) -> Option<(SeriesKey, u64, usize)> {
    if kind == "line"
        && let Some(digits) = line_number(tag)
    {
        return Some(((kind, String::new(), String::new()), digits.parse().ok()?, width_of(digits)));
    }
    let parsed = Tag::parse(tag)?;
    // In `4712.02`, the loop is part of the prefix.
    let (group, digits) = match parsed.number.rsplit_once('.') {
        Some((group, digits)) => (format!("{}{group}.", with_hyphen(&parsed.prefix)), digits),
        None => (parsed.prefix.clone(), parsed.number.as_str()),
    };
    let number = digits.parse().ok()?;
    let letters = match by {
        SeriesBy::Letters => parsed.letters.clone(),
        SeriesBy::Variable => parsed.letters.chars().take(1).collect(),
        SeriesBy::Prefix => String::new(),
    };
    let key = match kind {
        // The prefix and the letters of a line are its size and its fluid.
        "line" => (kind, String::new(), String::new()),
        "nozzle" => (kind, drawing.name(drawing.topology.equipment_or_self(node)), letters),
        _ => (kind, group, letters),
    };
    Some((key, number, width_of(digits)))
}

/// Returns the number of digits of a number that starts with a zero. Numbers have at most 20 digits without leading zeros.
fn width_of(digits: &str) -> usize {
    if digits.starts_with('0') { digits.len().min(20) } else { 0 }
}

/// Returns the number in the tag of a line such as `2"-CWS-35005-W1`: the only part of at least three digits, and no letters but
/// one of a train, that is longer than the others, which are a size and an area. One without a letter comes first.
fn line_number(tag: &str) -> Option<&str> {
    let parts = tag.split(['-', '/', '_', ' ']).map(str::trim);
    let number = |part: &str| part.len() - part.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let has_letter = |part: &str| part.ends_with(|c: char| c.is_ascii_alphabetic());
    let numbers: Vec<(usize, &str)> = parts
        .map(|part| (number(part), part))
        .filter(|(digits, part)| *digits > 2 && part.len() == digits + usize::from(has_letter(part)))
        .collect();
    let length = numbers.iter().map(|(digits, _)| *digits).max()?;
    let longest: Vec<&str> = numbers.iter().filter(|(digits, _)| *digits == length).map(|(_, part)| *part).collect();
    let plain: Vec<&str> = longest.iter().copied().filter(|part| !has_letter(part)).collect();
    let found = if plain.is_empty() { longest } else { plain };
    match found.as_slice() {
        [only] => Some(&only[..length]),
        _ => None,
    }
}

fn with_hyphen(prefix: &str) -> String {
    if prefix.is_empty() { String::new() } else { format!("{prefix}-") }
}

fn series_row<'a>(kind: &'static str, prefix: String, letters: String, found: Series) -> Vec<Datum<'a>> {
    let Series { mut numbers, width } = found;
    let count = numbers.len();
    numbers.sort_unstable();
    numbers.dedup();
    let text = |number: u64| Datum::String(format!("{number:0width$}"));
    let gaps = numbers.windows(2).filter(|pair| pair[1] - pair[0] > 1);
    let gap = |pair: &[u64]| vec![text(pair[0] + 1), text(pair[1] - 1), Datum::Number((pair[1] - pair[0] - 1) as f64)];
    let missing: u64 = gaps.clone().map(|pair| pair[1] - pair[0] - 1).sum();
    let ends = [numbers.first(), numbers.last()].map(|end| end.map_or(Datum::Null, |number| text(*number)));
    let [first, last] = ends;
    vec![
        Datum::Word(kind),
        Datum::String(prefix),
        Datum::String(letters),
        Datum::count(count),
        first,
        last,
        Datum::Number(missing as f64),
        Datum::Table(GAP, gaps.map(gap).collect()),
    ]
}
