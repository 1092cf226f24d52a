//! Where things are on the drawing, for pointing at them.
//!
//! Positions are the numbers of the drawing, whichever way its y-axis points. The top of a box is where people see it: at
//! its lowest y where y grows downwards, as on screens, and at its highest where it grows upwards.

use super::diff::place;
use super::{Datum, Pay};
use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::plant::Plant;
use crate::value::Value;

/// A box: left, lower edge by number, width, height. Positions that are drawn about their middle have it there.
fn area(node: Value<'_>) -> Option<[f64; 4]> {
    let object = node.as_object()?;
    if let Some(Value::Array(bbox)) = object.get("bbox") {
        let number = |at: usize| bbox.get(at)?.as_f64();
        return Some([number(0)?, number(1)?, number(2)?.max(0.0), number(3)?.max(0.0)]);
    }
    let [x, y] = place(node)?;
    let size = |key: &str| object.get(key).and_then(Value::as_f64).unwrap_or(0.0).abs();
    let [width, height] = ["orig_bbox_width", "orig_bbox_height"].map(size);
    Some([x - width / 2.0, y - height / 2.0, width, height])
}

/// The middle of a node.
fn middle(node: Value<'_>) -> Option<[f64; 2]> {
    let [x, y, width, height] = area(node)?;
    Some([x + width / 2.0, y + height / 2.0])
}

fn all<'a>(plant: &Plant<'a>, pay: Pay<'_>, keeps: impl Fn(Value<'a>) -> bool) -> Result<Datum<'a>> {
    let count = plant.topology.node_count() as u32;
    pay(u64::from(count))?;
    Ok(Datum::Nodes((0..count).filter(|node| keeps(plant.node(*node))).collect()))
}

/// The nodes whose box holds a point.
pub(crate) fn at<'a>(plant: &Plant<'a>, point: &[f64], pay: Pay<'_>) -> Result<Datum<'a>> {
    let [x, y] = [0, 1].map(|at| point.get(at).copied().unwrap_or(f64::NAN));
    let holds =
        |[left, low, width, height]: [f64; 4]| (left..=left + width).contains(&x) && (low..=low + height).contains(&y);
    all(plant, pay, |node| area(node).is_some_and(holds))
}

/// Whether y grows upwards: as the drawing says, or the first of the sheets that were joined which says it.
fn counts_upwards(plant: &Plant<'_>) -> bool {
    let sheets = plant.metadata.as_object().and_then(|metadata| metadata.get("sheets")).and_then(Value::as_array);
    let sheets = sheets.into_iter().flat_map(|sheets| sheets.iter());
    let axis = |metadata: Value<'_>| {
        let system = metadata.as_object()?.get("coordinate_system")?;
        Some(system.as_object()?.get("y_axis")?.as_str()? == "up")
    };
    [plant.metadata].into_iter().chain(sheets).find_map(axis) == Some(true)
}

/// The nodes whose box lies in another box, which is given by its left and top edge.
pub(crate) fn within<'a>(plant: &Plant<'a>, outer: &[f64], pay: Pay<'_>) -> Result<Datum<'a>> {
    let [x, top, w, h] = [0, 1, 2, 3].map(|at| outer.get(at).copied().unwrap_or(f64::NAN));
    let y = if counts_upwards(plant) { top - h } else { top };
    let lies =
        |[left, low, width, height]: [f64; 4]| left >= x && low >= y && left + width <= x + w && low + height <= y + h;
    all(plant, pay, |node| area(node).is_some_and(lies))
}

/// Whether it is several sheets. They keep their positions, each from its own corner.
fn is_joined(plant: &Plant<'_>) -> bool {
    plant.metadata.as_object().is_some_and(|metadata| metadata.get("joined").is_some())
}

/// The sheet of a node of joined ones, by what its id begins with.
fn sheet<'a>(plant: &Plant<'a>, node: NodeId) -> Option<&'a str> {
    Some(plant.id(node).as_str()?.split_once('#')?.0)
}

/// The nodes within a distance of some nodes on their sheet, nearest first; these themselves left out.
pub(crate) fn near<'a>(plant: &Plant<'a>, items: &[NodeId], distance: f64, pay: Pay<'_>) -> Result<Datum<'a>> {
    let count = plant.topology.node_count() as u32;
    pay(u64::from(count) * (1 + items.len() as u64))?;
    let is_joined = is_joined(plant);
    let sheet = |node| if is_joined { sheet(plant, node) } else { None };
    let centre = |item: &NodeId| Some((sheet(*item), middle(plant.node(*item))?));
    let centres: Vec<(Option<&str>, [f64; 2])> = items.iter().filter_map(centre).collect();
    let mut found: Vec<(f64, NodeId)> = Vec::new();
    for node in (0..count).filter(|node| !items.contains(node)) {
        let Some([x, y]) = middle(plant.node(node)) else { continue };
        let sheet = sheet(node);
        let here = centres.iter().filter(|(other, _)| *other == sheet);
        let nearest = here.map(|(_, [a, b])| (a - x).hypot(b - y)).fold(f64::INFINITY, f64::min);
        if nearest.is_finite() && nearest <= distance {
            found.push((nearest, node));
        }
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    Ok(Datum::Nodes(found.into_iter().map(|(_, node)| node).collect()))
}
