//! Logic of trips without a number: a box `SIS`, a diamond `I` or a voting block between a transmitter and a valve.
//!
//! It belongs to no loop by a tag. The transmitter that feeds it is a trip then: its loop, or one of its own with the same
//! name if it also feeds a controller. Logic that several loops feed is a loop of its own with the name of the logic.

use hashbrown::HashSet;

use super::{Loop, Loops, protection, signals};
use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter, EdgeFlags};
use crate::pid::ChargeFn;
use crate::pid::instrument_class::{self, LoopFunction, Stage};
use crate::pid::tag::{Protection, Tag};

impl Loops {
    /// Makes the loops that feed logic without a number trips, or adds one for the logic.
    pub(super) fn add_untagged_logic(&mut self, drawing: &Drawing<'_>, charge: ChargeFn<'_>) -> Result<()> {
        for node in 0..drawing.topology.node_count() as u32 {
            charge(1)?;
            let Some(stated) = self.untagged_logic(drawing, node, charge)? else { continue };
            let feeders = self.feeders(drawing, node, charge)?;
            let is_passed = |at: &usize| self.list[*at].protection.is_some_and(|known| known >= stated);
            if matches!(feeders.as_slice(), [only] if is_passed(only)) {
                continue;
            }
            let mut only_measuring = Vec::new();
            for at in feeders.iter().copied() {
                charge(1 + self.list[at].members.len() as u64)?;
                only_measuring.extend(self.only_measures(drawing, at).then_some(at));
            }
            for at in only_measuring.iter().copied() {
                self.list[at].protection = self.list[at].protection.max(Some(stated));
            }
            let targets = signals::reached(drawing, node, &|next| self.of_member(next).is_empty(), charge)?;
            let acts = targets.iter().any(|target| signals::is_target(drawing, *target));
            match (only_measuring.as_slice(), feeders.as_slice()) {
                ([at], [_]) => self.add_logic(*at, node),
                // The loops of several transmitters keep their own sensors.
                (only_measuring, feeders) if acts && (only_measuring.is_empty() || feeders.len() > 1) => {
                    let name = match feeders {
                        [at] => Some(self.list[*at].name.clone()),
                        _ => drawing.tag(node).map(str::trim).filter(|tag| !tag.is_empty()).map(str::to_owned),
                    };
                    let of_feeder = || feeders.first().map(|at| self.list[*at].name.clone());
                    let name =
                        name.or_else(of_feeder).or_else(|| name_of_target(drawing, &targets)).unwrap_or_default();
                    self.list.push(Loop { node: None, name, members: Vec::new(), protection: Some(stated) });
                    self.add_logic(self.list.len() - 1, node);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns what logic of a trip that has no number and no loop states about protection.
    fn untagged_logic(&self, drawing: &Drawing<'_>, node: NodeId, charge: ChargeFn<'_>) -> Result<Option<Protection>> {
        let is_candidate = drawing.topology.roles[node as usize] == Role::Instrument
            && self.of_member(node).is_empty()
            && drawing.tag(node).and_then(Tag::parse).is_none();
        if !is_candidate {
            return Ok(None);
        }
        charge(1 + drawing.topology.table(EdgeFilter::All, Direction::Both).degree(node) as u64)?;
        let is_logic = instrument_class::stage(drawing, node) == Stage::Logic
            && !instrument_class::is_by_hand(drawing, node)
            && !instrument_class::is_display(drawing, node);
        if is_logic { protection::of_node(drawing, node, charge) } else { Ok(None) }
    }

    /// Returns the loops of the instruments whose signals lead to an item, also through others without a loop. Ascending.
    fn feeders(&self, drawing: &Drawing<'_>, node: NodeId, charge: ChargeFn<'_>) -> Result<Vec<usize>> {
        let topology = &drawing.topology;
        let table = topology.table(EdgeFilter::All, Direction::Up);
        let mut found = Vec::new();
        let mut seen: HashSet<NodeId> = [node].into_iter().collect();
        let mut queue = vec![(node, 0)];
        while let Some((item, depth)) = queue.pop() {
            charge(1 + table.degree(item) as u64)?;
            let is_signal = |edge: u32| topology.edge_flags[edge as usize].contains(EdgeFlags::SIGNAL);
            let sources = table.arcs(item).filter(|(_, edge)| is_signal(*edge)).map(|(source, _)| source);
            for source in sources.filter(|source| topology.roles[*source as usize] == Role::Instrument) {
                if !seen.insert(source) {
                    continue;
                }
                match self.of_member(source) {
                    [] if depth < signals::MAX_STEPS => queue.push((source, depth + 1)),
                    loops => found.extend(loops),
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// Returns whether all members of a loop of tags measure, show or record.
    fn only_measures(&self, drawing: &Drawing<'_>, at: usize) -> bool {
        let found = &self.list[at];
        let measures = |node: &NodeId| instrument_class::loop_function(drawing, *node) == LoopFunction::Measures;
        found.node.is_none() && found.members.iter().all(measures)
    }

    fn add_logic(&mut self, at: usize, logic: NodeId) {
        let members = &mut self.list[at].members;
        members.push(logic);
        members.sort_unstable();
        self.by_member.entry(logic).or_default().push(at);
    }
}

/// Returns the loop in the tag of the first of some items that has one.
fn name_of_target(drawing: &Drawing<'_>, targets: &[NodeId]) -> Option<String> {
    targets.iter().find_map(|target| Some(Tag::parse(drawing.tag(*target)?)?.loop_id()))
}
