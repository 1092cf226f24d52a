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
use crate::graph::topology::{Direction, EdgeFilter};
use crate::graph::vocabulary::{self, Limited, limits, text_limits};
use crate::pid::ChargeFn;
use crate::pid::quantity::{self, Pressure, PressureDefaults, Reference};
use crate::pid::stated_values::{stated_fields, stated_values};
use crate::pid::tag::Tag;
use crate::pid::valve_state::{is_locked_closed, texts};

/// Source of the statement that an item is a relief device.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum StatedBy {
    Class,
    /// A general class of fittings, without letters or a text of a relief device.
    GeneralClass,
    /// The letters of its tag alone.
    Tag,
}

/// Returns the relief devices in document order, and what states each.
pub(crate) fn devices(drawing: &Drawing<'_>, charge: ChargeFn<'_>) -> Result<Vec<(NodeId, StatedBy)>> {
    let topology = &drawing.topology;
    charge(topology.node_count() as u64)?;
    let stated_by = |node: NodeId| match topology.roles[node as usize] {
        Role::Relief if is_of_general_class(drawing, node) => stated_by_texts(drawing, node),
        Role::Relief => Some(StatedBy::Class),
        _ => is_device_by_tag(drawing, node).then_some(StatedBy::Tag),
    };
    let nodes = 0..topology.node_count() as u32;
    Ok(nodes.filter_map(|node| Some((node, stated_by(node)?))).collect())
}

/// Returns whether a device is for the expansion of a liquid in a line that is closed at both ends, by its class, its texts or
/// the letters of its tag.
pub(super) fn is_thermal(drawing: &Drawing<'_>, device: NodeId) -> bool {
    let names_it = |text: &str| vocabulary::text_has_any(&text.to_lowercase(), vocabulary::THERMAL_RELIEF_WORDS);
    let letters = || drawing.tag(device).and_then(Tag::parse_letters).map(|tag| tag.letters).unwrap_or_default();
    let mut stated = [Names::Description, Names::Service, Names::ComponentName]
        .into_iter()
        .flat_map(|names| texts(drawing, device, names).filter(|text| text.len() <= MAX_CLASS));
    drawing.class_has(device, &["thermal"])
        || vocabulary::THERMAL_RELIEF_LETTERS.contains(&&*letters())
        || stated.any(names_it)
}

/// Returns whether the only class of a relief device is one for fittings of any kind that protect: DEXPI has
/// `SafetyValveOrFitting` for those without a class, such as excess flow valves.
pub(crate) fn is_of_general_class(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let is_relief = |class: &str| drawing.topology.config.role_of(class) == Some(Role::Relief);
    let is_general = |class: &str| {
        let class = snake_case(class);
        vocabulary::GENERAL_FITTINGS.iter().any(|known| class.ends_with(known))
    };
    drawing.class_ends_with_word(node, vocabulary::GENERAL_FITTINGS)
        && drawing.class_texts(node).filter(|class| is_relief(class)).all(is_general)
}

/// Returns what states that an item of a general class is a relief device; `None` if its texts or the letters of its tag are
/// those of another fitting.
fn stated_by_texts(drawing: &Drawing<'_>, node: NodeId) -> Option<StatedBy> {
    let letters = drawing.tag(node).and_then(Tag::parse_letters).map(|tag| tag.letters).unwrap_or_default();
    let is_called = |words: &[&str]| described(drawing, node).any(|text| words.iter().any(|word| text.contains(word)));
    match () {
        () if other_fitting(drawing, node).is_some() => None,
        () if vocabulary::RELIEF_LETTERS.contains(&&*letters) => Some(StatedBy::Class),
        () if is_called(vocabulary::RELIEF_TEXTS) => Some(StatedBy::Class),
        () => Some(StatedBy::GeneralClass),
    }
}

/// Returns the kind of safeguard that an item of a general class is by its texts or the letters of its tag, if it relieves
/// nothing: a flame arrester.
pub(crate) fn other_fitting(drawing: &Drawing<'_>, node: NodeId) -> Option<&'static str> {
    if !is_of_general_class(drawing, node) {
        return None;
    }
    let is_called = |word: &str| described(drawing, node).any(|text| text.contains(word));
    let by_text = vocabulary::PASSIVE_SAFEGUARDS.iter().find(|(word, _)| is_called(word)).map(|(_, kind)| *kind);
    let letters = drawing.tag(node).and_then(Tag::parse_letters).map(|tag| tag.letters).unwrap_or_default();
    let by_letters = || vocabulary::PASSIVE_LETTERS.iter().find(|(known, _)| *known == letters).map(|(_, kind)| *kind);
    by_text.or_else(by_letters)
}

/// Returns the texts of an item that may name it, other than its classes, in snake_case.
fn described(drawing: &Drawing<'_>, node: NodeId) -> impl Iterator<Item = String> {
    let names = [Names::Description, Names::Service, Names::Remarks];
    let is_class = move |text: &&str| drawing.class_texts(node).any(|class| class == *text);
    let texts = names.into_iter().flat_map(move |names| texts(drawing, node, names));
    texts.filter(move |text| !is_class(text)).map(snake_case)
}

/// Returns whether a pipe with a direction leads to a device.
pub(crate) fn has_stated_inlet(drawing: &Drawing<'_>, device: NodeId) -> bool {
    let topology = &drawing.topology;
    let mut pipes = topology.table(EdgeFilter::Flow, Direction::Up).edges(device).iter();
    pipes.any(|pipe| !topology.is_assumed(*pipe))
}

/// Returns whether only the tag of a valve says that it is a relief device, such as that of `PSV-1` of unknown class. A
/// pipe enters and leaves such an item if its class is one of instruments: what senses is at the end of a pipe.
pub(crate) fn is_device_by_tag(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let topology = &drawing.topology;
    let pipes = match topology.roles[node as usize] {
        Role::None | Role::Barrier => 1,
        Role::Instrument => 2,
        _ => return false,
    };
    topology.flow_degree(node) >= pipes
        && drawing.tag(node).and_then(Tag::parse).is_some_and(|tag| vocabulary::RELIEF_LETTERS.contains(&&*tag.letters))
}

/// Returns whether a remark or a label of a relief device says that it is isolated or bypassed, or its lock that it is closed.
/// That it is closed is the position of a device that has not opened, and says nothing.
pub(crate) fn is_closed_off(drawing: &Drawing<'_>, device: NodeId) -> bool {
    let says_closed_off = |text: &str| {
        let text = snake_case(text);
        // `locked closed during start-up`
        let is_of_statement = |word: &&str| !limits(word, Limited::ReliefClosedOff);
        let words = || {
            let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
            words.take_while(is_of_statement)
        };
        let is_known =
            |word: &str| vocabulary::CLOSED_OFF.contains(&word) || vocabulary::CLOSED_OFF_ATTRIBUTES.contains(&word);
        // A bypass that is open at times takes nothing away.
        let has_time = text_limits(&text, Limited::ReliefClosedOff);
        let closes_off =
            |word: &str| vocabulary::CLOSED_OFF.contains(&word) && !(has_time && word.starts_with("bypass"));
        words().all(is_known) && words().any(closes_off) && words().ne(["closed"])
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
    let is_tagged =
        || drawing.tag(device).and_then(Tag::parse).is_some_and(|tag| matches!(&*tag.letters, "VRV" | "VSV"));
    drawing.class_has(device, vocabulary::VACUUM_ONLY)
        || described(drawing, device).any(|text| vocabulary::VACUUM_ONLY.iter().any(|words| text.contains(words)))
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
        vocabulary::text_has_any(&text, vocabulary::VACUUM_WORDS)
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
