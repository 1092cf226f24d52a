//! Open ends of runs that are drawn on another run, as a branch without a tee: the file does not connect them.
//!
//! Each becomes an edge of a kind that no rule knows, from the open end to both items of the pipe: what follows pipes says
//! that there may be a connection.

use crate::json::{Fields, Json};

use super::plant_import::PlantImport;

/// Kind of the edges.
const EDGE_TYPE: &str = "may_be_connected_to";

/// Distance below which an end is on a line, in units of the drawing, which are mostly millimeters.
const TOLERANCE: f64 = 0.01;

/// Maximum number of ends that are compared with pieces of lines. Drawings have a few thousand pieces and a few open ends.
const MAX_COMPARISONS: usize = 20_000_000;

type Position = (f64, f64);

/// End of a run that the file does not connect.
struct OpenEnd {
    id: String,
    at: Position,
}

/// Straight piece of the line of a pipe, with the two items of the pipe.
struct Piece<'p> {
    items: [&'p str; 2],
    ends: [Position; 2],
}

/// Adds an edge for each open end on the pipe of another run, and each item of that pipe.
pub fn add(plant: &mut PlantImport<'_>) {
    let mut ends: Vec<OpenEnd> = plant.builder.nodes[plant.items.len()..].iter().filter_map(open_end).collect();
    ends.sort_by(|a, b| a.at.0.total_cmp(&b.at.0));
    let mut found: Vec<[String; 2]> = Vec::new();
    let mut comparisons = 0;
    for piece in plant.builder.edges.iter().flat_map(pieces) {
        let [left, right] = sorted(piece.ends.map(|(x, _)| x));
        let first = ends.partition_point(|end| end.at.0 < left - TOLERANCE);
        let near = ends[first..].iter().take_while(|end| end.at.0 <= right + TOLERANCE);
        for end in near.take(MAX_COMPARISONS - comparisons) {
            comparisons += 1;
            let is_own = piece.items.contains(&end.id.as_str());
            if !is_own && is_on(end.at, piece.ends) {
                found.extend(piece.items.map(|item| [end.id.clone(), item.to_owned()]));
            }
        }
    }
    for [end, item] in found {
        plant.relate(EDGE_TYPE, None, &end, &item);
    }
}

fn open_end(node: &Fields) -> Option<OpenEnd> {
    let class = text(node, "node_classification")?;
    let at = (number(node.get("orig_x")?)?, number(node.get("orig_y")?)?);
    class.ends_with("open_end").then(|| OpenEnd { id: text(node, "id").unwrap_or_default().to_owned(), at })
}

/// Returns the straight pieces of the line of an edge; none for an edge that is no pipe or has no line.
fn pieces(edge: &Fields) -> Vec<Piece<'_>> {
    let (Some("physically_connected_to"), Some(from), Some(to)) =
        (text(edge, "edge_type"), text(edge, "from"), text(edge, "to"))
    else {
        return Vec::new();
    };
    let points: Vec<Position> = match edge.get("orig_path") {
        Some(Json::Array(points)) => points.iter().filter_map(point).collect(),
        _ => Vec::new(),
    };
    points.windows(2).map(|pair| Piece { items: [from, to], ends: [pair[0], pair[1]] }).collect()
}

fn point(point: &Json) -> Option<Position> {
    match point {
        Json::Array(numbers) => Some((number(numbers.first()?)?, number(numbers.get(1)?)?)),
        _ => None,
    }
}

fn text<'f>(fields: &'f Fields, key: &str) -> Option<&'f str> {
    match fields.get(key) {
        Some(Json::String(text)) => Some(text),
        _ => None,
    }
}

fn number(value: &Json) -> Option<f64> {
    match value {
        Json::Number(digits) => digits.parse().ok(),
        _ => None,
    }
}

fn sorted([a, b]: [f64; 2]) -> [f64; 2] {
    [a.min(b), a.max(b)]
}

/// Returns whether a position is on a straight piece of a line.
fn is_on((x, y): Position, [(from_x, from_y), (to_x, to_y)]: [Position; 2]) -> bool {
    let (along_x, along_y) = (to_x - from_x, to_y - from_y);
    let length_squared = along_x * along_x + along_y * along_y;
    let at = match length_squared > 0.0 {
        true => (((x - from_x) * along_x + (y - from_y) * along_y) / length_squared).clamp(0.0, 1.0),
        false => 0.0,
    };
    (x - from_x - at * along_x).hypot(y - from_y - at * along_y) <= TOLERANCE
}
