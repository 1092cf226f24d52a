//! State that the segment or the line of an item gives to it: the valves of a demolished segment may not be there.

use super::{Installation, installation_by_texts, installation_of, may_state, phrases};
use crate::graph::adjacency::NodeId;
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::graph::topology::BitSet;
use crate::value::Value;

/// Returns whether an item may not be there because its segment, its line or the line of its segment is not. An item at the
/// end of a segment may stay when the segment goes, so that it is not absent for certain.
pub(super) fn installation_by_groups(drawing: &Drawing<'_>, node: NodeId) -> Installation {
    let members = drawing.topology.absent_members.get_or_init(|| absent_members(drawing));
    if members.contains(node) { Installation::Unknown } else { Installation::Installed }
}

/// Returns the members of segments and lines that may not be there, found once per network.
fn absent_members(drawing: &Drawing<'_>) -> BitSet {
    let topology = &drawing.topology;
    let count = topology.node_count();
    let is_segment = |node: NodeId| drawing.has_type(node, Names::SegmentType);
    let may_be_absent = |node: &NodeId| {
        installation_of_group(drawing, *node) != Installation::Installed
            && (is_segment(*node) || drawing.has_type(*node, Names::LineType))
    };
    let absent = BitSet::from_indices(count, (0..count as NodeId).filter(may_be_absent));
    if absent.is_empty() {
        return absent;
    }
    let members_of = |groups: &BitSet| {
        let members = topology.memberships().filter(|(group, _)| groups.contains(*group));
        members.map(|(_, member)| member).collect::<Vec<NodeId>>()
    };
    let of_groups = members_of(&absent);
    let segments = of_groups.iter().copied().filter(|member| is_segment(*member));
    let of_segments = members_of(&BitSet::from_indices(count, segments));
    let naming = (0..count as NodeId).filter(|node| names_group(drawing, *node, &absent));
    BitSet::from_indices(count, of_groups.into_iter().chain(of_segments).chain(naming))
}

/// Returns whether an item names one of some lines and segments in a field, by its id or its tag.
fn names_group(drawing: &Drawing<'_>, node: NodeId, groups: &BitSet) -> bool {
    let find = |name: Value<'_>| drawing.by_id(name).or_else(|| drawing.first_by_tag(name.as_str()?));
    let mut names = [Names::Line, Names::Segment].into_iter().filter_map(|names| drawing.node_field(node, names));
    names.any(|name| find(name).is_some_and(|group| group != node && groups.contains(group)))
}

fn installation_of_group(drawing: &Drawing<'_>, group: NodeId) -> Installation {
    let fields = drawing.node(group);
    let by_texts = installation_by_texts(drawing, fields, phrases::installation_by_text);
    match may_state(fields, drawing.topology.state_names()) {
        true => installation_of(drawing, fields, phrases::installation_by_text).max(by_texts),
        false => by_texts,
    }
}
