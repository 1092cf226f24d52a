//! Nodes of a graph as elements of a Proteus plant model: what each is, and which other one it is a part of.

use std::collections::{HashMap, HashSet};

use pidq_core::Value;

use crate::model::{Edge, EdgeRole, Model, Node};

use super::names::text;

/// Maximum nesting of items, so that the document stays readable. Deeper parts have no owner in the document.
const MAX_NESTING: usize = 32;

/// Element by the first part of the class of a node, such as `equipment` in `equipment.tank`.
const ENTITIES: &[(&str, &str)] = &[
    ("equipment", "Equipment"),
    ("equipment_component", "Equipment"),
    ("piping_component", "PipingComponent"),
    ("valve", "PipingComponent"),
    ("fitting", "PipingComponent"),
    ("reference", "PipeOffPageConnector"),
    ("instrument", "ProcessInstrumentationFunction"),
    ("piping_network_system", "PipingNetworkSystem"),
    ("piping_network_segment", "PipingNetworkSegment"),
    ("plant_structure", "PlantStructureItem"),
];

/// Class of DEXPI of classes that it names otherwise, in snake case.
const CLASSES: &[(&str, &str)] = &[
    ("control_valve", "OperatedValve"),
    ("shut_off_valve", "OperatedValve"),
    ("safety_valve", "SpringLoadedGlobeSafetyValve"),
    ("shell_and_tube_heat_exchanger", "TubularHeatExchanger"),
    ("orifice_plate", "RestrictionOrifice"),
    ("note", "Note"),
];

/// Element of each node, and the class that its object has.
pub struct Description {
    pub element: &'static str,
    pub class: String,
}

/// Returns the description of a node.
pub fn describe(model: &Model<'_>, node: &Node<'_>) -> Description {
    let stated_class = text(Some(node.fields), "node_classification");
    // The name of a kind, such as that of a line, is no class.
    let class_name = node.class_name().filter(|name| node.kind() != Some(*name));
    let classification = stated_class.or(class_name).unwrap_or_default();
    let (entity, last) = classification.split_once('.').unwrap_or(("", classification));
    let last = last.rsplit('.').next().unwrap_or(last);
    let stated = text(Some(node.fields), "component_class");
    let class = match stated {
        Some(class) => class.to_owned(),
        None if last == "off_page_connector" => connector(node).to_owned(),
        None => CLASSES
            .iter()
            .find(|(name, _)| *name == last)
            .map_or_else(|| pascal_case(last), |(_, class)| (*class).to_owned()),
    };
    let is_type = |list: &str| node.kind().is_some_and(|kind| model.config.contains_word(list, kind));
    let lower = class.to_lowercase();
    let element = match ENTITIES.iter().find(|(name, _)| *name == entity).map(|(_, element)| *element) {
        _ if is_type("line_types") => "PipingNetworkSystem",
        _ if is_type("segment_types") => "PipingNetworkSegment",
        _ if is_type("loop_types") => "InstrumentationLoopFunction",
        Some("Equipment") if lower.ends_with("nozzle") => "Nozzle",
        Some("PipingComponent") if lower == "propertybreak" => "PropertyBreak",
        Some("PipeOffPageConnector") if lower.contains("signal") => "SignalOffPageConnector",
        Some(element) => element,
        None if lower.ends_with("nozzle") => "Nozzle",
        None if lower.contains("valve") || lower.contains("pipe") => "PipingComponent",
        None if lower == "note" => "Note",
        None => "Component",
    };
    let class = if class.is_empty() { element.to_owned() } else { class };
    Description { element, class }
}

/// Returns the class of an off-page connector by the direction of its flow.
fn connector(node: &Node<'_>) -> &'static str {
    match text(Some(node.fields), "flow").unwrap_or_default() {
        "in" => "FlowInPipeOffPageConnector",
        "out" => "FlowOutPipeOffPageConnector",
        _ => "PipeOffPageConnector",
    }
}

/// Converts `gate_valve` to `GateValve`.
fn pascal_case(name: &str) -> String {
    let words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let word = |word: &str| {
        let mut characters = word.chars();
        let first = characters.next().into_iter().flat_map(char::to_uppercase);
        first.chain(characters).collect::<String>()
    };
    words.map(word).collect()
}

/// Returns true for a node that stands for an open end, which is not an item.
pub fn is_open_end(node: &Node<'_>) -> bool {
    matches!(node.fields.get("synthetic"), Some(Value::Bool(true)))
}

/// Returns true for a signal line.
pub fn is_signal(edge: &Edge<'_>) -> bool {
    edge.role() == EdgeRole::Signal || edge.class().starts_with("signal_line")
}

/// Returns the owner of each node: the one that it names, or else the first one that has it as a part or a member.
pub fn owners(model: &Model<'_>) -> Vec<Option<usize>> {
    let by_name: HashMap<&str, usize> =
        model.nodes.iter().enumerate().map(|(index, node)| (node.name.as_str(), index)).collect();
    let is_item = |node: usize| model.nodes.get(node).is_some_and(|node| !is_open_end(node));
    let mut owners: Vec<Option<usize>> = model
        .nodes
        .iter()
        .map(|node| {
            let named = ["parent_id", "segment"].iter().find_map(|key| by_name.get(text(Some(node.fields), key)?));
            named.copied().filter(|owner| is_item(*owner))
        })
        .collect();
    for role in [EdgeRole::Part, EdgeRole::Member] {
        for edge in model.edges.iter().filter(|edge| edge.role() == role && edge.class().is_empty()) {
            let is_reversed = model.config.contains_word("member_kinds_reversed", edge.kind());
            let is_end = model.config.contains_word("segment_ends", edge.kind());
            let (Some(from), Some(to)) = (edge.from.node, edge.to.node) else { continue };
            let (owner, part) = if is_reversed { (to, from) } else { (from, to) };
            if !is_end && is_item(owner) && !is_collection(model, owner) && owners[part].is_none() {
                owners[part] = Some(owner);
            }
        }
    }
    break_cycles(&mut owners);
    owners
}

/// Returns true for a node whose members are parts of others.
fn is_collection(model: &Model<'_>, node: usize) -> bool {
    let kind = model.nodes.get(node).and_then(Node::kind).unwrap_or_default();
    model.config.contains_word("loop_types", kind)
}

/// Removes owners that are a part of what they own, and those of parts that are nested too deep.
fn break_cycles(owners: &mut [Option<usize>]) {
    // A node is at the depth of its owner plus one.
    let mut depths: Vec<Option<usize>> = vec![None; owners.len()];
    for start in 0..owners.len() {
        let mut path = Vec::new();
        let mut on_path = HashSet::new();
        let mut next = Some(start);
        while let Some(node) = next.filter(|node| depths[*node].is_none()) {
            if !on_path.insert(node) {
                break;
            }
            path.push(node);
            next = owners[node];
        }
        // Without a known depth, the path ends at a node without owner, or in a cycle.
        let mut depth = next.and_then(|node| depths[node]);
        for node in path.into_iter().rev() {
            depth = match depth {
                Some(depth) if depth < MAX_NESTING => Some(depth + 1),
                _ => {
                    owners[node] = None;
                    Some(0)
                }
            };
            depths[node] = depth;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_and_deep_nesting_have_owners_up_to_a_limit() {
        let mut owners = vec![Some(1), Some(2), Some(0), Some(0), None];
        break_cycles(&mut owners);
        assert_eq!(owners.iter().filter(|owner| owner.is_none()).count(), 2);
        let mut chain: Vec<Option<usize>> = (0..100_000_usize).map(|node| node.checked_sub(1)).collect();
        break_cycles(&mut chain);
        let mut depth = 0;
        for owner in &chain {
            depth = if owner.is_some() { depth + 1 } else { 0 };
            assert!(depth <= MAX_NESTING);
        }
        let mut own = vec![Some(0)];
        break_cycles(&mut own);
        assert_eq!(own, [None]);
    }

    #[test]
    fn classes_are_written_in_pascal_case() {
        for (name, class) in [("gate_valve", "GateValve"), ("", ""), ("3-way valve", "3WayValve")] {
            assert_eq!(pascal_case(name), class);
        }
    }
}
