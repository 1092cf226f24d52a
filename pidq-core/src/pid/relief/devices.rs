//! Relief devices of a drawing: those by their class, and valves that only their tag calls one.
//!
//! A tag such as `PSV-101` on a valve of another class, or of none, may be right or wrong. What such a valve protects is
//! shown, so that it is not overlooked, and nothing about it is certain.

use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::snake_case::snake_case;
use crate::graph::vocabulary;
use crate::pid::ChargeFn;
use crate::pid::quantity;
use crate::pid::stated_values::stated_values;
use crate::pid::tag::Tag;
use crate::pid::valve_state::{is_locked_closed, texts};

/// Source of the statement that an item is a relief device.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum StatedBy {
    Class,
    /// The letters of its tag alone.
    Tag,
}

/// Returns the relief devices in document order, and what states each.
pub(crate) fn devices(drawing: &Drawing<'_>, charge: ChargeFn<'_>) -> Result<Vec<(NodeId, StatedBy)>> {
    let topology = &drawing.topology;
    charge(topology.node_count() as u64)?;
    let stated_by = |node: NodeId| match topology.roles[node as usize] {
        Role::Relief => Some(StatedBy::Class),
        _ => is_device_by_tag(drawing, node).then_some(StatedBy::Tag),
    };
    let nodes = 0..topology.node_count() as u32;
    Ok(nodes.filter_map(|node| Some((node, stated_by(node)?))).collect())
}

/// Returns whether only the tag of a valve says that it is a relief device, such as that of `PSV-1` of unknown class.
pub(crate) fn is_device_by_tag(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let topology = &drawing.topology;
    matches!(topology.roles[node as usize], Role::None | Role::Barrier)
        && topology.flow_degree(node) > 0
        && drawing.tag(node).and_then(Tag::parse).is_some_and(|tag| vocabulary::RELIEF_LETTERS.contains(&&*tag.letters))
}

/// Returns whether a remark or a label of a relief device says that it is isolated or bypassed, or its lock that it is closed.
/// That it is closed is the position of a device that has not opened, and says nothing.
pub(crate) fn is_closed_off(drawing: &Drawing<'_>, device: NodeId) -> bool {
    let says_closed_off = |text: &str| {
        let text = snake_case(text);
        let words = || text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let is_known =
            |word: &str| vocabulary::CLOSED_OFF.contains(&word) || vocabulary::CLOSED_OFF_ATTRIBUTES.contains(&word);
        words().all(is_known) && words().any(|word| vocabulary::CLOSED_OFF.contains(&word)) && text != "closed"
    };
    is_locked_closed(drawing, device)
        || [Names::Remarks, Names::Description].iter().any(|names| texts(drawing, device, *names).any(says_closed_off))
}

/// Returns whether a relief device lets air in only, and relieves no overpressure: a vacuum breaker by its class, its
/// description or the letters of its tag, or any device that is set to a vacuum. A breather valve opens in both directions.
pub(crate) fn opens_inwards(drawing: &Drawing<'_>, device: NodeId) -> bool {
    if drawing.class_has(device, vocabulary::BREATHING) {
        return false;
    }
    let described = || texts(drawing, device, Names::Description).map(snake_case);
    let is_tagged =
        || drawing.tag(device).and_then(Tag::parse).is_some_and(|tag| matches!(&*tag.letters, "VRV" | "VSV"));
    let is_set_to_vacuum = || {
        let stated = stated_values(drawing, drawing.node(device), [Names::SetPressure], &mut |_| Ok(()));
        let [set_pressure] = stated.unwrap_or_default();
        let number = set_pressure.and_then(|stated| Some(quantity::number_and_unit(&stated).ok()?.0));
        number.is_some_and(|number| number < 0.0)
    };
    drawing.class_has(device, vocabulary::VACUUM_ONLY)
        || described().any(|text| vocabulary::VACUUM_ONLY.iter().any(|words| text.contains(words)))
        || is_tagged()
        || is_set_to_vacuum()
}

/// Returns whether a relief device lets something in too: a vacuum breaker, or a breather valve.
pub(crate) fn may_open_inwards(drawing: &Drawing<'_>, device: NodeId) -> bool {
    drawing.class_has(device, vocabulary::BREATHING) || opens_inwards(drawing, device)
}
