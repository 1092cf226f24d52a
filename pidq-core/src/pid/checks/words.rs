//! Checks of the types and classes of nodes and edges.

use hashbrown::HashMap;

use super::Checker;
use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NodeId};
use crate::graph::config::Names;
use crate::graph::roles::Role;
use crate::graph::topology::EdgeFlags;
use crate::graph::vocabulary;
use crate::pid::ChargeFn;
use crate::pid::lists::is_component;
use crate::value::Value;

/// Reports each unknown word once, with its count and first occurrence.
fn unknown_words(checker: &mut Checker<'_, '_>, subject: &str, words: Vec<(String, u32)>, count_nodes: bool) {
    let mut indices: HashMap<String, usize> = HashMap::new();
    let mut counts: Vec<(String, u32, usize)> = Vec::new();
    for (word, first) in words {
        let at = *indices.entry(word.clone()).or_insert(counts.len());
        match counts.get_mut(at) {
            Some((_, _, count)) => *count += 1,
            None => counts.push((word, first, 1)),
        }
    }
    for (word, first, count) in counts {
        let times = if count > 1 { format!(" ({count} times)") } else { String::new() };
        let message = format!("{subject} `{word}` is unknown{times}");
        let (nodes, edges) = if count_nodes { (vec![first], vec![]) } else { (vec![], vec![first]) };
        checker.report(message, &nodes, &edges);
    }
}

pub(super) fn unknown_node_types(checker: &mut Checker<'_, '_>, charge: ChargeFn<'_>) -> Result<()> {
    const ACCEPTED_TYPES: &[&str] = &["pid_component", "annotation"];
    charge(checker.nodes().len() as u64)?;
    let drawing = checker.drawing;
    let types = [Names::LineType, Names::SegmentType, Names::LoopType];
    let is_known = |word: &str| {
        ACCEPTED_TYPES.contains(&word)
            || vocabulary::contains(vocabulary::GROUP_TYPES, word)
            || types.iter().any(|names| drawing.topology.config.contains(*names, word))
    };
    let words = checker.nodes().filter_map(|node| Some((drawing.node_field(node, Names::NodeType)?.as_str()?, node)));
    let unknown = words.filter(|(word, node)| !is_known(word) && drawing.topology.roles[*node as usize] == Role::None);
    let unknown = unknown.map(|(word, node)| (word.to_owned(), node)).collect();
    unknown_words(checker, "the node type", unknown, true);
    Ok(())
}

pub(super) fn unknown_edge_types(checker: &mut Checker<'_, '_>, charge: ChargeFn<'_>) -> Result<()> {
    charge(checker.edges().len() as u64)?;
    let drawing = checker.drawing;
    let unknown =
        checker.edges().filter(|edge| drawing.topology.edge_flags[*edge as usize].contains(EdgeFlags::UNKNOWN));
    let kind =
        |edge: EdgeId| drawing.edge_field(edge, Names::EdgeKind).and_then(Value::as_str).unwrap_or("").to_owned();
    let unknown = unknown.map(|edge| (kind(edge), edge)).collect();
    unknown_words(checker, "the edge type", unknown, false);
    Ok(())
}

/// Reports a drawing with pipes or signals in which no item has a known class: its lists and reports are empty or uncertain.
pub(super) fn no_known_class(checker: &mut Checker<'_, '_>, charge: ChargeFn<'_>) -> Result<()> {
    charge(checker.nodes().len() as u64)?;
    let drawing = checker.drawing;
    let topology = &drawing.topology;
    let is_known = |node: NodeId| {
        topology.roles[node as usize] != Role::None
            || drawing.class_texts(node).any(|class| topology.config.knows_class(class))
    };
    if topology.edge_count() > 0 && !checker.nodes().any(is_known) {
        checker.report("no item has a known class: reports that go by class are empty or uncertain", &[], &[]);
    }
    Ok(())
}

pub(super) fn unknown_classes(checker: &mut Checker<'_, '_>, charge: ChargeFn<'_>) -> Result<()> {
    charge(checker.nodes().len() as u64)?;
    let drawing = checker.drawing;
    let is_unknown = |node: &NodeId| {
        drawing.topology.roles[*node as usize] == Role::None
            && is_component(drawing, *node)
            && drawing.passage(*node).is_none()
    };
    let unknown = checker.nodes().filter(is_unknown).filter_map(|node| Some((drawing.class(node)?.to_owned(), node)));
    let unknown = unknown.collect();
    unknown_words(checker, "the class", unknown, true);
    Ok(())
}
