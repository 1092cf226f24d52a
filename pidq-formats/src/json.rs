//! JSON that an import builds: values in the order in which they were added, numbers with their own text.

use std::fmt::Write;

use pidq_core::Graph;

/// A JSON value that owns what it holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    /// The text of a number, as JSON has it.
    Number(String),
    Text(String),
    List(Vec<Json>),
    Record(Fields),
    /// JSON text that was checked.
    Raw(String),
}

/// Keys and values in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fields(pub Vec<(String, Json)>);

impl Json {
    /// A number where the text is one, and else the text.
    pub fn guess(text: &str) -> Json {
        let text = text.trim();
        if is_number(text) { Json::Number(text.into()) } else { Json::Text(text.into()) }
    }

    /// A count.
    pub fn count(count: usize) -> Json {
        Json::Number(count.to_string())
    }

    /// A text.
    pub fn text(text: impl Into<String>) -> Json {
        Json::Text(text.into())
    }

    /// JSON text as a value.
    pub fn raw(text: &str) -> Option<Json> {
        Graph::from_json(text).ok().map(|_| Json::Raw(text.to_owned()))
    }

    /// Appends the value as JSON text. What is written here is nested a fixed number of levels.
    pub fn write(&self, out: &mut String) {
        match self {
            Json::Null => out.push_str("null"),
            Json::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Json::Raw(text) => out.push_str(text),
            Json::Number(digits) => out.push_str(digits),
            Json::Text(text) => quote(text, out),
            Json::List(items) => write_list(items, out),
            Json::Record(fields) => fields.write(out),
        }
    }
}

impl Fields {
    /// Adds a value.
    pub fn add(&mut self, key: &str, value: Json) {
        self.0.push((key.into(), value));
    }

    /// Adds a value where there is one and the key is free.
    pub fn maybe(&mut self, key: &str, value: Option<Json>) {
        if let Some(value) = value {
            self.add_new(key, value);
        }
    }

    /// Adds a text where there is one and the key is free.
    pub fn maybe_text(&mut self, key: &str, value: Option<&str>) {
        self.maybe(key, value.map(Json::text));
    }

    /// Adds a value under a key that is free.
    pub fn add_new(&mut self, key: &str, value: Json) {
        if self.get(key).is_none() {
            self.add(key, value);
        }
    }

    /// Adds a value behind another key, or at the end.
    pub fn insert_after(&mut self, before: &str, key: &str, value: Json) {
        let place = self.0.iter().position(|(name, _)| name == before).map_or(self.0.len(), |place| place + 1);
        self.0.insert(place, (key.into(), value));
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Whether there is nothing.
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

/// Appends a text as a JSON string.
pub fn quote(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // Writing to a text cannot fail.
            c if c < ' ' => drop(write!(out, "\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Whether a text is a number as JSON writes it, and a double can hold it.
pub fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let whole = digits.bytes().take_while(u8::is_ascii_digit).count();
    let canonical = whole == 1 || whole > 1 && !digits.starts_with('0');
    canonical && is_tail(&digits[whole..]) && text.parse::<f64>().is_ok_and(f64::is_finite)
}

/// What may follow the whole part: a fraction, an exponent, both or nothing. The digits are checked by the caller.
fn is_tail(tail: &str) -> bool {
    let known = tail.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-'));
    let point = !tail.starts_with('.') || tail[1..].starts_with(|c: char| c.is_ascii_digit());
    known && point
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_what_json_calls_numbers() {
        for text in ["0", "-0", "10", "0.5", "50.000000", "1e3", "1.5E-7", "-45"] {
            assert!(is_number(text), "{text}");
        }
        for text in ["", "-", "01", "+1", ".5", "5.", "1.e3", "1e", "0x1", "1e999", "NaN", "inf", "1 2", "1,5"] {
            assert!(!is_number(text), "{text}");
        }
    }

    #[test]
    fn what_is_written_reads_back() {
        let mut fields = Fields::default();
        fields
            .add("a\"\\\n\u{1}ü", Json::List(vec![Json::Null, Json::Bool(true), Json::guess("1.50"), Json::text("x")]));
        let mut text = String::new();
        fields.write(&mut text);
        assert_eq!(text, "{\"a\\\"\\\\\\n\\u0001ü\":[null,true,1.50,\"x\"]}");
        serde_json::from_str::<serde_json::Value>(&text).expect("it is JSON");
    }
}
