//! JSON form of a dialect, for editors: functions and operators with the texts for help and completion.

use serde::ser::{Serialize, SerializeSeq, SerializeStruct, Serializer};

use super::Dialect;
use crate::eval::plan::custom_function::CustomParam;
use crate::eval::plan::function::{Function, Param};

impl Serialize for Dialect {
    /// Serializes `functions` in the order of the manual, then `operators`, the tightest first.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Dialect", 2)?;
        fields.serialize_field("functions", &Functions(self))?;
        fields.serialize_field("operators", &Operators(self))?;
        fields.end()
    }
}

struct Functions<'a>(&'a Dialect);

impl Serialize for Functions<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.functions())
    }
}

struct Operators<'a>(&'a Dialect);

impl Serialize for Operators<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut rows = serializer.serialize_seq(None)?;
        for (level, operators) in self.0.operators().enumerate() {
            for (text, function) in operators {
                rows.serialize_element(&OperatorRow { text, function, level })?;
            }
        }
        rows.end()
    }
}

/// An operator; level 0 binds tightest.
struct OperatorRow<'a> {
    text: &'a str,
    function: &'a str,
    level: usize,
}

impl Serialize for OperatorRow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Operator", 3)?;
        fields.serialize_field("text", self.text)?;
        fields.serialize_field("function", self.function)?;
        fields.serialize_field("level", &self.level)?;
        fields.end()
    }
}

impl Serialize for Function {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Function", 5)?;
        fields.serialize_field("name", self.name())?;
        fields.serialize_field("signature", &self.signature())?;
        fields.serialize_field("summary", self.summary())?;
        fields.serialize_field("example", self.example())?;
        match self.custom_params() {
            Some(params) => fields.serialize_field("params", params)?,
            None => fields.serialize_field("params", self.params())?,
        }
        fields.end()
    }
}

impl Serialize for CustomParam {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Param", 5)?;
        fields.serialize_field("name", self.name())?;
        fields.serialize_field("expects", self.type_name())?;
        fields.serialize_field("optional", &self.is_optional())?;
        fields.serialize_field("repeats", &self.is_many())?;
        fields.serialize_field("options", &[(); 0])?;
        fields.end()
    }
}

impl Serialize for Param {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Param", 5)?;
        fields.serialize_field("name", self.name)?;
        fields.serialize_field("expects", self.expects())?;
        fields.serialize_field("optional", &self.is_optional)?;
        fields.serialize_field("repeats", &self.is_many)?;
        fields.serialize_field("options", &self.option_names().collect::<Vec<_>>())?;
        fields.end()
    }
}
