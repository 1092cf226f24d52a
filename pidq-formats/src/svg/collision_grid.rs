//! Collision grid: occupied areas of a sheet, to find free positions for labels and instruments.

use std::collections::{HashMap, HashSet};

use super::scene::{PlacedSymbol, Point, Scene};

/// Side of a grid cell.
const CELL_SIZE: f64 = 64.0;
/// Maximum number of cells checked per rectangle: a pipe across the largest sheet.
const MAX_CELLS: usize = 512;
/// Maximum number of rectangles per cell. With more overlaps, nothing is readable anyway.
const MAX_IN_CELL: usize = 32;
/// Maximum number of cells of the grid. A sheet with more has enough free space.
const MAX_GRID_CELLS: usize = 1 << 18;

/// Grid of rectangles with constant lookup time, regardless of their number and position.
#[derive(Default)]
pub struct CollisionGrid {
    boxes: Vec<[f64; 4]>,
    cells: HashMap<(i64, i64), Vec<u32>>,
}

impl CollisionGrid {
    /// Builds the grid of symbols and pipes.
    pub fn from_scene(scene: &Scene) -> CollisionGrid {
        let mut grid = CollisionGrid::default();
        for placed in scene.placed_symbols.iter().flatten() {
            grid.add(placed.outline());
        }
        for route in &scene.routes {
            for pair in route.points.windows(2) {
                let ((ax, ay), (bx, by)) = (pair[0], pair[1]);
                // A slanted line occupies its ends only.
                if (ax - bx).abs() < 1.0 || (ay - by).abs() < 1.0 {
                    grid.add([ax.min(bx) - 1.0, ay.min(by) - 1.0, ax.max(bx) + 1.0, ay.max(by) + 1.0]);
                }
            }
        }
        grid
    }

    /// Adds a rectangle.
    pub fn add(&mut self, bounds: [f64; 4]) {
        let index = self.boxes.len() as u32;
        self.boxes.push(bounds);
        for cell in cells(bounds) {
            if self.cells.len() >= MAX_GRID_CELLS && !self.cells.contains_key(&cell) {
                continue;
            }
            let indices = self.cells.entry(cell).or_default();
            if indices.len() < MAX_IN_CELL {
                indices.push(index);
            }
        }
    }

    /// Builds the grid of symbols only.
    pub fn from_symbols(placed_symbols: &[Option<PlacedSymbol>]) -> CollisionGrid {
        let mut grid = CollisionGrid::default();
        placed_symbols.iter().flatten().for_each(|placed| grid.add(placed.bounds()));
        grid
    }

    /// Returns true if an area is free.
    pub fn is_free(&self, bounds: [f64; 4]) -> bool {
        self.overlapping(bounds).next().is_none()
    }

    /// Returns the number of rectangles that a route crosses.
    pub fn crossed_count(&self, route: &[Point]) -> usize {
        let sections = route.windows(2).map(|pair| {
            let ((ax, ay), (bx, by)) = (pair[0], pair[1]);
            [ax.min(bx), ay.min(by), ax.max(bx), ay.max(by)]
        });
        sections.flat_map(|bounds| self.overlapping(bounds)).collect::<HashSet<u32>>().len()
    }

    /// Returns the rectangles that overlap an area; some more than once.
    fn overlapping(&self, bounds: [f64; 4]) -> impl Iterator<Item = u32> + '_ {
        let overlaps = move |other: &[f64; 4]| {
            bounds[0] < other[2] && other[0] < bounds[2] && bounds[1] < other[3] && other[1] < bounds[3]
        };
        let candidates = cells(bounds).filter_map(|cell| self.cells.get(&cell)).flatten();
        candidates.copied().filter(move |index| overlaps(&self.boxes[*index as usize]))
    }
}

fn cells(bounds: [f64; 4]) -> impl Iterator<Item = (i64, i64)> {
    let [left, top, right, bottom] = bounds.map(|side| (side / CELL_SIZE).floor() as i64);
    let all = (left..=right).flat_map(move |x| (top..=bottom).map(move |y| (x, y)));
    all.take(MAX_CELLS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn occupied_areas_are_not_free() {
        let mut grid = CollisionGrid::default();
        grid.add([0.0, 0.0, 100.0, 10.0]);
        assert!(!grid.is_free([90.0, 5.0, 95.0, 20.0]));
        assert!(grid.is_free([90.0, 10.0, 95.0, 20.0]));
        assert_eq!(grid.crossed_count(&[(50.0, -5.0), (50.0, 5.0), (150.0, 5.0)]), 1);
    }

    #[test]
    fn stacked_and_distant_rectangles_take_bounded_memory() {
        let mut stacked = CollisionGrid::default();
        (0..1_000).for_each(|_| stacked.add([0.0, 0.0, 10.0, 10.0]));
        assert_eq!(stacked.cells.values().map(Vec::len).sum::<usize>(), MAX_IN_CELL);
        assert!(!stacked.is_free([5.0, 5.0, 6.0, 6.0]));
        let mut spread = CollisionGrid::default();
        for row in 0..2 * MAX_GRID_CELLS / MAX_CELLS {
            let y = row as f64 * CELL_SIZE;
            spread.add([0.0, y, 1e9, y + 1.0]);
        }
        assert_eq!(spread.cells.len(), MAX_GRID_CELLS);
    }
}
