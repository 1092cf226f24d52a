//! A query before it runs: its calls, and what is known of how they will come to their results.

use std::fmt;

use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::explanation::indented;

/// The calls of a query in the order in which they are written.
#[derive(Clone, Debug)]
pub struct Outline {
    /// The calls; arguments follow their call.
    pub steps: Vec<Planned>,
}

/// One call.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The call as it stands in the query, shortened.
    pub text: String,
    /// How many calls it stands in.
    pub depth: usize,
    /// How it may come to its results, in the words of a [`Step`](super::Step); nothing where that is for the document to
    /// say, or for its length.
    pub way: &'static str,
}

impl fmt::Display for Outline {
    /// A table, one line a call.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (texts, width) = indented(self.steps.iter().map(|step| (step.depth, step.text.as_str())));
        writeln!(f, "{:<width$}  how", "step")?;
        for (text, step) in texts.iter().zip(&self.steps) {
            writeln!(f, "{}", format!("{text:<width$}  {}", step.way).trim_end())?;
        }
        Ok(())
    }
}

impl Serialize for Outline {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Outline", 1)?;
        fields.serialize_field("steps", &self.steps)?;
        fields.end()
    }
}

impl Serialize for Planned {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Planned", 3)?;
        fields.serialize_field("text", &self.text)?;
        fields.serialize_field("depth", &self.depth)?;
        fields.serialize_field("how", self.way)?;
        fields.end()
    }
}
