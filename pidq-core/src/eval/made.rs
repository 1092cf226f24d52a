//! What functions of the embedding program make: values in the memory of the run, paid like all others.

use std::fmt::Write;

use super::Cx;
use super::build::Members;
use crate::error::Result;
use crate::value::Value;

impl<'a> Cx<'a> {
    /// A text. Numbers, truth values and texts that live long enough need nothing of the run: `Value::from(21.5)`.
    ///
    /// # Errors
    /// `PQ4xxx` where a limit of the run is met.
    pub fn make_text(&mut self, text: &str) -> Result<Value<'a>> {
        self.text(|out| out.write_str(text)).map(Value::String)
    }

    /// A list.
    ///
    /// # Errors
    /// As [`Cx::make_text`].
    pub fn make_list(&mut self, items: impl IntoIterator<Item = Value<'a>>) -> Result<Value<'a>> {
        let base = self.mark();
        for item in items {
            self.spend(1)?;
            self.push(item)?;
        }
        self.list(base)
    }

    /// An object; of equal keys the last one counts.
    ///
    /// # Errors
    /// As [`Cx::make_text`].
    pub fn make_object<'k>(&mut self, members: impl IntoIterator<Item = (&'k str, Value<'a>)>) -> Result<Value<'a>> {
        let mut object = Members::new(self);
        for (key, value) in members {
            self.spend(1)?;
            let key = self.text(|out| out.write_str(key))?;
            object.put(self, key, value)?;
        }
        object.into_object(self)
    }
}
