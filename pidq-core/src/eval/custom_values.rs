//! Constructors of values for custom functions, in the memory of the run and charged to its limits.

use std::fmt::Write;

use super::EvalContext;
use super::build::ObjectBuilder;
use crate::error::Result;
use crate::value::Value;

impl<'a> EvalContext<'a> {
    /// Creates a string. Numbers, booleans and strings that live long enough need no memory of the run:
    /// `Value::from(21.5)`.
    ///
    /// # Errors
    /// `PQ4xxx` if a limit of the run is exceeded.
    pub fn make_string(&mut self, text: &str) -> Result<Value<'a>> {
        self.build_text(|out| out.write_str(text)).map(Value::String)
    }

    /// Creates an array.
    ///
    /// # Errors
    /// As [`EvalContext::make_string`].
    pub fn make_array(&mut self, items: impl IntoIterator<Item = Value<'a>>) -> Result<Value<'a>> {
        let base = self.mark();
        for item in items {
            self.charge(1)?;
            self.push(item)?;
        }
        self.collect_list(base)
    }

    /// Creates an object; the last of equal keys wins.
    ///
    /// # Errors
    /// As [`EvalContext::make_string`].
    pub fn make_object<'k>(&mut self, fields: impl IntoIterator<Item = (&'k str, Value<'a>)>) -> Result<Value<'a>> {
        let mut object = ObjectBuilder::new(self);
        for (key, value) in fields {
            self.charge(1)?;
            let key = self.build_text(|out| out.write_str(key))?;
            object.insert(self, key, value)?;
        }
        object.into_object(self)
    }
}
