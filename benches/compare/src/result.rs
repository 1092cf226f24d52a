//! Results of the measurements.

use crate::measure::Score;

/// The name of pidq among the contestants.
pub const PIDQ: &str = "pidq";

/// Results of the contestants in one task.
pub struct TaskResult {
    pub group: &'static str,
    /// Number of nodes of the drawing; 0 if there is none.
    pub nodes: usize,
    pub task: String,
    pub scores: Vec<Score>,
}

impl TaskResult {
    pub fn score(&self, name: &str) -> Option<&Score> {
        self.scores.iter().find(|score| score.name == name)
    }

    /// Returns the ratio of another contestant's time to pidq's.
    pub fn ratio(&self, name: &str) -> Option<f64> {
        Some(self.score(name)?.median()? / self.score(PIDQ)?.median()?)
    }
}

/// Measurement other than a time.
pub struct Measurement {
    pub group: &'static str,
    pub nodes: usize,
    pub name: String,
    pub quantity: &'static str,
    pub value: f64,
}

impl Measurement {
    pub fn new(group: &'static str, nodes: usize, name: &str, quantity: &'static str, value: f64) -> Self {
        Self { group, nodes, name: name.to_string(), quantity, value }
    }
}

#[derive(Default)]
pub struct ReportData {
    pub results: Vec<TaskResult>,
    pub measurements: Vec<Measurement>,
}
