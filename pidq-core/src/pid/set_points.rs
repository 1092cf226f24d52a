//! Set point, range and alarm limits of an instrument, as the drawing states them in fields, and the set point also in a text.

pub(crate) mod texts;

use super::quantity::Stated;
use super::stated_values::{stated_values, value_unit};
use super::tag::Tag;
use super::valve_state::texts as item_texts;
use super::{ChargeFn, Datum};
use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::value::Value;

/// Values of an instrument, by column.
const VALUES: [(&str, Names); 8] = [
    ("set_point", Names::SetPoint),
    ("range", Names::Range),
    ("range_low", Names::RangeLow),
    ("range_high", Names::RangeHigh),
    ("alarm_hh", Names::AlarmHighHigh),
    ("alarm_h", Names::AlarmHigh),
    ("alarm_l", Names::AlarmLow),
    ("alarm_ll", Names::AlarmLowLow),
];

/// Returns the columns of an instrument: its values, null if not stated, and their unit. A controller without a set
/// point has that of its loop.
pub(crate) fn columns<'a>(
    drawing: &Drawing<'a>,
    node: NodeId,
    loop_node: Option<NodeId>,
    charge: ChargeFn<'_>,
) -> Result<Vec<(String, Datum<'a>)>> {
    let lists = VALUES.map(|(_, list)| list);
    let mut found = stated_values(drawing, drawing.node(node), lists, &mut *charge)?;
    if found[0].is_none() {
        let stated = [Names::Description, Names::Remarks]
            .into_iter()
            .find_map(|names| item_texts(drawing, node, names).find_map(texts::in_text));
        found[0] = stated.map(|text| Stated::new(Value::String(text), None));
    }
    let mut unit = found.iter().flatten().find_map(|stated| stated.unit.clone());
    let is_stated = found.iter().any(Option::is_some);
    let loop_node = loop_node.filter(|_| found[0].is_none() && is_controller(drawing, node));
    if let Some(loop_node) = loop_node {
        let [set_point] = stated_values(drawing, drawing.node(loop_node), [Names::SetPoint], &mut *charge)?;
        if let (Some(set_point), None) = (&set_point, &unit) {
            unit = unit_of(drawing, loop_node, set_point, &mut *charge)?;
        }
        found[0] = set_point;
    }
    if unit.is_none() && is_stated {
        unit = value_unit(drawing, drawing.node(node), charge)?.map(String::from);
    }
    let values = VALUES.iter().zip(found);
    let mut columns: Vec<(String, Datum<'a>)> = values
        .map(|((name, _), stated)| (String::from(*name), Datum::value(stated.map(|stated| stated.value))))
        .collect();
    columns.insert(1, ("unit".into(), Datum::string(unit)));
    Ok(columns)
}

fn unit_of(drawing: &Drawing<'_>, node: NodeId, stated: &Stated<'_>, charge: ChargeFn<'_>) -> Result<Option<String>> {
    match &stated.unit {
        Some(unit) => Ok(Some(unit.clone())),
        None => Ok(value_unit(drawing, drawing.node(node), charge)?.map(String::from)),
    }
}

/// Returns whether an instrument controls, by the letters of its tag.
fn is_controller(drawing: &Drawing<'_>, node: NodeId) -> bool {
    drawing.tag(node).and_then(Tag::parse_letters).is_some_and(|tag| tag.split().1.contains(&'C'))
}
