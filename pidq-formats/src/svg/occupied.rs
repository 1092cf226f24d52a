//! What is taken on the sheet, so that texts and instruments find free places.

use std::collections::{HashMap, HashSet};

use super::scene::{Placed, Point, Scene};

/// The side of a cell of the grid.
const CELL: f64 = 64.0;
/// Cells of one rectangle that are looked at: a pipe across the largest sheet.
const MAX_CELLS: usize = 512;
/// Rectangles that a cell knows. Where more are on top of each other, nobody can read anything.
const MAX_IN_CELL: usize = 32;
/// Cells that are known. A sheet with more has no place for texts beside each other, but room.
const MAX_KNOWN: usize = 1 << 18;

/// Rectangles in a grid. However many there are, and however they lie, a look takes the same time.
#[derive(Default)]
pub struct Occupied {
    boxes: Vec<[f64; 4]>,
    cells: HashMap<(i64, i64), Vec<u32>>,
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
        let index = self.boxes.len() as u32;
        self.boxes.push(bounds);
        for cell in cells(bounds) {
            if self.cells.len() >= MAX_KNOWN && !self.cells.contains_key(&cell) {
                continue;
            }
            let known = self.cells.entry(cell).or_default();
            if known.len() < MAX_IN_CELL {
                known.push(index);
            }
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
        stretches.flat_map(|bounds| self.met(bounds)).collect::<HashSet<u32>>().len()
    }

    /// The rectangles that meet one; some more than once.
    fn met(&self, bounds: [f64; 4]) -> impl Iterator<Item = u32> + '_ {
        let meets = move |other: &[f64; 4]| {
            bounds[0] < other[2] && other[0] < bounds[2] && bounds[1] < other[3] && other[1] < bounds[3]
        };
        let near = cells(bounds).filter_map(|cell| self.cells.get(&cell)).flatten();
        near.copied().filter(move |index| meets(&self.boxes[*index as usize]))
    }
}

fn cells(bounds: [f64; 4]) -> impl Iterator<Item = (i64, i64)> {
    let [left, top, right, bottom] = bounds.map(|side| (side / CELL).floor() as i64);
    let all = (left..=right).flat_map(move |x| (top..=bottom).map(move |y| (x, y)));
    all.take(MAX_CELLS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_taken_by_what_lies_on_it() {
        let mut occupied = Occupied::default();
        occupied.add([0.0, 0.0, 100.0, 10.0]);
        assert!(!occupied.is_free([90.0, 5.0, 95.0, 20.0]));
        assert!(occupied.is_free([90.0, 10.0, 95.0, 20.0]));
        assert_eq!(occupied.passed(&[(50.0, -5.0), (50.0, 5.0), (150.0, 5.0)]), 1);
    }

    #[test]
    fn what_lies_on_one_heap_and_what_is_far_apart_takes_little() {
        let mut heap = Occupied::default();
        (0..1_000).for_each(|_| heap.add([0.0, 0.0, 10.0, 10.0]));
        assert_eq!(heap.cells.values().map(Vec::len).sum::<usize>(), MAX_IN_CELL);
        assert!(!heap.is_free([5.0, 5.0, 6.0, 6.0]));
        let mut apart = Occupied::default();
        for row in 0..2 * MAX_KNOWN / MAX_CELLS {
            let y = row as f64 * CELL;
            apart.add([0.0, y, 1e9, y + 1.0]);
        }
        assert_eq!(apart.cells.len(), MAX_KNOWN);
    }
}
