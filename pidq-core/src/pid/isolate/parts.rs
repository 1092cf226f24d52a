//! Parts of equipment that are open to it: nozzles, boots, chambers and sections, however the drawing ties them to it.
//!
//! A part by an edge of any kind for parts or members, by a field, or only by its tag is taken as open to its equipment: a
//! wall between them is not stated. An assembly, such as a package unit, is no body of its own, so its parts are
//! not open to each other by it; a drive is not open to what it drives.

use hashbrown::{HashMap, HashSet};

use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::topology::EdgeFlags;
use crate::graph::vocabulary;
use crate::pid::ChargeFn;

/// Parts by equipment, and the equipment by part.
#[derive(Debug, Default)]
pub(super) struct Parts {
    parts: HashMap<NodeId, Vec<NodeId>>,
    wholes: HashMap<NodeId, Vec<NodeId>>,
    /// Nozzles that belong to equipment only by their tag.
    by_tag: HashSet<NodeId>,
}

impl Parts {
    pub fn collect(drawing: &Drawing<'_>, charge: ChargeFn<'_>) -> Result<Parts> {
        let topology = &drawing.topology;
        charge((topology.edge_count() + topology.node_count()) as u64)?;
        let mut found = Parts::default();
        for edge in topology.edges_of(EdgeFlags::PART) {
            let [whole, part] = topology.ends[edge as usize];
            found.add(drawing, whole, part);
        }
        for (whole, part) in topology.memberships() {
            found.add(drawing, whole, part);
        }
        for node in 0..topology.node_count() as u32 {
            let parent = drawing.node_field(node, Names::Parent).and_then(|parent| drawing.by_id(parent));
            if let Some(parent) = parent {
                found.add(drawing, parent, node);
            }
            if topology.roles[node as usize] == Role::Port && !found.wholes.contains_key(&node) {
                for equipment in equipment_by_tag(drawing, node, charge)? {
                    found.by_tag.insert(node);
                    found.add(drawing, equipment, node);
                }
            }
        }
        Ok(found)
    }

    fn add(&mut self, drawing: &Drawing<'_>, whole: NodeId, part: NodeId) {
        if whole == part || !is_body(drawing, whole) || !can_be_part(drawing, part) {
            return;
        }
        let parts = self.parts.entry(whole).or_default();
        if !parts.contains(&part) {
            parts.push(part);
            self.wholes.entry(part).or_default().push(whole);
        }
    }

    /// Returns the parts of equipment, and their parts, that have pipes or nozzles.
    pub fn open_to(&self, drawing: &Drawing<'_>, equipment: NodeId, charge: ChargeFn<'_>) -> Result<Vec<NodeId>> {
        let all = follow(equipment, |node| self.parts.get(&node).map_or(&[][..], Vec::as_slice).to_vec(), charge)?;
        let topology = &drawing.topology;
        let is_owned = |node: NodeId| topology.owner(node) == Some(equipment);
        let has_pipes = |node: NodeId| topology.flow_degree(node) > 0 || topology.ports.degree(node) > 0;
        let is_nozzle = |node: NodeId| topology.roles[node as usize] == Role::Port;
        Ok(all.into_iter().filter(|node| !is_owned(*node) && (is_nozzle(*node) || has_pipes(*node))).collect())
    }

    /// Returns the equipment that a part is open to.
    pub fn wholes_of(&self, drawing: &Drawing<'_>, part: NodeId, charge: ChargeFn<'_>) -> Result<Vec<NodeId>> {
        let is_open = |node: NodeId| !drawing.class_has_word(node, vocabulary::PRIME_MOVERS);
        let is_assembly = |node: NodeId| drawing.class_has_word(node, vocabulary::ASSEMBLIES);
        let next = |node: NodeId| {
            let wholes = self.wholes.get(&node).filter(|_| is_open(node)).map_or(&[][..], Vec::as_slice);
            wholes.iter().copied().filter(|whole| !is_assembly(*whole)).collect()
        };
        let all = follow(part, next, charge)?;
        Ok(all.into_iter().filter(|node| drawing.topology.roles[*node as usize] == Role::Equipment).collect())
    }

    /// Returns whether a nozzle belongs to its equipment only by its tag.
    pub fn is_by_tag(&self, node: NodeId) -> bool {
        self.by_tag.contains(&node)
    }
}

/// Returns what is reached from a node, without it, each once, in order.
fn follow(start: NodeId, next: impl Fn(NodeId) -> Vec<NodeId>, charge: ChargeFn<'_>) -> Result<Vec<NodeId>> {
    let mut seen: HashSet<NodeId> = [start].into();
    let mut found = vec![start];
    let mut at = 0;
    while let Some(node) = found.get(at).copied() {
        let nodes = next(node);
        charge(1 + nodes.len() as u64)?;
        found.extend(nodes.into_iter().filter(|node| seen.insert(*node)));
        at += 1;
    }
    found.remove(0);
    Ok(found)
}

/// Returns whether a node can have parts that are open to it: equipment, or a part of it without a role.
fn is_body(drawing: &Drawing<'_>, node: NodeId) -> bool {
    match drawing.topology.roles[node as usize] {
        Role::Equipment => true,
        Role::None => !is_group(drawing, node) && drawing.topology.flow_degree(node) == 0,
        _ => false,
    }
}

/// Returns whether a node can be a part of equipment that is open to it. Valves, instruments and the items of pipes are
/// none.
fn can_be_part(drawing: &Drawing<'_>, node: NodeId) -> bool {
    match drawing.topology.roles[node as usize] {
        Role::Equipment | Role::Port => true,
        Role::None => !is_group(drawing, node),
        _ => false,
    }
}

fn is_group(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let types = drawing.topology.config.names(Names::NodeType).iter();
    let object = drawing.node(node).as_object();
    let mut words = types.filter_map(|name| object?.get(name)?.as_str());
    [Names::LineType, Names::SegmentType, Names::LoopType].iter().any(|types| drawing.has_type(node, *types))
        || words.any(|word| vocabulary::contains(vocabulary::GROUP_TYPES, word))
}

/// Returns the equipment whose tag begins the tag of a nozzle, such as `V-1` for `V-1-N2`, `V-1/N2` and `V-1.N2`.
fn equipment_by_tag(drawing: &Drawing<'_>, nozzle: NodeId, charge: ChargeFn<'_>) -> Result<Vec<NodeId>> {
    let own_tag = drawing.tag(nozzle);
    let qualified_tag = drawing.qualified_tag(nozzle);
    let Some(text) = qualified_tag.as_deref().or(own_tag) else { return Ok(Vec::new()) };
    let is_separator = |c: char| matches!(c, '-' | '/' | '.' | ':' | '_' | ' ');
    let by_own_tag = own_tag.and_then(|tag| text.strip_suffix(tag)).map(|rest| rest.trim_end_matches(is_separator));
    let by_separator = text.rfind(is_separator).map(|at| text[..at].trim_end_matches(is_separator));
    let Some(tag) = by_own_tag.filter(|tag| !tag.is_empty()).or(by_separator) else { return Ok(Vec::new()) };
    let mut nodes = drawing.by_tag(tag);
    charge(1 + nodes.len() as u64)?;
    nodes.retain(|node| drawing.topology.roles[*node as usize] == Role::Equipment);
    Ok(nodes)
}
