//! What the calls of a query did in a run: rows, steps, and how they came to their results.

use std::fmt;

use serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::error::Warning;

/// The calls of a query in the order in which they are written, with what each did.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The calls; arguments follow their call.
    pub steps: Vec<Step>,
    /// Steps of fuel that the run took.
    pub fuel: u64,
    /// Items of the result, if it is a list.
    pub rows: Option<u64>,
    /// What looks like a mistake in the query, as in the outcome of a run.
    pub warnings: Vec<Warning>,
    /// Whether functions of the language asked for nodes and edges of the document, as in the outcome of a run.
    pub asked_graph: bool,
}

/// What one call did.
#[derive(Clone, Debug)]
pub struct Step {
    /// The call as it stands in the query, shortened.
    pub text: String,
    /// How many calls it stands in.
    pub depth: usize,
    /// How often it ran.
    pub runs: u64,
    /// Items of all its results that are lists.
    pub rows: u64,
    /// Fuel that it took itself, without its arguments.
    pub fuel: u64,
    /// How it came to its results: `index`, `numbers side by side`, `top-k`; `scan` where an argument was worked
    /// out for the items of a list one by one; nothing where there is no list to ask.
    pub way: &'static str,
}

impl fmt::Display for Explanation {
    /// A table, one line a call.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (texts, width) = indented(self.steps.iter().map(|step| (step.depth, step.text.as_str())));
        writeln!(f, "{:<width$}  {:>9}  {:>9}  {:>11}  how", "step", "runs", "rows", "fuel")?;
        for (text, step) in texts.iter().zip(&self.steps) {
            let line = format!("{text:<width$}  {:>9}  {:>9}  {:>11}  {}", step.runs, step.rows, step.fuel, step.way);
            writeln!(f, "{}", line.trim_end())?;
        }
        let rows = self.rows.map_or_else(String::new, |rows| rows.to_string());
        writeln!(f, "{:<width$}  {:>9}  {rows:>9}  {:>11}", "total", "", self.fuel)
    }
}

/// The first column of a table of calls, by depth and text, and its width.
pub(super) fn indented<'s>(steps: impl Iterator<Item = (usize, &'s str)>) -> (Vec<String>, usize) {
    let texts: Vec<String> = steps.map(|(depth, text)| "  ".repeat(depth) + text).collect();
    let width = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0).max("step".len());
    (texts, width)
}

impl Serialize for Explanation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Explanation", 4)?;
        fields.serialize_field("steps", &self.steps)?;
        fields.serialize_field("fuel", &self.fuel)?;
        fields.serialize_field("rows", &self.rows)?;
        fields.serialize_field("warnings", &self.warnings)?;
        fields.end()
    }
}

impl Serialize for Step {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Step", 6)?;
        fields.serialize_field("text", &self.text)?;
        fields.serialize_field("depth", &self.depth)?;
        fields.serialize_field("runs", &self.runs)?;
        fields.serialize_field("rows", &self.rows)?;
        fields.serialize_field("fuel", &self.fuel)?;
        fields.serialize_field("how", self.way)?;
        fields.end()
    }
}
