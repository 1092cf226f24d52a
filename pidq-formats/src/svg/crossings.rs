//! Jumps of pipes over pipes: a horizontal pipe passes over a vertical one that it is not connected to.

use super::scene::Point;

/// Radius of a jump.
pub const RADIUS: f64 = 4.0;
/// Maximum number of sections compared; a drawing with more is drawn without jumps.
const MAX_SECTIONS: usize = 4_000;

/// Vertical sections of pipes: x, and the lowest and the highest y.
pub struct Crossings {
    verticals: Vec<[f64; 3]>,
}

impl Crossings {
    pub fn new<'r>(routes: impl Iterator<Item = &'r [Point]>) -> Crossings {
        let sections = routes.flat_map(|route| route.windows(2));
        let verticals = sections.filter(|pair| (pair[0].0 - pair[1].0).abs() < 0.1);
        let verticals = verticals.map(|pair| [pair[0].0, pair[0].1.min(pair[1].1), pair[0].1.max(pair[1].1)]);
        let mut verticals: Vec<[f64; 3]> = verticals.take(MAX_SECTIONS + 1).collect();
        if verticals.len() > MAX_SECTIONS {
            verticals.clear();
        }
        verticals.sort_by(|a, b| a[0].total_cmp(&b[0]));
        Crossings { verticals }
    }

    /// Returns the x at which a horizontal section crosses vertical ones, in the direction of the section.
    pub fn on(&self, from: Point, to: Point) -> Vec<f64> {
        if (from.1 - to.1).abs() > 0.1 {
            return Vec::new();
        }
        let (left, right) = (from.0.min(to.0) + 2.0 * RADIUS, from.0.max(to.0) - 2.0 * RADIUS);
        let start = self.verticals.partition_point(|[x, ..]| *x < left);
        let inside = self.verticals[start..].iter().take_while(|[x, ..]| *x <= right);
        let crossing = inside.filter(|[_, low, high]| *low + RADIUS < from.1 && from.1 < *high - RADIUS);
        let mut found: Vec<f64> = Vec::new();
        for [x, ..] in crossing {
            // Jumps that would touch are one.
            if found.last().is_none_or(|last| x - last > 2.0 * RADIUS) {
                found.push(*x);
            }
        }
        if to.0 < from.0 {
            found.reverse();
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_horizontal_section_jumps_over_the_vertical_ones_that_it_crosses() {
        let vertical = [(50.0, -40.0), (50.0, 40.0)];
        let tee = [(80.0, 0.0), (80.0, 40.0)];
        let crossings = Crossings::new([&vertical[..], &tee[..]].into_iter());
        assert_eq!(crossings.on((0.0, 0.0), (100.0, 0.0)), [50.0]);
        assert_eq!(crossings.on((100.0, 0.0), (0.0, 0.0)), [50.0]);
        assert!(crossings.on((0.0, 0.0), (50.0, 0.0)).is_empty(), "a pipe that ends there");
        assert!(crossings.on((50.0, -40.0), (50.0, 40.0)).is_empty(), "a vertical one");
    }
}
