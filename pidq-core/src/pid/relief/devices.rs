//! Relief devices of a drawing: those by their class, and valves that only their tag calls one.
//!
//! A tag such as `PSV-101` on a valve of another class, or of none, may be right or wrong. What such a valve protects is
//! shown, so that it is not overlooked, and nothing about it is certain.

use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::config::{MAX_CLASS, Names};
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::snake_case::snake_case;
use crate::graph::vocabulary;
use crate::pid::ChargeFn;
use crate::pid::quantity::{self, Pressure, PressureDefaults, Reference};
use crate::pid::stated_values::{stated_fields, stated_values};
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
        // `locked closed during start-up`
        let is_of_statement = |word: &&str| !vocabulary::TIMES.contains(word);
        let words = || {
            let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
            words.take_while(is_of_statement)
        };
        let is_known =
            |word: &str| vocabulary::CLOSED_OFF.contains(&word) || vocabulary::CLOSED_OFF_ATTRIBUTES.contains(&word);
        // A bypass that is open at times takes nothing away.
        let has_time = text.split(|c: char| !c.is_alphanumeric()).any(|word| vocabulary::TIMES.contains(&word));
        let is_closed_off =
            |word: &str| vocabulary::CLOSED_OFF.contains(&word) && !(has_time && word.starts_with("bypass"));
        words().all(is_known) && words().any(is_closed_off) && text != "closed"
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
    let described = || {
        let names = [Names::Description, Names::Service, Names::Remarks];
        names.into_iter().flat_map(|names| texts(drawing, device, names)).map(snake_case)
    };
    let is_tagged =
        || drawing.tag(device).and_then(Tag::parse).is_some_and(|tag| matches!(&*tag.letters, "VRV" | "VSV"));
    drawing.class_has(device, vocabulary::VACUUM_ONLY)
        || described().any(|text| vocabulary::VACUUM_ONLY.iter().any(|words| text.contains(words)))
        || is_tagged()
        || is_set_to_vacuum(drawing, device)
}

/// Returns whether the set pressure of a relief device is below that of the atmosphere: a negative one, an absolute one
/// below an atmosphere, one with the word vacuum, or only a setting of a vacuum.
fn is_set_to_vacuum(drawing: &Drawing<'_>, device: NodeId) -> bool {
    const ATMOSPHERE: f64 = 1.013;
    let holder = drawing.node(device);
    let stated = stated_values(drawing, holder, [Names::SetPressure], &mut |_| Ok(())).unwrap_or_default();
    let [Some(set_pressure)] = stated else {
        let mut fields = holder.as_object().into_iter().flat_map(stated_fields);
        return fields.any(|(name, _)| {
            name.len() <= MAX_CLASS && vocabulary::contains_plain(vocabulary::VACUUM_SETTINGS, name.trim())
        });
    };
    let names_vacuum = |text: &str| {
        let text = text.to_lowercase();
        text.split(|c: char| !c.is_alphanumeric()).any(|word| vocabulary::VACUUM_WORDS.contains(&word))
    };
    let number = quantity::number_and_unit(&set_pressure).ok().map(|(number, _)| number);
    let pressure = quantity::pressure(Some(&set_pressure), PressureDefaults::default()).ok();
    let is_below_atmosphere = |found: Pressure| found.reference == Reference::Absolute && found.value < ATMOSPHERE;
    number.is_some_and(|number| number < 0.0)
        || pressure.is_some_and(is_below_atmosphere)
        || set_pressure.value.as_str().is_some_and(names_vacuum)
        || set_pressure.unit.as_deref().is_some_and(names_vacuum)
}

/// Returns whether a relief device lets something in too: a vacuum breaker, or a breather valve.
pub(crate) fn may_open_inwards(drawing: &Drawing<'_>, device: NodeId) -> bool {
    drawing.class_has(device, vocabulary::BREATHING) || opens_inwards(drawing, device)
}
