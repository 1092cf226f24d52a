//! Column of uniform type: booleans, integers, numbers, strings or JSON text, with validity.

use pidq_core::error::Code;
use pidq_core::{Number, Value};

use crate::abi_error::AbiError;
use crate::result::ResultView;

/// Values of a key, row by row.
pub struct Column {
    pub name: String,
    pub data: Data,
    /// Validity by row; `None` if all rows have a value.
    pub valid: Option<Vec<bool>>,
    pub len: usize,
    pub nulls: usize,
}

pub enum Data {
    /// Only nulls so far.
    Null,
    Bools(Vec<bool>),
    Integers(Vec<i64>),
    Reals(Vec<f64>),
    Texts(Texts),
}

/// Concatenated strings with their start offsets, followed by the end of the last.
pub struct Texts {
    pub offsets: Vec<i32>,
    pub bytes: Vec<u8>,
    /// Strings beyond this size are dropped, and reported at the end.
    pub limit: usize,
    pub is_full: bool,
}

impl Column {
    /// Creates a column without rows.
    pub fn new(name: &str) -> Column {
        Column { name: name.into(), data: Data::Null, valid: None, len: 0, nulls: 0 }
    }

    /// Adds the value of a row; returns false if the types differ.
    #[inline]
    pub fn push(&mut self, row: usize, value: Value<'_>, limit: usize) -> bool {
        if value.is_null() {
            return true;
        }
        if self.len < row {
            self.pad(row);
        }
        if matches!(self.data, Data::Null) {
            self.data = Data::begin(value, self.len, limit);
        }
        let fits = self.data.push(value);
        if fits {
            self.mark_valid();
        }
        fits
    }

    pub fn push_json(&mut self, row: usize, value: Value<'_>, view: &ResultView<'_>) -> Result<(), AbiError> {
        if value.is_null() {
            return Ok(());
        }
        self.pad(row);
        if matches!(self.data, Data::Null) {
            self.data = Data::Texts(Texts::new(self.len, view.output));
        }
        let Data::Texts(texts) = &mut self.data else { return Ok(()) };
        texts.push_json(value).map_err(|error| view.abi_error(&error))?;
        self.mark_valid();
        Ok(())
    }

    fn mark_valid(&mut self) {
        if let Some(valid) = &mut self.valid {
            valid.push(true);
        }
        self.len += 1;
    }

    /// Returns true if another column has the same type or no values.
    pub fn can_append(&self, other: &Column) -> bool {
        match (&self.data, &other.data) {
            (Data::Null, _) | (_, Data::Null) => true,
            (Data::Texts(texts), Data::Texts(more)) => texts.bytes.len() + more.bytes.len() <= i32::MAX as usize,
            (own, other) => std::mem::discriminant(own) == std::mem::discriminant(other),
        }
    }

    /// Appends all rows of another column of the same type, from a row on.
    pub fn append(&mut self, row: usize, other: Column) {
        if matches!(other.data, Data::Null) {
            return;
        }
        self.pad(row);
        let own_len = self.len;
        if self.valid.is_some() || other.valid.is_some() {
            let valid = self.valid.get_or_insert_with(|| vec![true; own_len]);
            match other.valid {
                Some(more) => valid.extend(more),
                None => valid.resize(own_len + other.len, true),
            }
        }
        self.data.append(own_len, other.data);
        self.nulls += other.nulls;
        self.len += other.len;
    }

    /// Adds null rows up to a row.
    pub fn pad(&mut self, row: usize) {
        let (len, missing) = (self.len, row.saturating_sub(self.len));
        if missing > 0 {
            self.valid.get_or_insert_with(|| vec![true; len]).resize(row, false);
            self.data.pad(row);
            self.nulls += missing;
            self.len = row;
        }
    }

    /// Finishes the column with the given number of rows.
    pub fn finish(mut self, rows: usize) -> Result<Column, AbiError> {
        self.pad(rows);
        match &self.data {
            Data::Texts(texts) if texts.is_full => {
                let message = format!("The column `{}` exceeds the output limit", self.name);
                Err(pidq_core::Error::new(Code::OutputTooLarge, message).into())
            }
            _ => Ok(self),
        }
    }
}

impl Data {
    /// Starts a column with the type of its first value. Arrays and objects have no column type.
    fn begin(value: Value<'_>, before: usize, limit: usize) -> Data {
        match value {
            Value::Bool(_) => Data::Bools(vec![false; before]),
            Value::Number(number) if integer(number).is_some() => Data::Integers(vec![0; before]),
            Value::Number(_) => Data::Reals(vec![0.0; before]),
            Value::String(_) => Data::Texts(Texts::new(before, limit)),
            _ => Data::Null,
        }
    }

    #[inline]
    fn push(&mut self, value: Value<'_>) -> bool {
        match (&mut *self, value) {
            (Data::Texts(texts), Value::String(text)) => texts.push(text),
            (Data::Reals(values), Value::Number(number)) => values.push(number.value()),
            (Data::Bools(values), Value::Bool(value)) => values.push(value),
            (Data::Integers(values), Value::Number(number)) => match integer(number) {
                Some(integer) => values.push(integer),
                None => {
                    let reals = values.iter().map(|value| *value as f64).chain([number.value()]);
                    *self = Data::Reals(reals.collect());
                }
            },
            _ => return false,
        }
        true
    }

    /// Appends all values of another column of the same type, after `before` rows.
    fn append(&mut self, before: usize, other: Data) {
        match (&mut *self, other) {
            (Data::Bools(values), Data::Bools(more)) => values.extend(more),
            (Data::Integers(values), Data::Integers(more)) => values.extend(more),
            (Data::Reals(values), Data::Reals(more)) => values.extend(more),
            (Data::Texts(texts), Data::Texts(more)) => texts.append(&more),
            (Data::Null, Data::Texts(more)) => {
                let mut texts = Texts { limit: i32::MAX as usize, ..Texts::new(before, 0) };
                texts.append(&more);
                *self = Data::Texts(texts);
            }
            (Data::Null, Data::Bools(more)) => *self = Data::Bools(padded(before, more)),
            (Data::Null, Data::Integers(more)) => *self = Data::Integers(padded(before, more)),
            (Data::Null, Data::Reals(more)) => *self = Data::Reals(padded(before, more)),
            _ => {}
        }
    }

    fn pad(&mut self, rows: usize) {
        match self {
            Data::Null => {}
            Data::Bools(values) => values.resize(rows, false),
            Data::Integers(values) => values.resize(rows, 0),
            Data::Reals(values) => values.resize(rows, 0.0),
            Data::Texts(texts) => texts.offsets.resize(rows + 1, texts.bytes.len() as i32),
        }
    }

    /// Returns the format string of Arrow.
    pub fn format(&self) -> &'static str {
        match self {
            Data::Null => "n",
            Data::Bools(_) => "b",
            Data::Integers(_) => "l",
            Data::Reals(_) => "g",
            Data::Texts(_) => "u",
        }
    }
}

impl Texts {
    /// Creates `before` empty strings.
    pub fn new(before: usize, limit: usize) -> Texts {
        Texts { offsets: vec![0; before + 1], bytes: Vec::new(), limit: limit.min(i32::MAX as usize), is_full: false }
    }

    #[inline]
    fn push(&mut self, text: &str) {
        match self.bytes.len() + text.len() > self.limit {
            true => self.is_full = true,
            false => self.bytes.extend_from_slice(text.as_bytes()),
        }
        self.offsets.push(self.bytes.len() as i32);
    }

    /// Appends all strings of another column.
    fn append(&mut self, more: &Texts) {
        let before = self.bytes.len() as i32;
        self.offsets.extend(more.offsets.iter().skip(1).map(|offset| before + offset));
        self.bytes.extend_from_slice(&more.bytes);
    }

    pub fn push_json(&mut self, value: Value<'_>) -> pidq_core::Result<()> {
        let bytes = &mut self.bytes;
        value.write_json(self.limit - bytes.len(), &mut |buffer| {
            bytes.extend_from_slice(buffer.as_bytes());
            Ok(())
        })?;
        self.offsets.push(self.bytes.len() as i32);
        Ok(())
    }
}

/// Returns values after `before` rows without a value.
fn padded<T: Clone + Default>(before: usize, values: Vec<T>) -> Vec<T> {
    let mut all = vec![T::default(); before];
    all.extend(values);
    all
}

/// Returns the integer value of a number whose text has neither point nor exponent.
#[inline]
pub fn integer(number: Number<'_>) -> Option<i64> {
    let value = number.value();
    match number.lexeme() {
        Some(text) => text.parse().ok(),
        None => (value.fract() == 0.0 && value.abs() <= Number::MAX_EXACT_INTEGER).then_some(value as i64),
    }
}
