//! JSON output with sorted object keys.

use pidq::error::Code;
use pidq::{Array, Error, Result, Value};

/// Open array or object, and the number of written items.
enum OpenContainer<'a> {
    Array(Array<'a>, usize),
    Object(Vec<(&'a str, Value<'a>)>, usize),
}

/// Writes `value` in chunks, at most `limit` bytes, without recursion. Numbers keep their text.
pub fn write(value: Value<'_>, limit: usize, sink: &mut dyn FnMut(&str) -> Result<()>) -> Result<()> {
    let mut written = 0usize;
    let mut push = |chunk: &str| {
        written = written.saturating_add(chunk.len());
        if written > limit {
            return Err(Error::new(Code::OutputTooLarge, format!("The result is larger than {limit} bytes")));
        }
        sink(chunk)
    };
    let mut open = Vec::new();
    start(value, &mut open, &mut push)?;
    while let Some(innermost) = open.last_mut() {
        match next(innermost, &mut push)? {
            Some(value) => start(value, &mut open, &mut push)?,
            None => drop(open.pop()),
        }
    }
    Ok(())
}

/// Writes a scalar, or opens a container.
fn start<'a>(
    value: Value<'a>,
    open: &mut Vec<OpenContainer<'a>>,
    push: &mut impl FnMut(&str) -> Result<()>,
) -> Result<()> {
    match value {
        Value::Array(array) => {
            open.push(OpenContainer::Array(array, 0));
            push("[")
        }
        Value::Object(object) => {
            let mut fields: Vec<_> = object.iter().filter(|(_, value)| !matches!(value, Value::Undefined)).collect();
            fields.sort_by_key(|(key, _)| *key);
            open.push(OpenContainer::Object(fields, 0));
            push("{")
        }
        scalar => push(&json(scalar)),
    }
}

/// Returns the next value inside, or `None` after writing the closing bracket.
fn next<'a>(open: &mut OpenContainer<'a>, push: &mut impl FnMut(&str) -> Result<()>) -> Result<Option<Value<'a>>> {
    let (value, key, at, close) = match open {
        OpenContainer::Array(array, at) => (array.get(*at), None, at, "]"),
        OpenContainer::Object(fields, at) => {
            (fields.get(*at).map(|field| field.1), fields.get(*at).map(|field| field.0), at, "}")
        }
    };
    let Some(value) = value else {
        push(close)?;
        return Ok(None);
    };
    if *at > 0 {
        push(",")?;
    }
    *at += 1;
    if let Some(key) = key {
        push(&json(Value::String(key)))?;
        push(":")?;
    }
    Ok(Some(value))
}

/// Formats a value as JSON.
pub fn json(value: Value<'_>) -> String {
    format!("{value:?}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use pidq::Graph;

    #[track_caller]
    fn check(json: &str, expected: &str) {
        let graph = Graph::from_json(json).expect("the case is JSON");
        let mut text = String::new();
        let written = write(graph.root(), usize::MAX, &mut |chunk| {
            text.push_str(chunk);
            Ok(())
        });
        assert!(written.is_ok());
        assert_eq!(text, expected);
    }

    #[test]
    fn keys_are_sorted_at_every_level() {
        check(
            r#"{"b": [{"z": 1, "y": 2}], "a": {}, "10": 1, "9": []}"#,
            r#"{"10":1,"9":[],"a":{},"b":[{"y":2,"z":1}]}"#,
        );
    }

    #[test]
    fn numbers_keep_their_text() {
        check("[53.0, 1e2, 12345678901234567890]", "[53.0,1e2,12345678901234567890]");
    }

    #[test]
    fn a_result_over_the_limit_is_an_error() {
        let graph = Graph::from_json("[1, 2, 3]").expect("the case is JSON");
        let error = write(graph.root(), 3, &mut |_| Ok(())).expect_err("seven bytes are more than three");
        assert_eq!(error.code(), Code::OutputTooLarge);
    }
}
