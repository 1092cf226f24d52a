//! JSON values built by imports: insertion order and the original text of numbers are kept.

use std::fmt::Write;

use pidq_core::{Graph, Value};

/// An owned JSON value.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    /// The text of a number, as JSON has it.
    Number(String),
    String(String),
    Array(Vec<Json>),
    Object(Fields),
    /// Validated JSON text.
    Raw(String),
}

/// Keys and values in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fields(pub Vec<(String, Json)>);

impl Json {
    /// Returns a number if the text is one, otherwise a string.
    pub fn number_or_text(text: &str) -> Json {
        let text = text.trim();
        if is_number(text) { Json::Number(text.into()) } else { Json::String(text.into()) }
    }

    /// Returns a count as a number.
    pub fn count(count: usize) -> Json {
        Json::Number(count.to_string())
    }

    /// Returns a string.
    pub fn text(text: impl Into<String>) -> Json {
        Json::String(text.into())
    }

    /// Returns a value of a document as its JSON text.
    pub fn from_value(value: Value<'_>) -> Json {
        Json::Raw(format!("{value:?}"))
    }

    /// Validates JSON text.
    pub fn raw(text: &str) -> Option<Json> {
        Graph::from_json(text).ok().map(|_| Json::Raw(text.to_owned()))
    }

    /// Returns the value as JSON text.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        self.write(&mut text);
        text
    }

    /// Appends the value as JSON text. Recursive: these values have a fixed nesting depth.
    pub fn write(&self, out: &mut String) {
        match self {
            Json::Null => out.push_str("null"),
            Json::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Json::Raw(text) => out.push_str(text),
            Json::Number(digits) => out.push_str(digits),
            Json::String(text) => quote(text, out),
            Json::Array(items) => write_list(items, out),
            Json::Object(fields) => fields.write(out),
        }
    }
}

impl Fields {
    /// Adds a value.
    pub fn add(&mut self, key: &str, value: Json) {
        self.0.push((key.into(), value));
    }

    /// Replaces the value of a key, or adds it.
    pub fn set(&mut self, key: &str, value: Json) {
        match self.0.iter_mut().find(|(known, _)| known == key) {
            Some((_, old)) => *old = value,
            None => self.add(key, value),
        }
    }

    /// Adds a value if there is one and the key is absent.
    pub fn add_optional(&mut self, key: &str, value: Option<Json>) {
        if let Some(value) = value {
            self.add_if_absent(key, value);
        }
    }

    /// Adds a string if there is one and the key is absent.
    pub fn add_optional_text(&mut self, key: &str, value: Option<&str>) {
        self.add_optional(key, value.map(Json::text));
    }

    /// Adds a value if the key is absent.
    pub fn add_if_absent(&mut self, key: &str, value: Json) {
        if self.get(key).is_none() {
            self.add(key, value);
        }
    }

    /// Inserts a value after another key, or at the end.
    pub fn insert_after(&mut self, previous_key: &str, key: &str, value: Json) {
        let position =
            self.0.iter().position(|(name, _)| name == previous_key).map_or(self.0.len(), |position| position + 1);
        self.0.insert(position, (key.into(), value));
    }

    /// Inserts a value before all others.
    pub fn insert_first(&mut self, key: &str, value: Json) {
        self.0.insert(0, (key.into(), value));
    }

    /// Returns the value of a key.
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Returns true if there are no fields.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Appends the object as JSON text.
    pub fn write(&self, out: &mut String) {
        out.push('{');
        for (index, (key, value)) in self.0.iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            quote(key, out);
            out.push(':');
            value.write(out);
        }
        out.push('}');
    }
}

fn write_list(items: &[Json], out: &mut String) {
    out.push('[');
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        item.write(out);
    }
    out.push(']');
}

/// Appends a quoted JSON string.
pub fn quote(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // Writing to a `String` cannot fail.
            c if c < ' ' => drop(write!(out, "\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Returns true if a text is a valid JSON number in the range of a double.
pub fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let integer_digits = digits.bytes().take_while(u8::is_ascii_digit).count();
    let has_no_leading_zero = integer_digits == 1 || integer_digits > 1 && !digits.starts_with('0');
    has_no_leading_zero && is_number_suffix(&digits[integer_digits..]) && text.parse::<f64>().is_ok_and(f64::is_finite)
}

/// Returns true for a valid number suffix: a fraction, an exponent, both or nothing. The caller checks the digits.
fn is_number_suffix(suffix: &str) -> bool {
    let is_charset_valid =
        suffix.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-'));
    let has_fraction_digits = !suffix.starts_with('.') || suffix[1..].starts_with(|c: char| c.is_ascii_digit());
    is_charset_valid && has_fraction_digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_json_numbers_are_numbers() {
        for text in ["0", "-0", "10", "0.5", "50.000000", "1e3", "1.5E-7", "-45"] {
            assert!(is_number(text), "{text}");
        }
        for text in ["", "-", "01", "+1", ".5", "5.", "1.e3", "1e", "0x1", "1e999", "NaN", "inf", "1 2", "1,5"] {
            assert!(!is_number(text), "{text}");
        }
    }

    #[test]
    fn written_values_are_valid_json() {
        let mut fields = Fields::default();
        fields.add(
            "a\"\\\n\u{1}ü",
            Json::Array(vec![Json::Null, Json::Bool(true), Json::number_or_text("1.50"), Json::text("x")]),
        );
        let mut text = String::new();
        fields.write(&mut text);
        assert_eq!(text, "{\"a\\\"\\\\\\n\\u0001ü\":[null,true,1.50,\"x\"]}");
        serde_json::from_str::<serde_json::Value>(&text).expect("valid JSON");
    }
}
