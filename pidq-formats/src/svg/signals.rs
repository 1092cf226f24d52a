//! Signal lines: routes with right angles, and the marks of their kinds as in ISA-5.1.

use crate::model::EdgeRole;
use crate::symbols::Placement;

use super::collision_grid::CollisionGrid;
use super::routes::ALIGNMENT_TOLERANCE;
use super::scene::{PlacedSymbol, Point, Route};

/// Kind of signal, by words of its class.
pub struct SignalKind {
    pub words: &'static [&'static str],
    /// CSS class of the line: dashed or solid.
    pub class: &'static str,
    /// Path of the mark, along the x axis; empty if the line has none.
    pub mark: &'static str,
}

/// Words of lines from an instrument to the process.
const PROCESS_CONNECTIONS: &[&str] = &["measuring_line", "measuringline", "process_connection"];

/// Kinds of signals, specific ones first.
pub const KINDS: &[SignalKind] = &[
    SignalKind { words: PROCESS_CONNECTIONS, class: "o", mark: "" },
    SignalKind { words: &["pneumatic"], class: "o", mark: "M-4 4L0 -4M0 4L4 -4" },
    SignalKind { words: &["hydraulic"], class: "o", mark: "M-2 -4V4H3" },
    SignalKind { words: &["capillary", "filled_system"], class: "o", mark: "M-3 -3L3 3M-3 3L3 -3" },
    SignalKind {
        words: &["software", "data", "bus", "internal"],
        class: "o",
        mark: "M-2.5 0A2.5 2.5 0 0 1 2.5 0A2.5 2.5 0 0 1 -2.5 0Z",
    },
    SignalKind { words: &["electromagnetic", "sonic", "radio"], class: "o", mark: "M-6 0Q-3 -5 0 0T6 0" },
];
/// Electric signals, and those of which the kind is not known.
const ELECTRIC: SignalKind = SignalKind { words: &[], class: "g", mark: "" };

/// Distance between marks, and the shortest section with a mark.
const MARK_DISTANCE: f64 = 60.0;
const MIN_SECTION: f64 = 24.0;
/// Maximum number of marks of a section.
const MAX_MARKS: usize = 50;

/// Returns true for the line from an instrument to the process, which is solid.
pub fn is_process_connection(class: &str) -> bool {
    let class = class.to_lowercase();
    PROCESS_CONNECTIONS.iter().any(|word| class.contains(word))
}

/// Returns the kind of a signal.
pub fn kind(class: &str) -> &'static SignalKind {
    let class = class.to_lowercase();
    KINDS.iter().find(|kind| kind.words.iter().any(|word| class.contains(word))).unwrap_or(&ELECTRIC)
}

/// Returns the places of the marks on a route: position and clockwise angle.
pub fn marks(route: &[Point]) -> Vec<(Point, f64)> {
    let mut marks = Vec::new();
    for pair in route.windows(2) {
        let (dx, dy) = (pair[1].0 - pair[0].0, pair[1].1 - pair[0].1);
        let length = dx.hypot(dy);
        if length < MIN_SECTION {
            continue;
        }
        let count = ((length / MARK_DISTANCE).round() as usize).clamp(1, MAX_MARKS);
        marks.extend((0..count).map(|index| {
            let share = (index as f64 + 0.5) / count as f64;
            ((pair[0].0 + dx * share, pair[0].1 + dy * share), dy.atan2(dx).to_degrees())
        }));
    }
    marks
}

/// Maximum number of pipe sections with which signals are compared; in a larger drawing signals may run along pipes.
const MAX_SECTIONS: usize = 2_000;

/// Sections of the pipes, along which no signal should run.
pub struct PipeSections(Vec<[Point; 2]>);

impl PipeSections {
    pub fn new(routes: &[Route]) -> PipeSections {
        let pipes = routes.iter().filter(|route| route.role == EdgeRole::Flow);
        let sections = pipes.flat_map(|pipe| pipe.points.windows(2).map(|pair| [pair[0], pair[1]]));
        let sections: Vec<[Point; 2]> = sections.take(MAX_SECTIONS + 1).collect();
        PipeSections(if sections.len() > MAX_SECTIONS { Vec::new() } else { sections })
    }

    /// Returns the length of a route that runs along pipes.
    fn shared_length(&self, route: &[Point]) -> f64 {
        let pairs = route.windows(2).flat_map(|pair| self.0.iter().map(move |section| (pair, section)));
        pairs.map(|(pair, section)| shared_length([pair[0], pair[1]], *section)).sum()
    }
}

/// Returns the length that two sections on one horizontal or vertical line share.
fn shared_length(a: [Point; 2], b: [Point; 2]) -> f64 {
    let swap = |[from, to]: [Point; 2]| [(from.1, from.0), (to.1, to.0)];
    let horizontal = |a: [Point; 2], b: [Point; 2]| {
        let level = a[0].1;
        let is_level = [a[1], b[0], b[1]].iter().all(|point| (point.1 - level).abs() < ALIGNMENT_TOLERANCE);
        let low = a[0].0.min(a[1].0).max(b[0].0.min(b[1].0));
        let high = a[0].0.max(a[1].0).min(b[0].0.max(b[1].0));
        if is_level { (high - low).max(0.0) } else { 0.0 }
    };
    horizontal(a, b).max(horizontal(swap(a), swap(b)))
}

/// Returns a route with at most one right angle: not along pipes, and otherwise into the upper or lower side of an item in
/// a pipe, unless the other route crosses fewer symbols.
pub fn route(from: &PlacedSymbol, to: &PlacedSymbol, grid: &CollisionGrid, pipes: &PipeSections) -> Vec<Point> {
    let (a, b) = (from.at, to.at);
    if (a.0 - b.0).abs() < ALIGNMENT_TOLERANCE || (a.1 - b.1).abs() < ALIGNMENT_TOLERANCE {
        return vec![a, b];
    }
    let bends = match to.symbol.placement {
        Placement::Inline => [(b.0, a.1), (a.0, b.1)],
        _ => [(a.0, b.1), (b.0, a.1)],
    };
    let [first, second] = bends.map(|bend| vec![a, bend, b]);
    let [shared, other_shared] = [&first, &second].map(|route| pipes.shared_length(route));
    let is_better = if (shared - other_shared).abs() > ALIGNMENT_TOLERANCE {
        other_shared < shared
    } else {
        grid.crossed_count(&second) < grid.crossed_count(&first)
    };
    if is_better { second } else { first }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_follow_from_words_of_the_class() {
        for (class, mark) in
            [("signal_line.pneumatic", true), ("Capillary", true), ("signal_line.electrical", false), ("", false)]
        {
            assert_eq!(!kind(class).mark.is_empty(), mark, "{class}");
        }
        assert_eq!(kind("signal_line.electrical").class, "g");
        assert!(is_process_connection("signal_line.measuring_line_function") && !is_process_connection("signal_line"));
    }

    #[test]
    fn sections_share_a_length_only_on_one_line() {
        let section = [(0.0, 0.0), (100.0, 0.0)];
        assert_eq!(shared_length(section, [(150.0, 0.0), (60.0, 0.0)]), 40.0);
        assert_eq!(shared_length(section, [(60.0, 20.0), (150.0, 20.0)]), 0.0);
        assert_eq!(shared_length(section, [(60.0, -20.0), (60.0, 20.0)]), 0.0);
        assert_eq!(shared_length([(5.0, 0.0), (5.0, 9.0)], [(5.0, 4.0), (5.0, 40.0)]), 5.0);
    }

    #[test]
    fn long_sections_have_several_marks_and_short_ones_none() {
        assert_eq!(marks(&[(0.0, 0.0), (10.0, 0.0)]).len(), 0);
        assert_eq!(marks(&[(0.0, 0.0), (0.0, 180.0)]).len(), 3);
        assert_eq!(marks(&[(0.0, 0.0), (0.0, 1e9)]).len(), MAX_MARKS);
    }
}
