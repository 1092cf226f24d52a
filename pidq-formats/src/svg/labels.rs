//! Label placement: tags next to their symbols, line numbers along pipes, without overlaps if possible.

use std::collections::BTreeMap;

use crate::model::EdgeRole;
use crate::symbols::Placement;

use super::collision_grid::CollisionGrid;
use super::scene::{NodeSymbols, PlacedSymbol, Point, Scene};

/// Text on the sheet.
pub struct Label {
    /// The center of the text.
    pub at: Point,
    pub text: String,
    pub size: f64,
    pub class: &'static str,
    /// Rotated upwards along a vertical pipe.
    pub is_upright: bool,
    /// The node that it belongs to.
    pub node: Option<usize>,
}

/// Mean width of a letter relative to its height.
const LETTER: f64 = 0.64;
/// Maximum number of characters of a label.
const MAX_LETTERS: usize = 40;

/// Places all labels of the sheet.
pub fn labels(symbols: &NodeSymbols<'_, '_>, scene: &Scene) -> Vec<Label> {
    let mut grid = CollisionGrid::from_scene(scene);
    let mut labels = Vec::new();
    let placed = || scene.places.iter().enumerate().filter_map(|(index, place)| Some((index, place.as_ref()?)));
    // Equipment first: its tags are the most important ones.
    for rank in 0..3 {
        for (index, place) in placed().filter(|(_, place)| self::rank(place) == rank) {
            label_node(symbols, scene, index, place, &mut grid, &mut labels);
        }
        if rank == 1 {
            label_lines(symbols, scene, &mut grid, &mut labels);
        }
    }
    labels
}

fn rank(place: &PlacedSymbol) -> usize {
    match (place.symbol.place, place.symbol.name) {
        (_, "nozzle" | "tee" | "flange" | "reducer" | "actuator" | "open_end" | "property_break" | "other") => 2,
        (Placement::Inline, _) => 1,
        _ => 0,
    }
}

fn label_node(
    symbols: &NodeSymbols<'_, '_>,
    scene: &Scene,
    index: usize,
    place: &PlacedSymbol,
    grid: &mut CollisionGrid,
    labels: &mut Vec<Label>,
) {
    let node = &symbols.model.nodes[index];
    let title = node.title();
    // Generated names are not shown.
    let is_named = title != node.name || node.tag() == Some(&title);
    if !is_named || title.is_empty() {
        return;
    }
    let text = truncate(&title);
    let scale = scene.scale.max(0.7);
    match (place.symbol.place, rank(place)) {
        (Placement::Bubble, _) => labels.extend(bubble_labels(index, place, &text, scale)),
        (Placement::Upright, 2) if place.symbol.name == "actuator" => {}
        (Placement::Connector, _) if fits_inside(place, &text, 8.0 * scale) => {
            let label =
                Label { at: place.at, text, size: 8.0 * scale, class: "c", is_upright: false, node: Some(index) };
            labels.push(label);
        }
        (Placement::Connector, _) => {
            place_label(index, place, &text, ("c", 8.0 * scale), LabelPriority::Required, grid, labels)
        }
        (Placement::Upright, 0) => {
            place_label(index, place, &text, ("e", 11.0 * scale), LabelPriority::Required, grid, labels)
        }
        (_, 1) => place_label(index, place, &text, ("t", 8.0 * scale), LabelPriority::Required, grid, labels),
        _ => place_label(index, place, &text, ("z", 6.5 * scale), LabelPriority::Optional, grid, labels),
    }
}

fn fits_inside(place: &PlacedSymbol, text: &str, size: f64) -> bool {
    place.angle % 180 == 0 && text.chars().count() as f64 * size * LETTER < place.half.0 * 1.6
}

fn truncate(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<&str>>().join(" ");
    match line.chars().count() {
        count if count <= MAX_LETTERS => line,
        _ => line.chars().take(MAX_LETTERS - 1).chain(['…']).collect(),
    }
}

/// Returns the labels of an instrument bubble: letters above, number below.
fn bubble_labels(index: usize, place: &PlacedSymbol, text: &str, scale: f64) -> Vec<Label> {
    let split = text.find(|c: char| c.is_ascii_digit() || matches!(c, '-' | ' ' | '_')).unwrap_or(text.len());
    let (letters, number) = text.split_at(split);
    let number = number.trim_start_matches(['-', ' ', '_']);
    let lines: Vec<&str> = [letters, number].into_iter().filter(|line| !line.is_empty()).collect();
    let label = |(row, line): (usize, &&str)| {
        let available = place.half.0 * 1.8 / (line.chars().count().max(1) as f64 * LETTER);
        let shift = (row as f64 - (lines.len() - 1) as f64 / 2.0) * 8.0 * scale;
        let at = (place.at.0, place.at.1 + shift);
        Label {
            at,
            text: (*line).to_owned(),
            size: (7.5 * scale).min(available),
            class: "i",
            is_upright: false,
            node: Some(index),
        }
    };
    lines.iter().enumerate().map(label).collect()
}

/// Symbols with space for a tag inside.
const HOLLOW: &[&str] = &["tank", "vessel", "drum", "standing_drum", "equipment"];

/// Priority of a label: an optional one is left out if there is no space.
#[derive(Clone, Copy, PartialEq)]
enum LabelPriority {
    Required,
    Optional,
}

fn place_label(
    index: usize,
    place: &PlacedSymbol,
    text: &str,
    (class, size): (&'static str, f64),
    priority: LabelPriority,
    grid: &mut CollisionGrid,
    labels: &mut Vec<Label>,
) {
    let half = (text.chars().count() as f64 * size * LETTER / 2.0, size * 0.6);
    let [left, top, right, bottom] = place.bounds();
    let (x, y) = place.at;
    // Stems and domes of valves extend above the symbol.
    let above = if place.symbol.place == Placement::Inline && place.symbol.half.1 >= 8.0 { 12.0 } else { 2.0 };
    let has_space = place.half.0 > half.0 + 2.0 && place.half.1 > 2.5 * half.1;
    let fits = has_space && HOLLOW.contains(&place.symbol.name);
    let mut wanted = vec![
        (x, bottom + half.1 + 2.0),
        (x, top - half.1 - above),
        (right + half.0 + 3.0, y),
        (left - half.0 - 3.0, y),
        (right + half.0 + 2.0, top - half.1),
        (left - half.0 - 2.0, top - half.1),
        (right + half.0 + 2.0, bottom + half.1),
        (left - half.0 - 2.0, bottom + half.1),
    ];
    let vertical = place.angle % 180 != 0;
    if place.symbol.place == Placement::Inline && !vertical {
        wanted.swap(0, 1);
    } else if vertical {
        wanted.swap(0, 2);
    }
    for step in 1..4 {
        let far = 10.0 * f64::from(step);
        wanted.extend([(x, top - half.1 - above - far), (x, bottom + half.1 + 2.0 + far)]);
    }
    let bounds = |at: &Point| [at.0 - half.0, at.1 - half.1, at.0 + half.0, at.1 + half.1];
    let free = wanted.iter().copied().find(|at| grid.is_free(bounds(at)));
    let at = match (fits, free, priority) {
        (true, ..) => (x, y),
        (_, Some(at), _) => at,
        (_, None, LabelPriority::Required) => wanted[0],
        (_, None, LabelPriority::Optional) => return,
    };
    grid.add(bounds(&at));
    labels.push(Label { at, text: text.to_owned(), size, class, is_upright: false, node: Some(index) });
}

/// Places the number of each line once, at the longest section with enough space.
fn label_lines(symbols: &NodeSymbols<'_, '_>, scene: &Scene, grid: &mut CollisionGrid, labels: &mut Vec<Label>) {
    let mut stretches: BTreeMap<&str, Vec<(Point, Point)>> = BTreeMap::new();
    for route in scene.routes.iter().filter(|route| route.role == EdgeRole::Flow) {
        let Some(line) = symbols.model.edges[route.edge].line() else { continue };
        let line = symbols.model.resolve_line(line);
        stretches.entry(line).or_default().extend(route.points.windows(2).map(|pair| (pair[0], pair[1])));
    }
    let length = |stretch: &(Point, Point)| (stretch.0.0 - stretch.1.0).hypot(stretch.0.1 - stretch.1.1);
    for (line, mut list) in stretches {
        list.sort_by(|a, b| length(b).total_cmp(&length(a)));
        let text = truncate(line);
        let size = 7.5 * scene.scale.max(0.7);
        let half = (text.chars().count() as f64 * size * LETTER / 2.0, size * 0.6);
        let near = |away: f64| list.iter().take(12).find_map(|stretch| along(stretch, half, away, grid));
        let best = [0.0, 11.0, 22.0].into_iter().find_map(near);
        let fallback = list.first().map(|(a, b)| (((a.0 + b.0) / 2.0, (a.1 + b.1) / 2.0 - half.1 - 2.0), false));
        let Some((at, is_upright)) = best.or(fallback) else { continue };
        let (w, h) = if is_upright { (half.1, half.0) } else { half };
        grid.add([at.0 - w, at.1 - h, at.0 + w, at.1 + h]);
        labels.push(Label { at, text, size, class: "l", is_upright, node: None });
    }
}

/// Returns a free position along a section: on either side, in the middle or nearer to an end.
fn along((a, b): &(Point, Point), half: (f64, f64), further: f64, grid: &CollisionGrid) -> Option<(Point, bool)> {
    let is_upright = (a.0 - b.0).abs() < (a.1 - b.1).abs();
    let (w, h) = if is_upright { (half.1, half.0) } else { half };
    let candidates = [0.5, 0.35, 0.65, 0.2, 0.8].into_iter().flat_map(|part| {
        let (x, y) = (a.0 + (b.0 - a.0) * part, a.1 + (b.1 - a.1) * part);
        let away = half.1 + 2.0 + further;
        if is_upright { [(x - away, y), (x + away, y)] } else { [(x, y - away), (x, y + away)] }
    });
    let free = |at: &Point| grid.is_free([at.0 - w, at.1 - h, at.0 + w, at.1 + h]);
    candidates.into_iter().find(free).map(|at| (at, is_upright))
}
