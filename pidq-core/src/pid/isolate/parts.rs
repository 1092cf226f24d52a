//! Parts of equipment that are open to it: nozzles, boots, chambers and sections, however the drawing ties them to it.
//!
//! A part by an edge of any kind for parts or members, by a field, or only by its tag is taken as open to its equipment: a
//! wall between them is not stated. An assembly, such as a package unit, is no body of its own, so its parts are
//! not open to each other by it; a drive is not open to what it drives.

use hashbrown::{HashMap, HashSet};

use super::equipment_tags::equipment_tags;
use super::is_unknown;
use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NONE, NodeId};
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::graph::roles::{Passage, Role};
use crate::graph::topology::EdgeFlags;
use crate::graph::topology::equipment_tags::EquipmentTags;
use crate::graph::vocabulary;
use crate::pid::ChargeFn;
use crate::value::Value;

/// Parts by equipment, and the equipment by part.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    parts: HashMap<NodeId, Vec<NodeId>>,
    wholes: HashMap<NodeId, Vec<NodeId>>,
    /// Nozzles that belong to equipment only by their tag, or by an edge that is not for parts.
    by_tag: HashSet<NodeId>,
    /// Nodes with a pipe or a part that the drawing lacks.
    incomplete: HashSet<NodeId>,
    /// Parts by an edge that is for parts only.
    by_part_edge: HashSet<NodeId>,
    /// By equipment: valves and other items of pipes that belong to it and have one pipe.
    mounted: HashMap<NodeId, Vec<NodeId>>,
    all_mounted: HashSet<NodeId>,
    /// By equipment: relief devices, open ends, valves and connections that belong to it and have no pipe.
    unpiped: HashMap<NodeId, Vec<NodeId>>,
    /// Nozzles that name an owner that the drawing lacks.
    unknown_owner: Vec<NodeId>,
    /// Valves, relief devices and ends of pipes without a pipe, on no equipment.
    without_pipes: Vec<NodeId>,
}

impl Parts {
    pub fn collect(drawing: &Drawing<'_>, charge: ChargeFn<'_>) -> Result<Parts> {
        let topology = &drawing.topology;
        charge((topology.edge_count() + topology.node_count()) as u64)?;
        let mut found = Parts::default();
        found.incomplete.extend(topology.dangling.iter().flat_map(|edge| open_ends(drawing, *edge)));
        for edge in topology.edges_of(EdgeFlags::PART) {
            let [whole, part] = topology.ends[edge as usize];
            found.by_part_edge.insert(part);
            found.add(drawing, whole, part);
        }
        for (whole, part) in topology.memberships() {
            found.add(drawing, whole, part);
        }
        for [part, whole] in topology.named_owners.iter().copied() {
            found.add(drawing, whole, part);
        }
        for [nozzle, equipment] in topology.owners_by_tag.iter().copied() {
            found.by_tag.insert(nozzle);
            found.add(drawing, equipment, nozzle);
        }
        found.add_associated_nozzles(drawing, charge)?;
        let mut tags = None;
        for node in 0..topology.node_count() as u32 {
            if let Some(parent) = drawing.node_field(node, Names::Parent) {
                match parent_of(drawing, parent, charge)? {
                    Some(whole) => found.add(drawing, whole, node),
                    None if topology.roles[node as usize] == Role::Port => found.unknown_owner.push(node),
                    None => {}
                }
            } else if names_unknown_owner(drawing, node, charge)? {
                found.unknown_owner.push(node);
            }
            if may_be_nozzle(drawing, node) && !found.wholes.contains_key(&node) {
                let tags = match &tags {
                    Some(tags) => tags,
                    None => tags.insert(equipment_tags(drawing, charge)?),
                };
                for equipment in equipment_by_tag(drawing, node, tags) {
                    charge(1)?;
                    found.by_tag.insert(node);
                    found.add(drawing, equipment, node);
                }
            }
        }
        found.without_pipes = (0..topology.node_count() as u32).filter(|node| lacks_pipe(drawing, *node)).collect();
        found.add_named_without_pipes(drawing, charge)?;
        let on_equipment: HashSet<NodeId> = found.unpiped.values().flatten().copied().collect();
        found.without_pipes.retain(|node| !on_equipment.contains(node));
        Ok(found)
    }

    /// Adds valves, relief devices and ends of pipes without a pipe to the equipment that a field names. With a pipe, they may
    /// stand in a line of it.
    fn add_named_without_pipes(&mut self, drawing: &Drawing<'_>, charge: ChargeFn<'_>) -> Result<()> {
        for item in self.without_pipes.clone() {
            let Some(owner) = drawing.node_field(item, Names::Owner) else { continue };
            if let Some(equipment) = parent_of(drawing, owner, charge)? {
                self.add(drawing, equipment, item);
            }
        }
        Ok(())
    }

    /// Adds nozzles that only an edge for signals or members, whatever its direction, connects to equipment: nothing else can
    /// be between the two.
    fn add_associated_nozzles(&mut self, drawing: &Drawing<'_>, charge: ChargeFn<'_>) -> Result<()> {
        let topology = &drawing.topology;
        let edges = topology.edges_of(EdgeFlags::SIGNAL).chain(topology.edges_of(EdgeFlags::MEMBER));
        for edge in edges.filter(|edge| topology.has_both_ends(*edge)) {
            charge(1)?;
            let [from, to] = topology.ends[edge as usize];
            for [nozzle, equipment] in [[from, to], [to, from]] {
                let is_pair = topology.roles[nozzle as usize] == Role::Port
                    && topology.roles[equipment as usize] == Role::Equipment
                    && topology.owner(nozzle).is_none();
                if is_pair && !self.wholes.contains_key(&nozzle) {
                    self.by_tag.insert(nozzle);
                    self.add(drawing, equipment, nozzle);
                }
            }
        }
        Ok(())
    }

    fn add(&mut self, drawing: &Drawing<'_>, whole: NodeId, part: NodeId) {
        if whole == part || !is_body(drawing, whole) {
            return;
        }
        if !can_be_part(drawing, part) {
            if is_mounted(drawing, whole, part) {
                self.mounted.entry(whole).or_default().push(part);
                self.all_mounted.insert(part);
            } else if lets_out(drawing, whole, part) {
                self.unpiped.entry(whole).or_default().push(part);
            }
            return;
        }
        let parts = self.parts.entry(whole).or_default();
        if !parts.contains(&part) {
            parts.push(part);
            self.wholes.entry(part).or_default().push(whole);
        }
    }

    /// Returns the items of pipes that are mounted on equipment.
    pub fn mounted_on(&self, equipment: NodeId) -> &[NodeId] {
        self.mounted.get(&equipment).map_or(&[], Vec::as_slice)
    }

    /// Returns the relief devices, open ends, valves and connections without a pipe that belong to equipment.
    pub fn unpiped_on(&self, equipment: NodeId) -> &[NodeId] {
        self.unpiped.get(&equipment).map_or(&[], Vec::as_slice)
    }

    /// Returns the valves, relief devices and ends of pipes without a pipe that belong to no equipment.
    pub fn without_pipes(&self) -> &[NodeId] {
        &self.without_pipes
    }

    /// Returns the nozzles that name an owner that the drawing lacks.
    pub fn with_unknown_owner(&self) -> &[NodeId] {
        &self.unknown_owner
    }

    /// Returns whether an item of pipes is mounted on equipment, which is on the other side of it than its pipe.
    pub fn is_mounted(&self, item: NodeId) -> bool {
        self.all_mounted.contains(&item)
    }

    /// Returns the parts of equipment, and their parts, that have pipes or nozzles.
    pub fn open_to(&self, drawing: &Drawing<'_>, equipment: NodeId, charge: ChargeFn<'_>) -> Result<Vec<NodeId>> {
        let all = self.all_parts_of(equipment, charge)?;
        let topology = &drawing.topology;
        let is_owned = |node: NodeId| topology.owner(node) == Some(equipment);
        let has_pipes = |node: NodeId| {
            topology.flow_degree(node) > 0 || topology.ports.degree(node) > 0 || self.incomplete.contains(&node)
        };
        let is_nozzle = |node: NodeId| topology.roles[node as usize] == Role::Port;
        Ok(all.into_iter().filter(|node| !is_owned(*node) && (is_nozzle(*node) || has_pipes(*node))).collect())
    }

    /// Returns the equipment that a part is open to.
    pub fn wholes_of(&self, drawing: &Drawing<'_>, part: NodeId, charge: ChargeFn<'_>) -> Result<Vec<NodeId>> {
        let mut wholes = self.all_wholes_of(drawing, part, charge)?;
        wholes.retain(|node| drawing.topology.roles[*node as usize] == Role::Equipment);
        Ok(wholes)
    }

    /// Returns whether a nozzle belongs to equipment outside of a volume too.
    pub fn is_shared(&self, drawing: &Drawing<'_>, nozzle: NodeId, is_inside: impl Fn(NodeId) -> bool) -> bool {
        let wholes_of = |node: NodeId| self.wholes.get(&node).map_or(&[][..], Vec::as_slice).iter().copied();
        let is_body = |whole: &NodeId| {
            drawing.topology.roles[*whole as usize] == Role::Equipment
                && !drawing.class_has_word(*whole, vocabulary::ASSEMBLIES)
        };
        let mut equipment = wholes_of(nozzle).filter(is_body);
        // A section of a column that is inside is inside with it.
        equipment.clone().count() > 1 && equipment.any(|whole| !is_inside(whole) && !wholes_of(whole).any(&is_inside))
    }

    /// Returns the parts of equipment, and their parts, that may be nozzles: their class is unknown, and nothing is
    /// connected to them.
    pub fn unknown_parts_of(
        &self,
        drawing: &Drawing<'_>,
        equipment: NodeId,
        charge: ChargeFn<'_>,
    ) -> Result<Vec<NodeId>> {
        let mut all = self.all_parts_of(equipment, charge)?;
        let topology = &drawing.topology;
        let may_be_nozzle =
            |node: NodeId| topology.roles[node as usize] == Role::None && drawing.passage(node) != Some(Passage::End);
        all.retain(|node| {
            self.by_part_edge.contains(node)
                && may_be_nozzle(*node)
                && !self.parts.contains_key(node)
                && topology.flow_degree(*node) == 0
                && !drawing.class_has_word(*node, vocabulary::CHAMBERS)
                && !drawing.class_ends_with_word(*node, vocabulary::SOLID_PARTS)
        });
        Ok(all)
    }

    fn all_parts_of(&self, equipment: NodeId, charge: ChargeFn<'_>) -> Result<Vec<NodeId>> {
        follow(equipment, |node| self.parts.get(&node).map_or(&[][..], Vec::as_slice).to_vec(), charge)
    }

    /// Returns the owners of a part, direct or not, that may be equipment: their class is unknown.
    pub fn unknown_wholes_of(&self, drawing: &Drawing<'_>, part: NodeId, charge: ChargeFn<'_>) -> Result<Vec<NodeId>> {
        let mut wholes = self.all_wholes_of(drawing, part, charge)?;
        let is_place = |node: NodeId| drawing.class_ends_with_word(node, vocabulary::PLACES);
        wholes.retain(|node| is_unknown(drawing, *node) && !is_place(*node));
        Ok(wholes)
    }

    fn all_wholes_of(&self, drawing: &Drawing<'_>, part: NodeId, charge: ChargeFn<'_>) -> Result<Vec<NodeId>> {
        let is_open = |node: NodeId| !drawing.class_has_word(node, vocabulary::PRIME_MOVERS);
        let is_assembly = |node: NodeId| drawing.class_has_word(node, vocabulary::ASSEMBLIES);
        let next = |node: NodeId| {
            let wholes = self.wholes.get(&node).filter(|_| is_open(node)).map_or(&[][..], Vec::as_slice);
            wholes.iter().copied().filter(|whole| !is_assembly(*whole)).collect()
        };
        follow(part, next, charge)
    }

    /// Returns the parts, in document order.
    pub fn owned(&self) -> Vec<NodeId> {
        let mut parts: Vec<NodeId> = self.wholes.keys().copied().collect();
        parts.sort_unstable();
        parts
    }

    /// Returns the parts of equipment and the equipment it is a part of that are open to it.
    pub fn open_bodies(&self, drawing: &Drawing<'_>, equipment: NodeId, charge: ChargeFn<'_>) -> Result<Vec<NodeId>> {
        let mut bodies = self.open_parts(drawing, equipment, charge)?;
        bodies.extend(self.wholes_of(drawing, equipment, charge)?);
        Ok(bodies)
    }

    /// Returns the parts of equipment that fluid flows to and from as through its own nozzles: those that are open to it in
    /// both directions. A drive is not.
    pub fn open_parts(&self, drawing: &Drawing<'_>, equipment: NodeId, charge: ChargeFn<'_>) -> Result<Vec<NodeId>> {
        let mut open = Vec::new();
        for part in self.open_to(drawing, equipment, charge)? {
            if self.wholes_of(drawing, part, charge)?.contains(&equipment) {
                open.push(part);
            }
        }
        Ok(open)
    }

    /// Returns whether a nozzle belongs to its equipment only by its tag.
    pub fn is_by_tag(&self, node: NodeId) -> bool {
        self.by_tag.contains(&node)
    }
}

/// Returns whether another field than that of a parent names an owner of a nozzle that the drawing lacks.
fn names_unknown_owner(drawing: &Drawing<'_>, node: NodeId, charge: ChargeFn<'_>) -> Result<bool> {
    let topology = &drawing.topology;
    if topology.roles[node as usize] != Role::Port || topology.owner(node).is_some() {
        return Ok(false);
    }
    let Some(owner) = drawing.node_field(node, Names::Owner) else { return Ok(false) };
    Ok(parent_of(drawing, owner, charge)?.is_none())
}

/// Returns whether an item is a nozzle, or an item at the start of a pipe whose class leaves it open, such as
/// `piping_component.nozzle`: with the tag of a nozzle, it is one.
fn may_be_nozzle(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let topology = &drawing.topology;
    match topology.roles[node as usize] {
        Role::Port => true,
        Role::None => topology.flow_degree(node) == 1 && drawing.class_has_word(node, &["nozzle", "flange"]),
        _ => false,
    }
}

/// Returns the nodes that an edge to a missing node may open: the known end of a pipe, and equipment whose part is missing.
/// A missing group opens nothing.
pub(in crate::pid) fn open_ends(drawing: &Drawing<'_>, edge: EdgeId) -> impl Iterator<Item = NodeId> {
    let topology = &drawing.topology;
    let flags = topology.edge_flags[edge as usize];
    let [from, to] = topology.ends[edge as usize];
    let ends = match () {
        () if flags.contains(EdgeFlags::FLOW) || flags.contains(EdgeFlags::PART) => [from, to],
        () if flags.contains(EdgeFlags::MEMBER) => [from, NONE],
        () if flags.contains(EdgeFlags::MEMBER_REVERSED) => [to, NONE],
        () => [NONE; 2],
    };
    let is_member = !flags.contains(EdgeFlags::FLOW) && !flags.contains(EdgeFlags::PART);
    let opens = move |node: NodeId| node != NONE && (!is_member || is_body(drawing, node));
    ends.into_iter().filter(move |node| opens(*node))
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

/// Returns whether an item of pipes that belongs to equipment is mounted on it: it has a pipe on one side only. What belongs
/// to an assembly or to a drive is in the piping around it.
fn is_mounted(drawing: &Drawing<'_>, whole: NodeId, part: NodeId) -> bool {
    drawing.topology.roles[part as usize] != Role::OffPage
        && drawing.topology.flow_degree(part) == 1
        && !drawing.class_has_word(whole, vocabulary::ASSEMBLIES)
        && !drawing.class_has_word(whole, vocabulary::PRIME_MOVERS)
}

/// Returns whether an item without a pipe that lets something out belongs to equipment: a relief device, an open end, a valve,
/// a connection to another sheet.
fn lets_out(drawing: &Drawing<'_>, whole: NodeId, part: NodeId) -> bool {
    lacks_pipe(drawing, part)
        && !drawing.class_has_word(whole, vocabulary::ASSEMBLIES)
        && !drawing.class_has_word(whole, vocabulary::PRIME_MOVERS)
}

/// Returns whether a valve, a relief device or an end of a pipe has no pipe.
fn lacks_pipe(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let topology = &drawing.topology;
    let is_outlet = matches!(
        topology.roles[node as usize],
        Role::Relief | Role::OpenEnd | Role::Barrier | Role::Control | Role::MultiWay | Role::OneWay | Role::OffPage
    );
    is_outlet && topology.flow_degree(node) == 0
}

/// Returns the node that a field for an owner names: by its id, in an object or a list of one, or by its tag.
pub(super) fn parent_of(drawing: &Drawing<'_>, parent: Value<'_>, charge: ChargeFn<'_>) -> Result<Option<NodeId>> {
    let only = parent.as_array().filter(|list| list.len() == 1).and_then(|list| list.get(0)).unwrap_or(parent);
    let id = only.as_object().and_then(|object| object.get("id")).unwrap_or(only);
    if let Some(node) = drawing.by_id(id) {
        return Ok(Some(node));
    }
    let nodes = id.as_str().map(|tag| drawing.by_tag(tag)).unwrap_or_default();
    charge(1 + nodes.len() as u64)?;
    Ok(nodes.first().copied().filter(|_| nodes.len() == 1))
}

fn is_group(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let types = drawing.topology.config.names(Names::NodeType).iter();
    let object = drawing.node(node).as_object();
    let mut words = types.filter_map(|name| object?.get(name)?.as_str());
    [Names::LineType, Names::SegmentType, Names::LoopType].iter().any(|types| drawing.has_type(node, *types))
        || words.any(|word| vocabulary::contains(vocabulary::GROUP_TYPES, word))
}

/// Returns the equipment that the tag of a nozzle names, with or without its own number.
fn equipment_by_tag(drawing: &Drawing<'_>, nozzle: NodeId, tags: &EquipmentTags) -> Vec<NodeId> {
    let qualified_tag = drawing.qualified_tag(nozzle);
    let text = qualified_tag.as_deref().or_else(|| drawing.tag(nozzle)).unwrap_or_default();
    let of_tag =
        || drawing.tag(nozzle).and_then(|tag| text.strip_suffix(tag)).map(|rest| rest.trim_end_matches(is_separator));
    let by_own_tag = of_tag().map(|tag| tags.equipment(tag)).unwrap_or_default();
    if by_own_tag.is_empty() { tags.of_nozzle(text).to_vec() } else { by_own_tag.to_vec() }
}

fn is_separator(c: char) -> bool {
    matches!(c, '-' | '/' | '.' | ':' | '_' | ' ')
}
