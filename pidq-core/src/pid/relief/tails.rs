//! Tails of outlets: from an item on, the only way to an end. Devices that discharge into one header share them.
//!
//! Each item of a header is visited once, whatever the number of devices. What a search from a device would find past
//! branches, or only by concessions, is not kept here.

use hashbrown::{HashMap, HashSet};

use super::copy_cost;
use super::items::{Flow, cause_at, port_cause};
use super::paths::Search;
use super::protected::{EquipmentSide, may_block};
use super::way_out::{OpenDevice, WayOut};
use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NONE, NodeId};
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter};
use crate::pid::ChargeFn;
use crate::pid::valve_state::pipes::{PipeState, pipe_state};

/// Tails of a drawing that have been needed so far.
#[derive(Default)]
pub(crate) struct Tails {
    /// By item: its tail; `None` if more than one way leads on, or none to an end.
    known: HashMap<NodeId, Option<Tail>>,
    lists: Vec<List>,
    /// By side of equipment that takes in what is relieved: its way out.
    pub(super) ways_out: HashMap<EquipmentSide, WayOut>,
    /// By relief device of such equipment; `None` if it is blocked.
    pub(super) open_devices: HashMap<NodeId, Option<OpenDevice>>,
    /// True to keep no tail, so that each device is searched by itself.
    #[cfg(test)]
    is_disabled: bool,
}

#[derive(Clone, Copy)]
struct Tail {
    end: NodeId,
    /// The number of items up to the end.
    length: usize,
    /// The first item from here on that may matter to a relief path; `NONE` if there is none.
    notable: NodeId,
    list: usize,
    at: usize,
}

/// Items in a row, and the item of another list with which they continue.
struct List {
    items: Vec<NodeId>,
    rest: NodeId,
}

/// A way to an end that no item of it avoids.
pub(super) struct Way {
    /// From the first item to the end.
    pub path: Vec<NodeId>,
    /// Positions in it of the items that may close the way, or be unknown. Ascending.
    pub notable: Vec<usize>,
}

impl Tails {
    /// Returns the only way from the first item of an outlet along the flow, past neither other devices nor bleeds.
    /// `others` are the other neighbors of the device, which a way does not enter.
    pub(super) fn way(
        &mut self,
        drawing: &Drawing<'_>,
        first: NodeId,
        others: &HashSet<NodeId>,
        charge: ChargeFn<'_>,
    ) -> Result<Option<Way>> {
        #[cfg(test)]
        if self.is_disabled {
            return Ok(None);
        }
        let Some(tail) = self.tail(drawing, first, charge)? else { return Ok(None) };
        charge(others.len() as u64)?;
        let ends_there = |other: &NodeId| self.known.get(other).copied().flatten().is_some_and(|at| at.end == tail.end);
        // Another neighbor may be on the way.
        if others.iter().any(|other| *other != first && ends_there(other)) {
            return Ok(None);
        }
        let mut notable = Vec::new();
        let mut next = tail.notable;
        while let Some(known) = self.known.get(&next).copied().flatten() {
            charge(1)?;
            notable.push(tail.length - known.length);
            let following = known.at + 1;
            let after = self.lists[known.list].items.get(following).copied().unwrap_or(self.lists[known.list].rest);
            next = self.known.get(&after).copied().flatten().map_or(NONE, |tail| tail.notable);
        }
        Ok(Some(Way { path: self.path(tail, charge)?, notable }))
    }

    fn path(&self, tail: Tail, charge: ChargeFn<'_>) -> Result<Vec<NodeId>> {
        let mut path = Vec::with_capacity(tail.length);
        let mut part = Some(tail);
        while let Some(tail) = part {
            let list = &self.lists[tail.list];
            charge(copy_cost(list.items.len() - tail.at))?;
            path.extend_from_slice(&list.items[tail.at..]);
            part = self.known.get(&list.rest).copied().flatten();
        }
        Ok(path)
    }

    /// Returns the tail of an item, and keeps those of all items behind it.
    fn tail(&mut self, drawing: &Drawing<'_>, first: NodeId, charge: ChargeFn<'_>) -> Result<Option<Tail>> {
        let none = HashSet::new();
        let search = Search::new(drawing, &none).towards(Direction::Down);
        let (mut items, mut node) = (Vec::new(), first);
        let rest = loop {
            charge(1)?;
            if let Some(known) = self.known.get(&node) {
                break known.map(|_| node);
            }
            // Until its tail is found: a way that comes back to it has none.
            self.known.insert(node, None);
            items.push(node);
            if search.is_end(node) {
                break Some(NONE);
            }
            let is_relief = drawing.topology.roles[node as usize] == Role::Relief;
            let next = if is_relief { Vec::new() } else { search.continuations(node, charge)? };
            let [only] = next.as_slice() else { break None };
            node = *only;
        };
        let Some(rest) = rest else { return Ok(None) };
        self.add_list(drawing, items, rest, charge)?;
        Ok(self.known.get(&first).copied().flatten())
    }

    fn add_list(
        &mut self,
        drawing: &Drawing<'_>,
        items: Vec<NodeId>,
        rest: NodeId,
        charge: ChargeFn<'_>,
    ) -> Result<()> {
        let after = self.known.get(&rest).copied().flatten();
        let mut notable = after.map_or(NONE, |tail| tail.notable);
        let end = after.map(|tail| tail.end).or(items.last().copied()).unwrap_or(NONE);
        let (list, length) = (self.lists.len(), after.map_or(0, |tail| tail.length));
        for (at, node) in items.iter().enumerate().rev() {
            charge(1)?;
            if is_notable(drawing, *node, charge)? {
                notable = *node;
            }
            let length = length + items.len() - at;
            self.known.insert(*node, Some(Tail { end, length, notable, list, at }));
        }
        self.lists.push(List { items, rest });
        Ok(())
    }
}

/// Returns whether an item or a pipe of it may close a relief path or be unknown, whatever is next to it.
fn is_notable(drawing: &Drawing<'_>, node: NodeId, charge: ChargeFn<'_>) -> Result<bool> {
    let table = drawing.topology.table(EdgeFilter::Flow, Direction::Both);
    charge(table.degree(node) as u64)?;
    // A joint may be one of different pipes, and a pipe without a direction makes a path uncertain.
    let is_notable = |pipe: &EdgeId| drawing.topology.is_joint(*pipe) || drawing.topology.is_assumed(*pipe);
    if table.edges(node).iter().any(is_notable) {
        return Ok(true);
    }
    if drawing.topology.is_equipment(node) && port_cause(drawing, [NONE, node], charge)?.is_some() {
        return Ok(true);
    }
    Ok(may_block(drawing, node)
        || table.edges(node).iter().any(|pipe| pipe_state(drawing, *pipe) != PipeState::Open)
        || drawing.topology.roles[node as usize] == Role::OneWay
        || cause_at(drawing, [NONE, node, NONE], Flow::FromDevice, charge)?.is_some())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::Tails;
    use crate::Graph;
    use crate::error::Result;
    use crate::graph::adjacency::NodeId;
    use crate::graph::bidirectional::random::Rng;
    use crate::graph::drawing::Drawing;
    use crate::graph::topology::EdgeFlags;
    use crate::limits::Limits;
    use crate::pid::Budget;
    use crate::pid::relief::paths::is_end;
    use crate::pid::relief::protected::may_block;
    use crate::pid::relief::{ReliefPath, SideKind};
    use crate::pid::reports::relief_devices::{Extent, relief_devices};

    struct Unlimited;

    impl Budget for Unlimited {
        fn charge(&mut self, _: u64) -> Result<()> {
            Ok(())
        }

        fn reserve(&mut self, _: usize) -> Result<()> {
            Ok(())
        }
    }

    /// Returns devices on a few headers, whose items are random, with some further pipes.
    fn random_plant(rng: &mut Rng) -> Graph {
        const ITEMS: &[&str] = &[
            r#""class": "pipe_tee""#,
            r#""class": "pipe_tee""#,
            r#""class": "pipe_tee""#,
            r#""class": "reducer""#,
            r#""class": "gate_valve", "normally": "locked_open""#,
            r#""class": "gate_valve", "normally": "closed""#,
            r#""class": "gate_valve""#,
            r#""class": "check_valve""#,
            r#""class": "three_way_valve""#,
            r#""class": "gadget""#,
            r#""class": "strainer", "status": "removed""#,
            r#""class": "safety_valve""#,
        ];
        const ENDS: &[&str] = &["open_end", "off_page_connector", "knock_out_drum", "tank", "pipe_cap"];
        let (count, devices) = (1 + rng.below(8), 1 + rng.below(5));
        let mut nodes: Vec<String> =
            (0..count).map(|id| format!(r#"{{"id": {id}, {}}}"#, ITEMS[rng.below(12) as usize])).collect();
        let mut pipes: Vec<(u64, u64)> = (1..count).map(|id| (id - 1, id)).collect();
        nodes.push(format!(r#"{{"id": {count}, "class": "{}"}}"#, ENDS[rng.below(5) as usize]));
        pipes.push((count - 1, count));
        for at in 0..devices {
            let [tank, device] = [count + 1 + 2 * at, count + 2 + 2 * at];
            nodes.push(format!(r#"{{"id": {tank}, "class": "vessel"}}"#));
            nodes.push(format!(r#"{{"id": {device}, "class": "safety_valve"}}"#));
            pipes.extend([(tank, device), (device, rng.below(count + 1))]);
        }
        let all = nodes.len() as u64;
        pipes.extend((0..rng.below(4)).map(|_| (rng.below(all), rng.below(all))));
        let pipes: Vec<String> = pipes.iter().map(|(from, to)| format!(r#"{{"from": {from}, "to": {to}}}"#)).collect();
        let text = format!(r#"{{"nodes": [{}], "edges": [{}]}}"#, nodes.join(","), pipes.join(","));
        Graph::from_json(text).expect("valid JSON")
    }

    fn found(drawing: &Drawing<'_>, device: NodeId, tails: &mut Tails) -> String {
        let path = ReliefPath::find(drawing, device, tails, &mut |_| Ok(())).expect("no fuel limit");
        let sides = path.sides.iter().map(|side| (side.kind, side.first, &side.shared, side.state));
        let ways = ReliefPath::side_ways(drawing, device, tails, &mut |_| Ok(())).expect("no fuel limit");
        assert!(ways.iter().map(|way| &way.shared).eq(path.sides.iter().map(|side| &side.shared)), "{device}");
        let valves = |kind: SideKind| path.valves(kind, |node| may_block(drawing, node));
        format!(
            "{ways:?} {:?} {:?} {:?} {:?} {:?}",
            sides.collect::<Vec<_>>(),
            path.state,
            path.reasons,
            valves(SideKind::Inlet),
            valves(SideKind::Outlet)
        )
    }

    /// Returns the items that the flow from a device reaches, and the equipment and ends of pipes behind them.
    fn followed(drawing: &Drawing<'_>, device: NodeId) -> (BTreeSet<NodeId>, BTreeSet<NodeId>) {
        let topology = &drawing.topology;
        let (mut items, mut ends, mut stack) = (BTreeSet::new(), BTreeSet::new(), vec![device]);
        while let Some(node) = stack.pop() {
            for pipe in topology.edges_of(EdgeFlags::FLOW) {
                let [from, to] = topology.flow_ends(pipe);
                match is_end(drawing, to) {
                    _ if from != node || to == device => {}
                    true => _ = ends.insert(topology.equipment_or_self(to)),
                    false => stack.extend(items.insert(to).then_some(to)),
                }
            }
        }
        (items, ends)
    }

    #[test]
    fn shared_tails_give_the_same_paths_as_a_search_from_each_device() {
        let mut rng = Rng(0x2545_F491_4F6C_DD1D);
        let mut used = 0;
        for _ in 0..1000 {
            let graph = random_plant(&mut rng);
            let drawing = graph.drawing(&Limits::default()).ok().flatten().expect("a drawing");
            let (mut shared, mut disabled) = (Tails::default(), Tails { is_disabled: true, ..Tails::default() });
            for device in &drawing.topology.relief_devices {
                let expected = found(&drawing, *device, &mut disabled);
                assert_eq!(found(&drawing, *device, &mut shared), expected, "{device} on {:?}", graph.root());
            }
            used += usize::from(shared.known.values().any(Option::is_some));
            let devices = relief_devices(&drawing, Extent::WithPaths, &mut Unlimited).expect("no limit");
            let mut expected: BTreeSet<NodeId> = BTreeSet::new();
            for device in &devices {
                let (items, ends) = followed(&drawing, device.node);
                expected.extend(items);
                let discharges_to: BTreeSet<NodeId> = device.discharges_to.iter().copied().collect();
                assert_eq!(discharges_to, ends, "{} on {:?}", device.node, graph.root());
            }
            let listed: BTreeSet<NodeId> = devices.iter().flat_map(|device| device.path.iter().copied()).collect();
            assert!(listed.is_superset(&expected), "{expected:?} on {:?}", graph.root());
        }
        assert!(used > 500, "{used} drawings with tails");
    }
}
