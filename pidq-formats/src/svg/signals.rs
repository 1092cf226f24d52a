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

/// Maximum number of signals for which a way around symbols is searched.
const MAX_SEARCHES: usize = 300;

/// Obstacles of signals: the sections of the pipes, along which no signal should run, and the symbols.
pub struct Obstacles {
    pipes: Vec<[Point; 2]>,
    symbols: CollisionGrid,
    /// Number of further searches for a way around symbols.
    searches: usize,
}

impl Obstacles {
    pub fn new(routes: &[Route], symbols: &[Option<PlacedSymbol>]) -> Obstacles {
        let pipes = routes.iter().filter(|route| route.role == EdgeRole::Flow);
        let sections = pipes.flat_map(|pipe| pipe.points.windows(2).map(|pair| [pair[0], pair[1]]));
        let sections: Vec<[Point; 2]> = sections.take(MAX_SECTIONS + 1).collect();
        let is_large = sections.len() > MAX_SECTIONS;
        // The signal of a valve passes through its actuator.
        let is_obstacle = |placed: &&PlacedSymbol| placed.symbol.name != "actuator";
        let mut grid = CollisionGrid::default();
        symbols.iter().flatten().filter(is_obstacle).for_each(|placed| grid.add(placed.bounds()));
        Obstacles {
            pipes: if is_large { Vec::new() } else { sections },
            symbols: grid,
            searches: if is_large { 0 } else { MAX_SEARCHES },
        }
    }

    /// Returns the number of symbols that a route crosses, other than those at its ends.
    fn crossed_symbols(&self, route: &[Point]) -> usize {
        let at_end = |end: Option<&Point>| end.map_or(0, |end| self.symbols.crossed_count(&[*end, *end]));
        self.symbols.crossed_count(route).saturating_sub(at_end(route.first()) + at_end(route.last()))
    }

    /// Returns the number of crossings of a route with pipes.
    fn crossed_pipes(&self, route: &[Point]) -> usize {
        let pairs =
            route.windows(2).flat_map(|pair| self.pipes.iter().map(move |section| ([pair[0], pair[1]], section)));
        pairs.filter(|(pair, section)| cross(*pair, **section)).count()
    }

    /// Returns the disadvantage of a route, in pixels of length.
    fn cost(&self, route: &[Point]) -> f64 {
        const SYMBOL: f64 = 1000.0;
        const PIPE: f64 = 60.0;
        const BEND: f64 = 60.0;
        const SHARED: f64 = 10.0;
        let length: f64 = route.windows(2).map(|pair| (pair[0].0 - pair[1].0).hypot(pair[0].1 - pair[1].1)).sum();
        SYMBOL * self.crossed_symbols(route) as f64
            + PIPE * self.crossed_pipes(route) as f64
            + BEND * (route.len() - 2) as f64
            + SHARED * self.shared_length(route)
            + length
    }

    /// Returns the length of a route that runs along pipes.
    fn shared_length(&self, route: &[Point]) -> f64 {
        let pairs = route.windows(2).flat_map(|pair| self.pipes.iter().map(move |section| (pair, section)));
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

/// Returns true if a horizontal and a vertical section cross.
fn cross(a: [Point; 2], b: [Point; 2]) -> bool {
    let is_between = |value: f64, [low, high]: [f64; 2]| low.min(high) < value && value < low.max(high);
    let is_level = |section: [Point; 2]| (section[0].1 - section[1].1).abs() < ALIGNMENT_TOLERANCE;
    let (level, upright) = if is_level(a) { (a, b) } else { (b, a) };
    is_level(level)
        && !is_level(upright)
        && is_between(upright[0].0, [level[0].0, level[1].0])
        && is_between(level[0].1, [upright[0].1, upright[1].1])
}

/// Returns a route with right angles, around symbols if there is a way.
pub fn route(from: &PlacedSymbol, to: &PlacedSymbol, obstacles: &mut Obstacles) -> Vec<Point> {
    let direct = direct_route(from, to, obstacles);
    if obstacles.searches == 0 || obstacles.crossed_symbols(&direct) == 0 {
        return direct;
    }
    obstacles.searches -= 1;
    let best = cheapest(direct, detours(from, to), obstacles);
    if obstacles.crossed_symbols(&best) == 0 { best } else { cheapest(best, wide_detours(from, to), obstacles) }
}

/// Returns the route with the least disadvantage; the first one of equal ones.
fn cheapest(first: Vec<Point>, others: impl IntoIterator<Item = Vec<Point>>, obstacles: &Obstacles) -> Vec<Point> {
    let mut best = (obstacles.cost(&first), first);
    for route in others {
        let cost = obstacles.cost(&route);
        if cost < best.0 {
            best = (cost, route);
        }
    }
    best.1
}

/// Returns a route with at most one right angle: not along pipes, and otherwise into the upper or lower side of an item in
/// a pipe, unless the other route crosses fewer symbols.
fn direct_route(from: &PlacedSymbol, to: &PlacedSymbol, obstacles: &Obstacles) -> Vec<Point> {
    let (a, b) = (from.at, to.at);
    if (a.0 - b.0).abs() < ALIGNMENT_TOLERANCE || (a.1 - b.1).abs() < ALIGNMENT_TOLERANCE {
        return vec![a, b];
    }
    let bends = match to.symbol.placement {
        Placement::Inline => [(b.0, a.1), (a.0, b.1)],
        _ => [(a.0, b.1), (b.0, a.1)],
    };
    let [first, second] = bends.map(|bend| vec![a, bend, b]);
    let [shared, other_shared] = [&first, &second].map(|route| obstacles.shared_length(route));
    let is_better = if (shared - other_shared).abs() > ALIGNMENT_TOLERANCE {
        other_shared < shared
    } else {
        obstacles.crossed_symbols(&second) < obstacles.crossed_symbols(&first)
    };
    if is_better { second } else { first }
}

/// Returns the distances of lanes from the center of a symbol, on both of its sides.
fn offsets(half: f64) -> impl Iterator<Item = f64> {
    const STEP: f64 = 18.0;
    const STEPS: i32 = 8;
    let steps = (1..=STEPS).map(move |step| half + STEP * f64::from(step));
    steps.flat_map(|distance| [-distance, distance])
}

/// Returns the routes with three right angles that leave one end vertically and reach the other one from a side: around symbols
/// above or below the end.
fn wide_detours(from: &PlacedSymbol, to: &PlacedSymbol) -> impl Iterator<Item = Vec<Point>> {
    let (a, b) = (from.at, to.at);
    let (from_half, to_half) = (from.half, to.half);
    offsets(from_half.1).flat_map(move |dy| {
        let y = a.1 + dy;
        offsets(to_half.0).map(move |dx| vec![a, (a.0, y), (b.0 + dx, y), (b.0 + dx, b.1), b])
    })
}

/// Returns the routes with one and with two right angles whose middle section is between the ends or at a distance from one,
/// and those that lead to the upper or lower side of an item in a pipe.
fn detours(from: &PlacedSymbol, to: &PlacedSymbol) -> Vec<Vec<Point>> {
    const ENTRY: f64 = 24.0;
    let (a, b) = (from.at, to.at);
    let near = |a: f64, half_a: f64, b: f64, half_b: f64| {
        let at_ends =
            offsets(half_a).map(move |offset| a + offset).chain(offsets(half_b).map(move |offset| b + offset));
        std::iter::once((a + b) / 2.0).chain(at_ends)
    };
    let mut routes = vec![vec![a, (b.0, a.1), b], vec![a, (a.0, b.1), b]];
    routes.extend(near(a.0, from.half.0, b.0, to.half.0).map(|x| vec![a, (x, a.1), (x, b.1), b]));
    routes.extend(near(a.1, from.half.1, b.1, to.half.1).map(|y| vec![a, (a.0, y), (b.0, y), b]));
    if to.symbol.placement == Placement::Inline {
        let sides = [-1.0, 1.0].map(|side| b.1 + side * (to.half.0.max(to.half.1) + ENTRY));
        let columns: Vec<f64> = near(a.0, from.half.0, b.0, to.half.0).collect();
        let entries =
            sides.into_iter().flat_map(|y| columns.iter().map(move |x| vec![a, (*x, a.1), (*x, y), (b.0, y), b]));
        routes.extend(entries);
    }
    routes
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

    fn placed(name: &str, at: Point) -> PlacedSymbol {
        let symbol = crate::symbols::SYMBOLS.iter().find(|symbol| symbol.name == name).expect("a symbol");
        PlacedSymbol { symbol, at, half: symbol.half, angle: 0 }
    }

    #[test]
    fn a_signal_leads_around_a_symbol_on_its_way() {
        let (from, between) = (placed("instrument", (0.0, 0.0)), placed("instrument", (100.0, 0.0)));
        let to = placed("instrument", (200.0, 0.0));
        let way = |symbols: &[&PlacedSymbol]| {
            let symbols: Vec<Option<PlacedSymbol>> = symbols.iter().map(|placed| Some((*placed).clone())).collect();
            route(&from, &to, &mut Obstacles::new(&[], &symbols))
        };
        assert_eq!(way(&[&from, &to]), [from.at, to.at]);
        let around = way(&[&from, &between, &to]);
        assert_eq!(around, [(0.0, 0.0), (0.0, -34.0), (200.0, -34.0), (200.0, 0.0)]);
        // An actuator is on the way to its valve.
        assert_eq!(way(&[&from, &placed("actuator", (100.0, 0.0)), &to]), [from.at, to.at]);
    }

    #[test]
    fn a_signal_reaches_a_bubble_from_a_side_if_a_valve_is_above_it() {
        let (from, to) = (placed("instrument", (900.0, 0.0)), placed("instrument", (0.0, 400.0)));
        let (valve, bubble) = (placed("gate_valve", (0.0, 100.0)), placed("instrument", (450.0, 0.0)));
        let below = placed("instrument", (450.0, 400.0));
        let symbols = [&from, &to, &valve, &bubble, &below].map(|placed| Some(placed.clone()));
        // Columns of bubbles close the ways between the two levels.
        let wall = (1..60).map(|row| Some(placed("instrument", (860.0, f64::from(row) * 30.0))));
        let symbols: Vec<_> = symbols.into_iter().chain(wall).collect();
        let mut obstacles = Obstacles::new(&[], &symbols);
        let way = route(&from, &to, &mut obstacles);
        assert_eq!(obstacles.crossed_symbols(&way), 0, "{way:?}");
        let [.., before, end] = way[..] else { panic!("{way:?}") };
        assert!(before.1 == end.1 && (before.0 - end.0).abs() < 200.0, "{way:?}");
    }

    #[test]
    fn a_signal_ends_at_a_side_of_a_valve_and_not_in_its_pipe() {
        let (from, valve) = (placed("instrument", (0.0, -100.0)), placed("control_valve", (200.0, 0.0)));
        let between = placed("instrument", (200.0, -100.0));
        let pipe = Route { edge: 0, role: EdgeRole::Flow, points: vec![(100.0, 0.0), (300.0, 0.0)] };
        let symbols = [&from, &valve, &between].map(|placed| Some(placed.clone()));
        let way = route(&from, &valve, &mut Obstacles::new(&[pipe], &symbols));
        let [.., before, end] = way[..] else { panic!("{way:?}") };
        assert!(before.0 == end.0 && before.1 < -20.0, "{way:?}");
    }

    #[test]
    fn large_drawings_have_a_bounded_number_of_searches() {
        let (from, to) = (placed("instrument", (0.0, 0.0)), placed("instrument", (200.0, 0.0)));
        let symbols = [from.clone(), placed("instrument", (100.0, 0.0)), to.clone()].map(Some);
        let mut obstacles = Obstacles::new(&[], &symbols);
        let lengths: Vec<usize> = (0..MAX_SEARCHES + 1).map(|_| route(&from, &to, &mut obstacles).len()).collect();
        assert_eq!((lengths[0], lengths[MAX_SEARCHES]), (4, 2));
    }

    #[test]
    fn long_sections_have_several_marks_and_short_ones_none() {
        assert_eq!(marks(&[(0.0, 0.0), (10.0, 0.0)]).len(), 0);
        assert_eq!(marks(&[(0.0, 0.0), (0.0, 180.0)]).len(), 3);
        assert_eq!(marks(&[(0.0, 0.0), (0.0, 1e9)]).len(), MAX_MARKS);
    }
}
