//! Uncertain connections of a volume: pipes to nowhere, edges of unknown kind, shared ids.

use hashbrown::{HashMap, HashSet};

use super::bleeds::neighbors;
use super::parts::open_ends;
use super::stated_pipes::is_end_field;
use super::{DataGap, Isolation, Uncertainty};
use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NONE, NodeId};
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::graph::index::Key;
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter, EdgeFlags};
use crate::graph::vocabulary;
use crate::graph::walk::Visitor;
use crate::pid::valve_state::unknown_edges::unknown_connections;
use crate::pid::valve_state::{is_declared, process_port_count};
use crate::pid::{ChargeFn, segments};
use crate::value::{Value, write};

impl Isolation<'_, '_> {
    /// Finds pipes at the volume, nozzles of its items and third pipes of its barriers with an end that names no node. An
    /// edge of unknown kind may be such a pipe.
    pub(super) fn find_dangling<V: Visitor>(&mut self, visitor: &mut V) -> Result<()> {
        let topology = &self.drawing.topology;
        visitor.charge(topology.dangling.len() as u64)?;
        let inside: HashSet<NodeId> = self.inside.iter().copied().collect();
        let names = self.names_of_volume(visitor)?;
        for edge in topology.dangling.iter() {
            let ends: Vec<NodeId> =
                open_ends(self.drawing, *edge).chain(possible_pipe_end(self.drawing, *edge)).collect();
            let end = match ends.iter().copied().find(|end| inside.contains(end)) {
                None => self.open_barrier_at(&ends, visitor)?.or_else(|| named_end(self.drawing, *edge, &names)),
                end => end,
            };
            self.gaps.extend(end.map(|node| DataGap { kind: "dangling_edge", at: node, edge: *edge }));
        }
        Ok(())
    }

    /// Returns the items of the volume by their ids and tags in lower case, if a pipe of the drawing has an end that names no
    /// node.
    fn names_of_volume<V: Visitor>(&self, visitor: &mut V) -> Result<HashMap<String, NodeId>> {
        let mut names = HashMap::new();
        if self.drawing.topology.dangling.is_empty() {
            return Ok(names);
        }
        visitor.charge(self.inside.len() as u64)?;
        let table = self.drawing.topology.table(EdgeFilter::Flow, Direction::Both);
        for node in self.inside.iter().copied() {
            let own = [self.drawing.id(node).as_str(), self.drawing.tag(node)];
            visitor.charge(table.degree(node) as u64)?;
            let of_pipes = table.edges(node).iter().flat_map(|edge| names_of_pipe(self.drawing, *edge));
            let texts = own.into_iter().flatten().chain(of_pipes.filter_map(Value::as_str));
            for text in texts {
                names.entry(text.trim().to_lowercase()).or_insert(node);
            }
        }
        Ok(names)
    }

    /// Finds pipes from a line or a segment of the volume instead of an item of it: where they branch off is not known.
    pub(super) fn find_branches_of_lines<V: Visitor>(&mut self, visitor: &mut V) -> Result<()> {
        let drawing = self.drawing;
        let table = drawing.topology.table(EdgeFilter::Flow, Direction::Both);
        let inside: HashSet<NodeId> = self.inside.iter().copied().collect();
        let mut seen = HashSet::new();
        let mut found = Vec::new();
        for node in self.inside.iter().copied() {
            visitor.charge(1 + table.degree(node) as u64)?;
            for name in table.edges(node).iter().flat_map(|edge| groups_of_pipe(drawing, *edge)) {
                if !Key::from_value(name).is_some_and(|key| seen.insert(key)) {
                    continue;
                }
                visitor.charge(1)?;
                let group = drawing.by_id(name).or_else(|| drawing.first_by_tag(name.as_str()?));
                let branch = group
                    .filter(|group| !inside.contains(group) && drawing.topology.roles[*group as usize] == Role::None);
                let edge = branch.and_then(|group| table.edges(group).first().copied());
                found.extend(edge.map(|edge| DataGap { kind: "unknown_connection", at: node, edge }));
            }
        }
        self.gaps.extend(found);
        Ok(())
    }

    /// Returns the barrier at an end of a pipe to nowhere, if it has two other pipes: the third one may be on the side of
    /// the volume.
    fn open_barrier_at<V: Visitor>(&self, ends: &[NodeId], visitor: &mut V) -> Result<Option<NodeId>> {
        let Some(node) = ends.iter().copied().find(|end| self.barrier_of.contains_key(end)) else { return Ok(None) };
        Ok(self.has_two_pipes(node, visitor)?.then_some(node))
    }

    fn has_two_pipes<V: Visitor>(&self, node: NodeId, visitor: &mut V) -> Result<bool> {
        Ok(neighbors(self.drawing, node, &mut |units| visitor.charge(units))?.len() > 1)
    }

    /// Returns the barriers with two pipes.
    fn barriers_in_line<V: Visitor>(&self, visitor: &mut V) -> Result<Vec<NodeId>> {
        let mut found = Vec::new();
        for barrier in &self.barriers {
            let node = self.steps[barrier.step as usize].node;
            if self.has_two_pipes(node, visitor)? {
                found.push(node);
            }
        }
        Ok(found)
    }

    /// Finds barriers whose pipes from the volume and to the other side are at the same one of their ports: by the drawing,
    /// the line passes beside them.
    pub(super) fn find_shared_ports<V: Visitor>(&mut self, visitor: &mut V) -> Result<()> {
        let inside: HashSet<NodeId> = self.inside.iter().copied().collect();
        for node in self.barriers_in_line(visitor)? {
            if !is_declared(self.drawing, node) && process_port_count(self.drawing, node) > 1 {
                let pipes = self.drawing.topology.table(EdgeFilter::Flow, Direction::Both).arcs(node);
                let (inner, outer): (Vec<_>, Vec<_>) = pipes.partition(|(other, _)| inside.contains(other));
                let port = |(_, edge): &(NodeId, EdgeId)| port_of(self.drawing, *edge, node);
                let inner: Vec<String> = inner.iter().filter_map(port).collect();
                if outer.iter().filter_map(port).any(|port| inner.contains(&port)) {
                    self.note("shared_port", node);
                }
            }
        }
        Ok(())
    }

    /// Finds edges of unknown kind between the volume or its barriers and other items: they may be pipes. That of a
    /// barrier with two pipes may be on the side of the volume.
    pub(super) fn find_unknown_connections<V: Visitor>(&mut self, visitor: &mut V) -> Result<()> {
        if !self.drawing.topology.all_flags.contains(EdgeFlags::UNKNOWN) {
            return Ok(());
        }
        let inside: HashSet<NodeId> = self.inside.iter().copied().collect();
        let barriers = self.barriers_in_line(visitor)?;
        let mut connected = HashSet::new();
        for node in self.inside.iter().copied().chain(barriers).collect::<Vec<NodeId>>() {
            for edge in unknown_connections(self.drawing, node, &inside, &mut |units| visitor.charge(units))? {
                self.gaps.push(DataGap { kind: "unknown_connection", at: node, edge });
                self.uncertainties.push(Uncertainty { reason: "unknown_connection", at: node, edge });
                connected.insert(node);
            }
        }
        self.gaps.retain(|gap| gap.kind != "unconnected_nozzle" || !connected.contains(&gap.at));
        Ok(())
    }

    /// Finds segments that end at the volume and of which no pipe is drawn: the drawing states their ends only.
    pub(super) fn find_undrawn_segments<V: Visitor>(&mut self, visitor: &mut V) -> Result<()> {
        let topology = &self.drawing.topology;
        if !topology.all_flags.contains(EdgeFlags::SEGMENT_END) {
            return Ok(());
        }
        for node in self.inside.clone() {
            let ports: Vec<NodeId> = std::iter::once(node).chain(topology.ports.nodes(node).iter().copied()).collect();
            let is_reached =
                |node: NodeId| self.visited.contains(&node) || self.visited.contains(&topology.equipment_or_self(node));
            let charge: ChargeFn<'_> = &mut |units| visitor.charge(units);
            let undrawn = segments::undrawn_ends(self.drawing, &ports, is_reached, charge)?;
            for (at, edge) in undrawn {
                self.gaps.push(DataGap { kind: "unknown_connection", at, edge });
            }
        }
        Ok(())
    }

    /// Finds items that share their id with another node, here or in the file that was imported: an edge may mean either of
    /// them.
    pub(super) fn find_shared_ids<V: Visitor>(&mut self, visitor: &mut V) -> Result<()> {
        let topology = &self.drawing.topology;
        let barriers = self.barriers.iter().map(|barrier| self.steps[barrier.step as usize].node);
        let nodes: Vec<NodeId> = self.inside.iter().copied().chain(barriers).collect();
        for node in nodes {
            if was_shared(self.drawing, node) {
                self.note("shared_id", node);
                continue;
            }
            let Some(key) = Key::from_value(self.drawing.id(node)) else { continue };
            let has_id = |other: NodeId| Key::from_value(self.drawing.id(other)) == Some(key);
            let count = topology.by_id(key, has_id).take(2).count();
            visitor.charge(count as u64)?;
            if count > 1 {
                self.note("shared_id", node);
            }
        }
        Ok(())
    }
}

/// Returns whether an import marked an item as one of several with its id.
fn was_shared(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let mark = drawing.node(node).as_object().and_then(|fields| fields.get(vocabulary::SHARED_ID));
    mark.is_some_and(|id| !id.is_null())
}

/// Returns the item that an end of a pipe names without being its id: with blanks or in another case, with a port as in
/// `V-1:N2`, in an object or a list, or by its tag.
fn named_end(drawing: &Drawing<'_>, edge: EdgeId, names: &HashMap<String, NodeId>) -> Option<NodeId> {
    let topology = &drawing.topology;
    let is_pipe = topology.edge_flags[edge as usize].contains(EdgeFlags::FLOW);
    let fields = drawing.edge(edge).as_object().filter(|_| is_pipe)?;
    let keys = topology.config.endpoints().iter().flatten().map(String::as_str).chain(["nodes", "endpoints"]);
    let others = fields.iter().filter(|(name, _)| is_end_field(name)).map(|(_, value)| value);
    let mut texts = Vec::new();
    keys.filter_map(|key| fields.get(key)).chain(others).for_each(|value| collect_texts(value, &mut texts));
    let find = |text: &&str| {
        let text = text.trim().to_lowercase();
        let item = text.split([':', '/', '#']).next().unwrap_or_default().trim();
        names.get(&text).or_else(|| names.get(item)).copied()
    };
    texts.iter().find_map(find)
}

/// Collects a text, those in a list, and those in an object.
fn collect_texts<'a>(value: Value<'a>, found: &mut Vec<&'a str>) {
    found.extend(value.as_str());
    found.extend(value.as_array().into_iter().flat_map(|list| list.iter()).filter_map(Value::as_str));
    found
        .extend(value.as_object().into_iter().flat_map(|object| object.iter()).filter_map(|(_, value)| value.as_str()));
}

/// Returns the known end of an edge of unknown kind to a missing node, if pipes are connected there: nozzles and items in
/// pipes. What other items refer to may be anything.
pub(in crate::pid) fn possible_pipe_end(drawing: &Drawing<'_>, edge: EdgeId) -> Option<NodeId> {
    let topology = &drawing.topology;
    let is_unknown = topology.edge_flags[edge as usize].contains(EdgeFlags::UNKNOWN);
    let end = topology.ends[edge as usize].into_iter().find(|end| *end != NONE).filter(|_| is_unknown)?;
    let role = topology.roles[end as usize];
    let is_in_pipe = topology.flow_degree(end) > 0 && !matches!(role, Role::Instrument | Role::Equipment);
    (role == Role::Port || is_in_pipe).then_some(end)
}

/// Returns the port of an item that a pipe names.
fn port_of(drawing: &Drawing<'_>, edge: EdgeId, node: NodeId) -> Option<String> {
    let is_source = drawing.topology.ends[edge as usize][0] == node;
    let port = drawing.edge(edge).as_object()?.get(if is_source { "from_port" } else { "to_port" })?;
    (!port.is_null()).then(|| write::to_string(port))
}

/// Returns the id of a pipe, and the line and the segment that it names.
fn names_of_pipe<'a>(drawing: &Drawing<'a>, edge: EdgeId) -> impl Iterator<Item = Value<'a>> {
    drawing.edge_field(edge, Names::EdgeId).into_iter().chain(groups_of_pipe(drawing, edge))
}

/// Returns the line and the segment that a pipe names.
fn groups_of_pipe<'a>(drawing: &Drawing<'a>, edge: EdgeId) -> impl Iterator<Item = Value<'a>> {
    [Names::Line, Names::Segment].into_iter().filter_map(move |names| drawing.edge_field(edge, names))
}
