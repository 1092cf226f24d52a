//! Label placement: tags next to their symbols, line numbers along pipes, without overlaps if possible.

use std::collections::BTreeMap;

use crate::model::EdgeRole;
use crate::symbols::Placement;

use super::collision_grid::CollisionGrid;
use super::scene::{NodeSymbols, PlacedSymbol, Point, Scene};
use super::symbol_marks;

/// Text on the sheet.
pub struct Label {
    /// The center of the text.
    pub at: Point,
    pub text: String,
    pub size: f64,
    pub class: &'static str,
    /// Rotated by 90 degrees, along a vertical pipe.
    pub is_vertical: bool,
    /// The node that it belongs to.
    pub node: Option<usize>,
}

/// Mean width of a character relative to the font size.
const LETTER_WIDTH: f64 = 0.64;
/// Maximum number of characters of a label.
const MAX_CHARS: usize = 80;

/// Places all labels of the sheet.
pub fn labels(symbols: &NodeSymbols<'_, '_>, scene: &Scene) -> Vec<Label> {
    let mut grid = CollisionGrid::from_scene(scene);
    let mut labels = Vec::new();
    let nodes_with_symbols =
        || scene.placed_symbols.iter().enumerate().filter_map(|(index, placed)| Some((index, placed.as_ref()?)));
    // Equipment first: its tags are the most important ones.
    for rank in 0..3 {
        for (index, placed) in nodes_with_symbols().filter(|(_, placed)| self::rank(placed) == rank) {
            label_node(symbols, scene, index, placed, &mut grid, &mut labels);
        }
        if rank == 1 {
            label_lines(symbols, scene, &mut grid, &mut labels);
        }
    }
    labels
}

fn rank(placed: &PlacedSymbol) -> usize {
    match (placed.symbol.placement, placed.symbol.name) {
        (_, "nozzle" | "tee" | "flange" | "reducer" | "actuator" | "open_end" | "property_break" | "other") => 2,
        (Placement::Inline, _) => 1,
        _ => 0,
    }
}

fn label_node(
    symbols: &NodeSymbols<'_, '_>,
    scene: &Scene,
    index: usize,
    placed: &PlacedSymbol,
    grid: &mut CollisionGrid,
    labels: &mut Vec<Label>,
) {
    let node = &symbols.model.nodes[index];
    let title = node.title();
    // Generated names are not shown.
    let has_title = title != node.name || node.tag() == Some(&title);
    if !has_title || title.is_empty() {
        return;
    }
    // A fitting with a letter for its kind, as `T`, needs no label.
    if SELF_EVIDENT.contains(&placed.symbol.name) && title.chars().count() < 3 {
        return;
    }
    let scale = scene.scale.max(0.7);
    label_marks(symbols, index, placed, scale, grid, labels);
    let text = truncate(&title);
    match (placed.symbol.placement, rank(placed)) {
        (Placement::Bubble, _) => labels.extend(bubble_labels(index, placed, &text, scale)),
        (Placement::Upright, 2) if placed.symbol.name == "actuator" => {}
        (Placement::Connector, _) if fits_inside(placed, &text, 8.0 * scale) => {
            let label =
                Label { at: placed.at, text, size: 8.0 * scale, class: "c", is_vertical: false, node: Some(index) };
            labels.push(label);
        }
        (Placement::Connector, _) => {
            place_label(index, placed, &text, ("c", 8.0 * scale), LabelPriority::Required, grid, labels)
        }
        (Placement::Upright, 0) => {
            place_label(index, placed, &text, ("e", 11.0 * scale), LabelPriority::Required, grid, labels)
        }
        (_, 1) => place_label(index, placed, &text, ("t", 8.0 * scale), LabelPriority::Required, grid, labels),
        _ => place_label(index, placed, &text, ("z", 6.5 * scale), LabelPriority::Optional, grid, labels),
    }
}

/// Symbols that say what they are.
const SELF_EVIDENT: &[&str] = &["tee", "flange", "reducer", "open_end", "part", "property_break", "other"];

/// Places the marks of a valve next to it: fail position, lock, set pressure.
fn label_marks(
    symbols: &NodeSymbols<'_, '_>,
    index: usize,
    placed: &PlacedSymbol,
    scale: f64,
    grid: &mut CollisionGrid,
    labels: &mut Vec<Label>,
) {
    for text in symbol_marks::texts(&symbols.model.nodes[index], placed.symbol) {
        place_label(index, placed, &text, ("t", 6.5 * scale), LabelPriority::Required, grid, labels);
    }
}

fn fits_inside(placed: &PlacedSymbol, text: &str, size: f64) -> bool {
    placed.angle % 180 == 0 && text.chars().count() as f64 * size * LETTER_WIDTH < placed.half.0 * 1.6
}

fn truncate(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<&str>>().join(" ");
    match line.chars().count() {
        count if count <= MAX_CHARS => line,
        _ => line.chars().take(MAX_CHARS - 1).chain(['…']).collect(),
    }
}

/// Splits the tag of an instrument: letters, number.
pub fn bubble_lines(text: &str) -> Vec<&str> {
    let is_separator = |c: char| c.is_ascii_digit() || matches!(c, '-' | ' ' | '_');
    let (letters, number) = text.split_at(text.find(is_separator).unwrap_or(text.len()));
    // Letters before the function are those of the unit, as in `A-20PT0007`.
    let function = number.trim_start_matches(is_separator);
    if letters.chars().count() < 2 && function.find(is_separator).is_some_and(|length| length > 1) {
        return bubble_lines(function);
    }
    let number = number.trim_start_matches(['-', ' ', '_']);
    [letters, number].into_iter().filter(|line| !line.is_empty()).collect()
}

/// Returns the labels of an instrument bubble: letters above, number below.
fn bubble_labels(index: usize, placed: &PlacedSymbol, text: &str, scale: f64) -> Vec<Label> {
    let lines = bubble_lines(text);
    let label = |(row, line): (usize, &&str)| {
        let available = placed.half.0 * 1.8 / (line.chars().count().max(1) as f64 * LETTER_WIDTH);
        let shift = (row as f64 - (lines.len() - 1) as f64 / 2.0) * 9.0 * scale;
        let at = (placed.at.0, placed.at.1 + shift);
        Label {
            at,
            text: (*line).to_owned(),
            size: (7.5 * scale).min(available),
            class: "i",
            is_vertical: false,
            node: Some(index),
        }
    };
    lines.iter().enumerate().map(label).collect()
}

/// Symbols with space for a tag inside.
const HOLLOW: &[&str] = &["tank", "vessel", "drum", "standing_drum", "equipment"];

/// Priority of a label: an optional one is omitted if there is no space.
#[derive(Clone, Copy, PartialEq)]
enum LabelPriority {
    Required,
    Optional,
}

fn place_label(
    index: usize,
    placed: &PlacedSymbol,
    text: &str,
    (class, size): (&'static str, f64),
    priority: LabelPriority,
    grid: &mut CollisionGrid,
    labels: &mut Vec<Label>,
) {
    let half = (text.chars().count() as f64 * size * LETTER_WIDTH / 2.0, size * 0.6);
    let [left, top, right, bottom] = placed.outline();
    let (x, y) = placed.at;
    let above = 2.0;
    let has_space = placed.half.0 > half.0 + 2.0 && placed.half.1 > 2.5 * half.1;
    let is_inside = has_space && HOLLOW.contains(&placed.symbol.name);
    let mut candidates = vec![
        (x, bottom + half.1 + 2.0),
        (x, top - half.1 - above),
        (right + half.0 + 3.0, y),
        (left - half.0 - 3.0, y),
        (right + half.0 + 2.0, top - half.1),
        (left - half.0 - 2.0, top - half.1),
        (right + half.0 + 2.0, bottom + half.1),
        (left - half.0 - 2.0, bottom + half.1),
    ];
    let is_pipe_vertical = placed.angle % 180 != 0;
    if placed.symbol.placement == Placement::Inline && !is_pipe_vertical {
        candidates.swap(0, 1);
    } else if is_pipe_vertical {
        candidates.swap(0, 2);
    }
    for step in 1..4 {
        let distance = 10.0 * f64::from(step);
        candidates.extend([(x, top - half.1 - above - distance), (x, bottom + half.1 + 2.0 + distance)]);
    }
    let bounds = |at: &Point| [at.0 - half.0, at.1 - half.1, at.0 + half.0, at.1 + half.1];
    let free = candidates.iter().copied().find(|at| grid.is_free(bounds(at)));
    let at = match (is_inside, free, priority) {
        (true, ..) => (x, y),
        (_, Some(at), _) => at,
        (_, None, LabelPriority::Required) => candidates[0],
        (_, None, LabelPriority::Optional) => return,
    };
    grid.add(bounds(&at));
    labels.push(Label { at, text: text.to_owned(), size, class, is_vertical: false, node: Some(index) });
}

/// Places the number of each line once, at the longest section with enough space.
fn label_lines(symbols: &NodeSymbols<'_, '_>, scene: &Scene, grid: &mut CollisionGrid, labels: &mut Vec<Label>) {
    let mut sections: BTreeMap<&str, Vec<(Point, Point)>> = BTreeMap::new();
    for route in scene.routes.iter().filter(|route| route.role == EdgeRole::Flow) {
        let Some(line) = symbols.model.edges[route.edge].line() else { continue };
        let line = symbols.model.resolve_line(line);
        sections.entry(line).or_default().extend(route.points.windows(2).map(|pair| (pair[0], pair[1])));
    }
    let length = |section: &(Point, Point)| (section.0.0 - section.1.0).hypot(section.0.1 - section.1.1);
    for (line, mut list) in sections {
        list.sort_by(|a, b| length(b).total_cmp(&length(a)));
        let text = truncate(line);
        let size = 7.5 * scene.scale.max(0.7);
        let half = (text.chars().count() as f64 * size * LETTER_WIDTH / 2.0, size * 0.6);
        let find_position =
            |distance: f64| list.iter().take(12).find_map(|section| position_along(section, half, distance, grid));
        let best = [0.0, 11.0, 22.0].into_iter().find_map(find_position);
        let fallback = list.first().map(|(a, b)| (((a.0 + b.0) / 2.0, (a.1 + b.1) / 2.0 - half.1 - 2.0), false));
        let Some((at, is_vertical)) = best.or(fallback) else { continue };
        let (w, h) = if is_vertical { (half.1, half.0) } else { half };
        grid.add([at.0 - w, at.1 - h, at.0 + w, at.1 + h]);
        labels.push(Label { at, text, size, class: "l", is_vertical, node: None });
    }
}

/// Returns a free position along a section: on either side, in the middle or nearer to an end.
fn position_along(
    (a, b): &(Point, Point),
    half: (f64, f64),
    extra_distance: f64,
    grid: &CollisionGrid,
) -> Option<(Point, bool)> {
    let is_vertical = (a.0 - b.0).abs() < (a.1 - b.1).abs();
    let (w, h) = if is_vertical { (half.1, half.0) } else { half };
    let candidates = [0.5, 0.35, 0.65, 0.2, 0.8].into_iter().flat_map(|fraction| {
        let (x, y) = (a.0 + (b.0 - a.0) * fraction, a.1 + (b.1 - a.1) * fraction);
        let distance = half.1 + 2.0 + extra_distance;
        if is_vertical { [(x - distance, y), (x + distance, y)] } else { [(x, y - distance), (x, y + distance)] }
    });
    let free = |at: &Point| grid.is_free([at.0 - w, at.1 - h, at.0 + w, at.1 + h]);
    candidates.into_iter().find(free).map(|at| (at, is_vertical))
}
