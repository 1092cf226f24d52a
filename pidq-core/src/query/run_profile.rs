//! Profile of a run: rows, fuel and strategy of each call.

use std::fmt;

use serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::error::Warning;

/// Profile of a run: the calls of the query in the order in which they are written.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RunProfile {
    /// The calls; arguments follow their call.
    pub steps: Vec<ProfileStep>,
    /// Fuel used by the run.
    pub fuel: u64,
    /// Items of the result, if it is an array.
    pub rows: Option<u64>,
    /// Likely mistakes in the query, as in the result of a run.
    pub warnings: Vec<Warning>,
    /// True if the query used nodes and edges through graph functions, as in the result of a run.
    pub uses_graph: bool,
}

/// Profile of one call.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ProfileStep {
    /// The call as written in the query, shortened.
    pub text: String,
    /// Number of calls around it.
    pub depth: usize,
    /// Number of runs.
    pub runs: u64,
    /// Total number of items of its results that are arrays.
    pub rows: u64,
    /// Fuel used by the call itself, without its arguments.
    pub fuel: u64,
    /// Strategy of the call: `index`, `vectorized numbers`, `top-k`; `scan` if an argument was evaluated for each
    /// item of an array; empty if there is no array.
    pub strategy: &'static str,
}

impl fmt::Display for RunProfile {
    /// Writes a table, one line per call.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (texts, width) = indented(self.steps.iter().map(|step| (step.depth, step.text.as_str())));
        writeln!(f, "{:<width$}  {:>9}  {:>9}  {:>11}  how", "step", "runs", "rows", "fuel")?;
        for (text, step) in texts.iter().zip(&self.steps) {
            let line =
                format!("{text:<width$}  {:>9}  {:>9}  {:>11}  {}", step.runs, step.rows, step.fuel, step.strategy);
            writeln!(f, "{}", line.trim_end())?;
        }
        let rows = self.rows.map_or_else(String::new, |rows| rows.to_string());
        writeln!(f, "{:<width$}  {:>9}  {rows:>9}  {:>11}", "total", "", self.fuel)
    }
}

/// Returns the first column of a table of calls, indented by depth, and its width.
pub(super) fn indented<'s>(steps: impl Iterator<Item = (usize, &'s str)>) -> (Vec<String>, usize) {
    let texts: Vec<String> = steps.map(|(depth, text)| "  ".repeat(depth) + text).collect();
    let width = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0).max("step".len());
    (texts, width)
}

impl Serialize for RunProfile {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Explanation", 4)?;
        fields.serialize_field("steps", &self.steps)?;
        fields.serialize_field("fuel", &self.fuel)?;
        fields.serialize_field("rows", &self.rows)?;
        fields.serialize_field("warnings", &self.warnings)?;
        fields.end()
    }
}

impl Serialize for ProfileStep {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Step", 6)?;
        fields.serialize_field("text", &self.text)?;
        fields.serialize_field("depth", &self.depth)?;
        fields.serialize_field("runs", &self.runs)?;
        fields.serialize_field("rows", &self.rows)?;
        fields.serialize_field("fuel", &self.fuel)?;
        fields.serialize_field("how", self.strategy)?;
        fields.end()
    }
}
