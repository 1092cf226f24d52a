//! Equipment of a volume that may be drawn a second time, on the same sheet or on another one.

use hashbrown::HashSet;

use super::Isolation;
use super::equipment_tags::equipment_tags;
use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NodeId};
use crate::graph::config::{MAX_CLASS, Names};
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::snake_case::snake_case;
use crate::graph::topology::equipment_tags::EquipmentTags;
use crate::graph::topology::{Direction, EdgeFilter, EdgeFlags};
use crate::graph::vocabulary;
use crate::graph::walk::Visitor;
use crate::pid::ChargeFn;
use crate::pid::stated_values::stated_fields;
use crate::value::{Value, write};

impl Isolation<'_, '_> {
    /// Finds other equipment with pipes and the tag of equipment inside the volume: it may be the same, drawn twice or on
    /// two sheets, and then its pipes are branches too.
    pub(super) fn find_other_drawings<V: Visitor>(&mut self, visitor: &mut V) -> Result<()> {
        let topology = &self.drawing.topology;
        let inside: HashSet<NodeId> = self.inside.iter().copied().collect();
        let has_pipe = |node: NodeId| topology.flow_degree(node) > 0;
        let is_piped = |node: NodeId| has_pipe(node) || topology.ports.nodes(node).iter().any(|port| has_pipe(*port));
        let is_equipment = |node: NodeId| topology.roles[node as usize] == Role::Equipment;
        let by_tag = equipment_tags(self.drawing, &mut |units| visitor.charge(units))?;
        for node in self.inside.clone().into_iter().filter(|node| is_equipment(*node)) {
            let same = with_same_tag(self.drawing, node, &by_tag, &mut |units| visitor.charge(units))?;
            if same.iter().any(|other| !inside.contains(other) && is_piped(*other)) {
                self.note("same_tag", node);
            }
        }
        Ok(())
    }
}

/// Returns the other equipment with the tag of equipment that may be the same.
pub(super) fn with_same_tag(
    drawing: &Drawing<'_>,
    node: NodeId,
    by_tag: &EquipmentTags,
    charge: ChargeFn<'_>,
) -> Result<Vec<NodeId>> {
    let same = drawing.tag(node).map_or(&[][..], |tag| by_tag.equipment(tag));
    charge(1 + same.len() as u64)?;
    let mut found = Vec::new();
    for other in same.iter().copied().filter(|other| *other != node) {
        let is_drive = drawing.class_has_word(other, vocabulary::PRIME_MOVERS);
        if !is_drive && !differ(drawing, [node, other], charge)? {
            found.push(other);
        }
    }
    Ok(found)
}

/// Returns whether the drawing states that two items with one tag are different ones: by tags that are unique in the
/// plant, by parts of the plant in each of which tags are counted, or since only one of them is a machine.
///
/// The area of a sheet does not tell them apart: equipment may be shown again on the sheet of another area.
fn differ(drawing: &Drawing<'_>, pair: [NodeId; 2], charge: ChargeFn<'_>) -> Result<bool> {
    let [node, other] = pair;
    let is_other = |values: [Option<Value<'_>>; 2]| match values {
        [Some(one), Some(two)] => write::to_string(one) != write::to_string(two),
        _ => false,
    };
    if is_other(pair.map(|node| drawing.node_field(node, Names::QualifiedTag)))
        || drawing.is_machine(node) != drawing.is_machine(other)
    {
        return Ok(true);
    }
    let (holders, other_holders) = (holders(drawing, node, charge)?, holders(drawing, other, charge)?);
    let value = |holders: &[NodeId], name: &str| holders.iter().find_map(|node| own_value(drawing.node(*node), name));
    Ok(vocabulary::PARTS_OF_PLANT.iter().any(|name| is_other([value(&holders, name), value(&other_holders, name)])))
}

/// Returns an item and what it belongs to, whose fields are its own: the equipment and the groups. A line leads from one
/// unit to another, so that its unit is not that of an item in it.
fn holders(drawing: &Drawing<'_>, node: NodeId, charge: ChargeFn<'_>) -> Result<Vec<NodeId>> {
    const MAX_HOLDERS: usize = 4;
    let topology = &drawing.topology;
    let is_line =
        |node: NodeId| [Names::LineType, Names::SegmentType].iter().any(|types| drawing.has_type(node, *types));
    let [down, up] = [Direction::Down, Direction::Up].map(|side| topology.table(EdgeFilter::All, side));
    let has = |edge: EdgeId, flag: EdgeFlags| topology.edge_flags[edge as usize].contains(flag);
    let mut holders = vec![node];
    while let Some(last) = holders.last().copied().filter(|_| holders.len() < MAX_HOLDERS) {
        charge(1 + (down.degree(last) + up.degree(last)) as u64)?;
        let wholes = up.arcs(last).filter(|(_, edge)| has(*edge, EdgeFlags::MEMBER) || has(*edge, EdgeFlags::PART));
        let groups = down.arcs(last).filter(|(_, edge)| has(*edge, EdgeFlags::MEMBER_REVERSED));
        let by_edge = wholes.chain(groups).map(|(whole, _)| whole);
        let by_field = topology.owner(last).into_iter().chain(topology.field_group(last));
        let mut all = by_field.chain(by_edge).filter(|whole| !is_line(*whole) && !holders.contains(whole));
        let Some(whole) = all.next() else { break };
        holders.push(whole);
    }
    Ok(holders)
}

/// Returns a field or an attribute of an item by its name in snake_case.
fn own_value<'a>(fields: Value<'a>, name: &str) -> Option<Value<'a>> {
    let mut entries = fields.as_object().into_iter().flat_map(stated_fields);
    entries.find(|(key, _)| key.len() <= MAX_CLASS && snake_case(key) == name).map(|(_, stated)| stated.value)
}
