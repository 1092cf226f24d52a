//! Invalid coordinates: points that are not finite numbers, and extents whose minimum is beyond their maximum. They are
//! not imported.

use std::collections::BTreeMap;

use crate::import::Finding;
use crate::json::is_number;
use crate::xml::Element;

use super::attribute::Point;
use super::plant_import::PlantImport;

/// Elements with coordinates that are imported.
const POINTS: &[&str] = &["Location", "Coordinate", "Min", "Max"];

/// Reports the elements with invalid coordinates, by the item that they belong to.
pub fn report_invalid(plant: &mut PlantImport<'_>) {
    let mut counts: BTreeMap<(Option<usize>, String), usize> = BTreeMap::new();
    for (index, element) in plant.tree.elements.iter().enumerate() {
        let is_invalid_point = POINTS.contains(&element.name.as_str()) && !is_finite(element);
        if is_invalid_point || element.name == "Extent" && is_inverted(plant, index) {
            *counts.entry((plant.owner(index), element.name.clone())).or_default() += 1;
        }
    }
    for ((owner, name), count) in counts {
        let id = owner.map_or("drawing", |owner| plant.items[owner].id.as_str()).to_owned();
        let message = match name.as_str() {
            "Extent" => format!("the extent of `{id}` is inverted"),
            _ => format!("{count} of `{name}` of `{id}` are not finite numbers"),
        };
        plant.builder.report(Finding::InvalidCoordinates, message, &[&id]);
    }
}

fn is_finite(point: &Element) -> bool {
    ["X", "Y"].iter().filter_map(|name| point.attribute(name)).all(|text| is_number(text.trim()))
}

fn is_inverted(plant: &PlantImport<'_>, extent: usize) -> bool {
    let corner = |name| plant.tree.named(extent, name).find_map(|(_, corner)| Point::from_element(corner));
    let corners = corner("Min").zip(corner("Max")).map(|(min, max)| (min.xy(), max.xy()));
    corners.is_some_and(|(min, max)| min.0 > max.0 || min.1 > max.1)
}
