//! Performance goals of pidq, and their evaluation on the measurements.

use std::fmt::{self, Display, Formatter};

use crate::measure::quantile;
use crate::result::{PIDQ, ReportData, TaskResult};
use crate::table::{Grid, distinct, short, significant, times_as_long};

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
    goal("warm", "q1 → ids", "baseline", AtMost(1.3)),
    goal("warm", "q1 → ids", "jsonquery JS", AtLeast(80.0)),
    goal("warm", "q1 → ids", "polars", AtLeast(5.0)),
    goal("warm", "q4", "baseline", AtMost(2.5)),
    goal("warm", "q4", "jsonquery JS", AtLeast(150.0)),
    goal("warm", "q1 → JSON", "baseline", AtMost(1.3)),
    goal("warm", "q1 → JSON", "jsonquery JS", AtLeast(20.0)),
    goal("warm", "q2 → JSON", "baseline", AtMost(2.0)),
    goal("warm", "q2 → JSON", "jsonquery JS", AtLeast(8.0)),
    goal("warm", "q3", "baseline", AtMost(1.5)),
    goal("warm", "q3", "jsonquery JS", AtLeast(70.0)),
    goal("walks", "3 hops ×1000", "baseline", AtMost(1.5)),
    goal("walks", "reach", "baseline", AtMost(1.2)),
    goal("walks", "BFS", "baseline", AtMost(1.2)),
    goal("walks", "BFS", "petgraph", AtLeast(1.4)),
    goal("walks", "weak components", "baseline", AtMost(1.3)),
    goal("walks", "strong components", "baseline", AtMost(1.3)),
    goal("walks", "routes ×20", "baseline", AtMost(1.3)),
    goal("walks", "BFS", "networkx", AtLeast(28.0)),
    goal("walks", "BFS", "rustworkx", AtLeast(8.0)),
    goal("walks", "3 hops ×1000", "rustworkx", AtLeast(10.0)),
    goal("walks", "strong components", "rustworkx", AtLeast(1.5)),
    goal("functions", "", "jsonquery JS", AtLeast(3.0)),
    goal("compile", "", "jsonquery JS", AtLeast(4.8)),
    goal("cold", "q1", "jaq", AtLeast(5.0)),
    goal("cold", "q2", "jaq", AtLeast(4.0)),
    goal("cold", "q3", "jaq", AtLeast(4.0)),
    goal("cold", "q4", "jaq", AtLeast(5.0)),
];

/// Goal for a measurement: its maximum, absolute or relative to another contestant's.
struct MeasurementGoal {
    quantity: &'static str,
    against: Option<&'static str>,
    maximum: f64,
}

const MEASUREMENT_GOALS: &[MeasurementGoal] = &[
    MeasurementGoal { quantity: "retained B/node", against: None, maximum: 500.0 },
    MeasurementGoal { quantity: "peak MB", against: Some("jaq"), maximum: 0.2 },
];

/// Lists each goal with the measured value, on the largest drawing up to 100k; for several tasks, the worst value.
pub struct GoalReport<'a>(pub &'a ReportData);

impl Display for GoalReport<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let goals = GOALS.iter().filter_map(|goal| self.goal(goal));
        let rows: Vec<_> =
            goals.chain(MEASUREMENT_GOALS.iter().filter_map(|goal| self.measurement_goal(goal))).collect();
        if rows.is_empty() {
            return Ok(());
        }
        let mut grid = Grid::new(["goal", "drawing", "required", "measured", "quartiles", ""].into_iter());
        for row in rows {
            grid.row(row.into_iter());
        }
        writeln!(f, "## Goals\n\n{grid}")
    }
}

impl GoalReport<'_> {
    fn goal(&self, goal: &Goal) -> Option<[String; 6]> {
        let matches =
            |result: &&TaskResult| result.group == goal.group && (goal.task.is_empty() || result.task == goal.task);
        let known = |result: &&TaskResult| result.nodes <= 100_000 && result.ratio(goal.against).is_some();
        let results: Vec<&TaskResult> = self.0.results.iter().filter(matches).filter(known).collect();
        let nodes = results.iter().map(|result| result.nodes).max()?;
        let measured =
            results.iter().filter(|result| result.nodes == nodes).map(|result| MeasuredRatio::new(result, goal));
        let worst = measured.min_by(|a, b| a.margin.total_cmp(&b.margin))?;
        let (sign, bound) = match goal.bound {
            AtMost(bound) => ("≤", bound),
            AtLeast(bound) => ("≥", bound),
        };
        Some([
            format!("{}, against {}", worst.title(goal), goal.against),
            short(nodes),
            format!("{sign} {}", times_as_long(bound)),
            times_as_long(worst.ratio),
            worst.quartiles,
            pass_mark(worst.margin >= 1.0),
        ])
    }

    fn measurement_goal(&self, goal: &MeasurementGoal) -> Option<[String; 6]> {
        let known = |name: &str| {
            let measurements = self
                .0
                .measurements
                .iter()
                .filter(move |measurement| measurement.name == name && measurement.quantity == goal.quantity);
            measurements.filter(|measurement| measurement.nodes <= 100_000).max_by_key(|measurement| measurement.nodes)
        };
        let pidq = known(PIDQ)?;
        let (title, unit) = match goal.against {
            Some(other) => (format!("{}, against {other}", goal.quantity), known(other)?.value),
            None => (goal.quantity.to_string(), 1.0),
        };
        let measured = pidq.value / unit;
        let required = format!("≤ {}", significant(goal.maximum));
        let mark = pass_mark(measured <= goal.maximum);
        Some([title, short(pidq.nodes), required, significant(measured), String::new(), mark])
    }
}

fn pass_mark(is_met: bool) -> String {
    String::from(if is_met { "met" } else { "missed" })
}

/// Measured ratio of a goal, and its margin to the bound.
struct MeasuredRatio<'a> {
    task: &'a str,
    ratio: f64,
    margin: f64,
    quartiles: String,
}

impl<'a> MeasuredRatio<'a> {
    fn title(&self, goal: &Goal) -> String {
        let worst = if goal.task.is_empty() { ", worst: " } else { " " };
        if goal.task == goal.group { goal.task.to_string() } else { format!("{}{worst}{}", goal.group, self.task) }
    }

    fn new(result: &'a TaskResult, goal: &Goal) -> Self {
        let peer_ratio = result.ratio(goal.against).unwrap_or(f64::NAN);
        let (ratio, margin) = match goal.bound {
            AtMost(bound) => (1.0 / peer_ratio, bound * peer_ratio),
            AtLeast(bound) => (peer_ratio, peer_ratio / bound),
        };
        let rounds = |name| result.score(name).map_or(&[][..], |score| score.rounds());
        let pairs = rounds(PIDQ).iter().zip(rounds(goal.against));
        let ratios: Vec<f64> =
            pairs.map(|(pidq, peer)| if matches!(goal.bound, AtMost(_)) { pidq / peer } else { peer / pidq }).collect();
        let quartile = |share| significant(quantile(ratios.clone(), share));
        Self { task: &result.task, ratio, margin, quartiles: format!("{}–{}", quartile(0.25), quartile(0.75)) }
    }
}

/// Growth exponent of times over drawing size: 1 is linear.
pub struct Growth<'a>(pub &'a [TaskResult]);

impl Display for Growth<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let results: Vec<&TaskResult> =
            self.0.iter().filter(|result| ["load", "warm"].contains(&result.group)).collect();
        if distinct(results.iter().map(|result| result.nodes)).len() < 2 {
            return Ok(());
        }
        let tasks = distinct(results.iter().map(|result| result.task.as_str()));
        let mut grid = Grid::new(std::iter::once("").chain(tasks.iter().copied()));
        for name in distinct(results.iter().flat_map(|result| &result.scores).map(|score| score.name.as_str())) {
            let cells = tasks.iter().map(|task| {
                let exponent = exponent(results.iter().filter(|result| result.task == *task), name);
                exponent.map_or_else(String::new, |exponent| format!("{exponent:.2}"))
            });
            grid.row(std::iter::once(name.to_string()).chain(cells));
        }
        writeln!(f, "## Growth: exponent of time over nodes\n\n{grid}")
    }
}

/// Returns the slope of the line through the logarithms.
fn exponent<'a>(results: impl Iterator<Item = &'a &'a TaskResult>, name: &str) -> Option<f64> {
    let point = |result: &&TaskResult| Some(((result.nodes as f64).ln(), result.score(name)?.median()?.ln()));
    let points: Vec<(f64, f64)> = results.filter_map(point).collect();
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
