//! What is taken on the sheet, so that texts and instruments find free places.

use std::collections::{HashMap, HashSet};

use super::scene::{Placed, Point, Scene};

/// The side of a cell of the grid.
const CELL: f64 = 64.0;
/// Cells of one rectangle that are looked at. What is larger is not a text.
const MAX_CELLS: i64 = 4096;

/// Rectangles in a grid.
#[derive(Default)]
pub struct Occupied {
    boxes: Vec<[f64; 4]>,
    cells: HashMap<(i64, i64), Vec<usize>>,
}

impl Occupied {
    /// Symbols and pipes.
    pub fn of(scene: &Scene) -> Occupied {
        let mut occupied = Occupied::default();
        for place in scene.places.iter().flatten() {
            occupied.add(place.bounds());
        }
        for route in &scene.routes {
            for pair in route.points.windows(2) {
                let ((ax, ay), (bx, by)) = (pair[0], pair[1]);
                // A slanting line takes its ends only.
                if (ax - bx).abs() < 1.0 || (ay - by).abs() < 1.0 {
                    occupied.add([ax.min(bx) - 1.0, ay.min(by) - 1.0, ax.max(bx) + 1.0, ay.max(by) + 1.0]);
                }
            }
        }
        occupied
    }

    /// Takes a rectangle.
    pub fn add(&mut self, bounds: [f64; 4]) {
        let index = self.boxes.len();
        self.boxes.push(bounds);
        for cell in cells(bounds) {
            self.cells.entry(cell).or_default().push(index);
        }
    }

    /// Symbols alone.
    pub fn by_symbols(places: &[Option<Placed>]) -> Occupied {
        let mut occupied = Occupied::default();
        places.iter().flatten().for_each(|place| occupied.add(place.bounds()));
        occupied
    }

    /// Whether nothing is there.
    pub fn is_free(&self, bounds: [f64; 4]) -> bool {
        self.met(bounds).next().is_none()
    }

    /// How many rectangles a way passes.
    pub fn passed(&self, way: &[Point]) -> usize {
        let stretches = way.windows(2).map(|pair| {
            let ((ax, ay), (bx, by)) = (pair[0], pair[1]);
            [ax.min(bx), ay.min(by), ax.max(bx), ay.max(by)]
        });
        stretches.flat_map(|bounds| self.met(bounds)).collect::<HashSet<usize>>().len()
    }

    /// The rectangles that meet one; some more than once.
    fn met(&self, bounds: [f64; 4]) -> impl Iterator<Item = usize> + '_ {
        let meets = move |other: &[f64; 4]| {
            bounds[0] < other[2] && other[0] < bounds[2] && bounds[1] < other[3] && other[1] < bounds[3]
        };
        let near = cells(bounds).filter_map(|cell| self.cells.get(&cell)).flatten();
        near.copied().filter(move |index| meets(&self.boxes[*index]))
    }
}

fn cells(bounds: [f64; 4]) -> impl Iterator<Item = (i64, i64)> {
    let [left, top, right, bottom] = bounds.map(|side| (side / CELL).floor() as i64);
    let all = (left..=right).flat_map(move |x| (top..=bottom).map(move |y| (x, y)));
    all.take(MAX_CELLS as usize)
}
