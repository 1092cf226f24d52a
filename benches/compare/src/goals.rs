//! Performance goals of pidq, and their evaluation on the measurements.

use std::fmt::{self, Display, Formatter};

use crate::measure::quantile;
use crate::table::{Event, Findings, Grid, distinct, short, significant, times_as_long};

/// The name of pidq among the contestants.
pub const OURS: &str = "pidq";

/// Required ratio of pidq's time to another contestant's.
#[derive(Clone, Copy)]
enum Bound {
    /// pidq takes at most this many times as long.
    AtMost(f64),
    /// The other contestant takes at least this many times as long.
    AtLeast(f64),
}
use Bound::{AtLeast, AtMost};

/// Goal for a group of tasks; an empty task means all of them.
struct Goal {
    group: &'static str,
    task: &'static str,
    against: &'static str,
    bound: Bound,
}

const fn goal(group: &'static str, task: &'static str, against: &'static str, bound: Bound) -> Goal {
    Goal { group, task, against, bound }
}

const GOALS: &[Goal] = &[
    goal("load", "load", "sonic-rs, borrowed structs", AtMost(1.0 / 0.85)),
    goal("load", "load", "jaq library", AtLeast(10.0)),
    goal("warm", "q1 → ids", "limit", AtMost(1.3)),
    goal("warm", "q1 → ids", "jsonquery JS", AtLeast(80.0)),
    goal("warm", "q1 → ids", "polars", AtLeast(5.0)),
    goal("warm", "q4", "limit", AtMost(2.5)),
    goal("warm", "q4", "jsonquery JS", AtLeast(150.0)),
    goal("warm", "q1 → JSON", "limit", AtMost(1.3)),
    goal("warm", "q1 → JSON", "jsonquery JS", AtLeast(20.0)),
    goal("warm", "q2 → JSON", "limit", AtMost(2.0)),
    goal("warm", "q2 → JSON", "jsonquery JS", AtLeast(8.0)),
    goal("warm", "q3", "limit", AtMost(1.5)),
    goal("warm", "q3", "jsonquery JS", AtLeast(70.0)),
    goal("walks", "3 hops ×1000", "limit", AtMost(1.5)),
    goal("walks", "reach", "limit", AtMost(1.2)),
    goal("walks", "BFS", "limit", AtMost(1.2)),
    goal("walks", "BFS", "petgraph", AtLeast(1.4)),
    goal("walks", "weak parts", "limit", AtMost(1.3)),
    goal("walks", "strong parts", "limit", AtMost(1.3)),
    goal("walks", "routes ×20", "limit", AtMost(1.3)),
    goal("walks", "BFS", "networkx", AtLeast(28.0)),
    goal("walks", "BFS", "rustworkx", AtLeast(8.0)),
    goal("walks", "3 hops ×1000", "rustworkx", AtLeast(10.0)),
    goal("walks", "strong parts", "rustworkx", AtLeast(1.5)),
    goal("functions", "", "jsonquery JS", AtLeast(3.0)),
    goal("compile", "", "jsonquery JS", AtLeast(4.8)),
    goal("cold", "q1", "jaq", AtLeast(5.0)),
    goal("cold", "q2", "jaq", AtLeast(4.0)),
    goal("cold", "q3", "jaq", AtLeast(4.0)),
    goal("cold", "q4", "jaq", AtLeast(5.0)),
];

/// Goal for a value: its maximum, absolute or relative to another contestant's.
struct Ceiling {
    what: &'static str,
    against: Option<&'static str>,
    most: f64,
}

const CEILINGS: &[Ceiling] = &[
    Ceiling { what: "kept B/node", against: None, most: 500.0 },
    Ceiling { what: "peak MB", against: Some("jaq"), most: 0.2 },
];

/// Lists each goal with the measured value, on the largest drawing up to 100k; for several tasks, the worst value.
pub struct Gates<'a>(pub &'a Findings);

impl Display for Gates<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let goals = GOALS.iter().filter_map(|goal| self.goal(goal));
        let rows: Vec<_> = goals.chain(CEILINGS.iter().filter_map(|ceiling| self.ceiling(ceiling))).collect();
        if rows.is_empty() {
            return Ok(());
        }
        let mut grid = Grid::new(["goal", "drawing", "wanted", "measured", "quartiles", ""].into_iter());
        for row in rows {
            grid.row(row.into_iter());
        }
        writeln!(f, "## Goals\n\n{grid}")
    }
}

impl Gates<'_> {
    fn goal(&self, goal: &Goal) -> Option<[String; 6]> {
        let matches = |event: &&Event| event.group == goal.group && (goal.task.is_empty() || event.task == goal.task);
        let known = |event: &&Event| event.nodes <= 100_000 && event.ratio(goal.against).is_some();
        let events: Vec<&Event> = self.0.events.iter().filter(matches).filter(known).collect();
        let nodes = events.iter().map(|event| event.nodes).max()?;
        let measured = events.iter().filter(|event| event.nodes == nodes).map(|event| Measured::new(event, goal));
        let worst = measured.min_by(|a, b| a.margin.total_cmp(&b.margin))?;
        let (sign, wanted) = match goal.bound {
            AtMost(bound) => ("≤", bound),
            AtLeast(bound) => ("≥", bound),
        };
        Some([
            format!("{}, against {}", worst.title(goal), goal.against),
            short(nodes),
            format!("{sign} {}", times_as_long(wanted)),
            times_as_long(worst.ratio),
            worst.quartiles,
            pass_mark(worst.margin >= 1.0),
        ])
    }

    fn ceiling(&self, ceiling: &Ceiling) -> Option<[String; 6]> {
        let known = |name: &str| {
            let facts = self.0.facts.iter().filter(move |fact| fact.name == name && fact.what == ceiling.what);
            facts.filter(|fact| fact.nodes <= 100_000).max_by_key(|fact| fact.nodes)
        };
        let ours = known(OURS)?;
        let (title, unit) = match ceiling.against {
            Some(other) => (format!("{}, against {other}", ceiling.what), known(other)?.value),
            None => (ceiling.what.to_string(), 1.0),
        };
        let measured = ours.value / unit;
        let wanted = format!("≤ {}", significant(ceiling.most));
        let kept = pass_mark(measured <= ceiling.most);
        Some([title, short(ours.nodes), wanted, significant(measured), String::new(), kept])
    }
}

fn pass_mark(kept: bool) -> String {
    String::from(if kept { "kept" } else { "missed" })
}

/// Returns the ratio of a goal, and its margin to the bound.
struct Measured<'a> {
    task: &'a str,
    ratio: f64,
    margin: f64,
    quartiles: String,
}

impl<'a> Measured<'a> {
    fn title(&self, goal: &Goal) -> String {
        let worst = if goal.task.is_empty() { ", worst: " } else { " " };
        if goal.task == goal.group { goal.task.to_string() } else { format!("{}{worst}{}", goal.group, self.task) }
    }

    fn new(event: &'a Event, goal: &Goal) -> Self {
        let theirs = event.ratio(goal.against).unwrap_or(f64::NAN);
        let (ratio, margin) = match goal.bound {
            AtMost(bound) => (1.0 / theirs, bound * theirs),
            AtLeast(bound) => (theirs, theirs / bound),
        };
        let rounds = |name| event.score(name).map_or(&[][..], |score| score.rounds());
        let pairs = rounds(OURS).iter().zip(rounds(goal.against));
        let ratios: Vec<f64> = pairs
            .map(|(ours, theirs)| if matches!(goal.bound, AtMost(_)) { ours / theirs } else { theirs / ours })
            .collect();
        let quartile = |share| significant(quantile(ratios.clone(), share));
        Self { task: &event.task, ratio, margin, quartiles: format!("{}–{}", quartile(0.25), quartile(0.75)) }
    }
}

/// Growth exponent of times over drawing size: 1 is linear.
pub struct Growth<'a>(pub &'a [Event]);

impl Display for Growth<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let events: Vec<&Event> = self.0.iter().filter(|event| ["load", "warm"].contains(&event.group)).collect();
        if distinct(events.iter().map(|event| event.nodes)).len() < 2 {
            return Ok(());
        }
        let tasks = distinct(events.iter().map(|event| event.task.as_str()));
        let mut grid = Grid::new(std::iter::once("").chain(tasks.iter().copied()));
        for name in distinct(events.iter().flat_map(|event| &event.scores).map(|score| score.name.as_str())) {
            let cells = tasks.iter().map(|task| {
                let exponent = exponent(events.iter().filter(|event| event.task == *task), name);
                exponent.map_or_else(String::new, |exponent| format!("{exponent:.2}"))
            });
            grid.row(std::iter::once(name.to_string()).chain(cells));
        }
        writeln!(f, "## Growth: exponent of time over nodes\n\n{grid}")
    }
}

/// Returns the slope of the line through the logarithms.
fn exponent<'a>(events: impl Iterator<Item = &'a &'a Event>, name: &str) -> Option<f64> {
    let point = |event: &&Event| Some(((event.nodes as f64).ln(), event.score(name)?.median()?.ln()));
    let points: Vec<(f64, f64)> = events.filter_map(point).collect();
    if points.len() < 2 {
        return None;
    }
    let count = points.len() as f64;
    let mean_x = points.iter().map(|(x, _)| x).sum::<f64>() / count;
    let mean_y = points.iter().map(|(_, y)| y).sum::<f64>() / count;
    let covariance: f64 = points.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let variance: f64 = points.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    Some(covariance / variance)
}
