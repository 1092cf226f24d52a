//! Plan of a query: its calls and their strategies as far as they are known before a run.

use std::fmt;

use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::run_profile::indented;

/// Plan of a query: its calls in the order in which they are written.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct QueryPlan {
    /// The calls; arguments follow their call.
    pub steps: Vec<PlanStep>,
}

/// One call of a plan.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PlanStep {
    /// The call as written in the query, shortened.
    pub text: String,
    /// Number of calls around it.
    pub depth: usize,
    /// Expected strategy, with the values of [`ProfileStep`](super::ProfileStep); empty if it depends on the document
    /// or its size.
    pub strategy: &'static str,
}

impl fmt::Display for QueryPlan {
    /// Writes a table, one line per call.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (texts, width) = indented(self.steps.iter().map(|step| (step.depth, step.text.as_str())));
        writeln!(f, "{:<width$}  how", "step")?;
        for (text, step) in texts.iter().zip(&self.steps) {
            writeln!(f, "{}", format!("{text:<width$}  {}", step.strategy).trim_end())?;
        }
        Ok(())
    }
}

impl Serialize for QueryPlan {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("QueryPlan", 1)?;
        fields.serialize_field("steps", &self.steps)?;
        fields.end()
    }
}

impl Serialize for PlanStep {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("PlanStep", 3)?;
        fields.serialize_field("text", &self.text)?;
        fields.serialize_field("depth", &self.depth)?;
        fields.serialize_field("how", self.strategy)?;
        fields.end()
    }
}
