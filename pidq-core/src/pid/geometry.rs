//! Search by position on the drawing.
//!
//! Positions are the numbers of the drawing, whichever way its y-axis points. The top of a box is its visual top: its
//! lowest y where y grows downward, as on screens, and its highest y where it grows upward.

use super::diff::position_of;
use super::{ChargeFn, Datum};
use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::drawing::Drawing;
use crate::value::Value;

/// Returns the box of a node: left, lower edge by number, width, height. Positions that denote the center are
/// converted.
fn bounding_box(node: Value<'_>) -> Option<[f64; 4]> {
    let object = node.as_object()?;
    if let Some(Value::Array(bbox)) = object.get("bbox") {
        let number = |at: usize| bbox.get(at)?.as_f64();
        return Some([number(0)?, number(1)?, number(2)?.max(0.0), number(3)?.max(0.0)]);
    }
    let [x, y] = position_of(node)?;
    let size = |key: &str| object.get(key).and_then(Value::as_f64).unwrap_or(0.0).abs();
    let [width, height] = ["orig_bbox_width", "orig_bbox_height"].map(size);
    Some([x - width / 2.0, y - height / 2.0, width, height])
}

/// Returns the center of a node.
fn center_of(node: Value<'_>) -> Option<[f64; 2]> {
    let [x, y, width, height] = bounding_box(node)?;
    Some([x + width / 2.0, y + height / 2.0])
}

fn nodes_where<'a>(
    drawing: &Drawing<'a>,
    charge: ChargeFn<'_>,
    includes: impl Fn(Value<'a>) -> bool,
) -> Result<Datum<'a>> {
    let count = drawing.topology.node_count() as u32;
    charge(u64::from(count))?;
    Ok(Datum::Nodes((0..count).filter(|node| includes(drawing.node(*node))).collect()))
}

/// Returns the nodes whose box contains a point.
pub(crate) fn at<'a>(drawing: &Drawing<'a>, point: &[f64], charge: ChargeFn<'_>) -> Result<Datum<'a>> {
    let [x, y] = [0, 1].map(|at| point.get(at).copied().unwrap_or(f64::NAN));
    let contains_point =
        |[left, low, width, height]: [f64; 4]| (left..=left + width).contains(&x) && (low..=low + height).contains(&y);
    nodes_where(drawing, charge, |node| bounding_box(node).is_some_and(contains_point))
}

/// Returns whether y grows upward: by the drawing, or by the first joined sheet that defines it.
fn is_y_up(drawing: &Drawing<'_>) -> bool {
    let sheets = drawing.metadata.as_object().and_then(|metadata| metadata.get("sheets")).and_then(Value::as_array);
    let sheets = sheets.into_iter().flat_map(|sheets| sheets.iter());
    let axis = |metadata: Value<'_>| {
        let system = metadata.as_object()?.get("coordinate_system")?;
        Some(system.as_object()?.get("y_axis")?.as_str()? == "up")
    };
    [drawing.metadata].into_iter().chain(sheets).find_map(axis) == Some(true)
}

/// Returns the nodes whose box lies in another box, given by its left and top edge.
pub(crate) fn within<'a>(drawing: &Drawing<'a>, outer: &[f64], charge: ChargeFn<'_>) -> Result<Datum<'a>> {
    let [x, top, w, h] = [0, 1, 2, 3].map(|at| outer.get(at).copied().unwrap_or(f64::NAN));
    let y = if is_y_up(drawing) { top - h } else { top };
    let is_inside =
        |[left, low, width, height]: [f64; 4]| left >= x && low >= y && left + width <= x + w && low + height <= y + h;
    nodes_where(drawing, charge, |node| bounding_box(node).is_some_and(is_inside))
}

/// Returns whether the drawing consists of joined sheets. They keep their positions, each relative to its own corner.
fn is_joined(drawing: &Drawing<'_>) -> bool {
    drawing.metadata.as_object().is_some_and(|metadata| metadata.get("joined").is_some())
}

/// Returns the sheet of a node of a joined drawing, by the prefix of its id.
fn sheet<'a>(drawing: &Drawing<'a>, node: NodeId) -> Option<&'a str> {
    Some(drawing.id(node).as_str()?.split_once('#')?.0)
}

/// Returns the nodes within a distance of some nodes on their sheet, nearest first, without these.
pub(crate) fn near<'a>(
    drawing: &Drawing<'a>,
    items: &[NodeId],
    distance: f64,
    charge: ChargeFn<'_>,
) -> Result<Datum<'a>> {
    let count = drawing.topology.node_count() as u32;
    charge(u64::from(count) * (1 + items.len() as u64))?;
    let is_joined = is_joined(drawing);
    let sheet = |node| if is_joined { sheet(drawing, node) } else { None };
    let center = |item: &NodeId| Some((sheet(*item), center_of(drawing.node(*item))?));
    let centers: Vec<(Option<&str>, [f64; 2])> = items.iter().filter_map(center).collect();
    let mut found: Vec<(f64, NodeId)> = Vec::new();
    for node in (0..count).filter(|node| !items.contains(node)) {
        let Some([x, y]) = center_of(drawing.node(node)) else { continue };
        let sheet = sheet(node);
        let on_sheet = centers.iter().filter(|(other, _)| *other == sheet);
        let nearest = on_sheet.map(|(_, [a, b])| (a - x).hypot(b - y)).fold(f64::INFINITY, f64::min);
        if nearest.is_finite() && nearest <= distance {
            found.push((nearest, node));
        }
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    Ok(Datum::Nodes(found.into_iter().map(|(_, node)| node).collect()))
}
