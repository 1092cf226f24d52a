//! Run of a query on one drawing, within the limits of a session.

use pidq_core::{Query, Scratch, Value};

use crate::settings::Settings;

/// A result, or the reason why there is none, as text for `pidq_error`.
pub(crate) type Outcome<T> = Result<T, String>;

/// Runs a query on a drawing and reads its result.
pub(crate) fn run<T>(
    query: &Query,
    drawing: &[u8],
    settings: &Settings,
    read: impl FnOnce(Value<'_>) -> Outcome<T>,
) -> Outcome<T> {
    if drawing.len() > settings.drawing_size {
        return Err(format!(
            "the drawing has {} bytes, more than {}; raise `pidq.drawing_size`",
            drawing.len(),
            settings.drawing_size
        ));
    }
    let document = query.load(drawing).map_err(|error| error.to_string())?;
    let scratch = Scratch::new();
    let result = document.run(&scratch, settings.limits()).map_err(|error| error.to_string())?;
    read(result.value)
}

/// Returns a value as JSON.
pub(crate) fn json(value: Value<'_>, settings: &Settings) -> Outcome<String> {
    let mut text = String::new();
    let mut append = |chunk: &str| -> pidq_core::Result<()> {
        text.push_str(chunk);
        Ok(())
    };
    value.write_json(settings.output, &mut append).map_err(|error| error.to_string())?;
    Ok(text)
}

/// Returns a value as text: a string as it is, a number or a boolean as JSON, NULL for null.
pub(crate) fn text(value: Value<'_>, settings: &Settings) -> Outcome<Option<String>> {
    match value {
        Value::Undefined | Value::Null => Ok(None),
        Value::String(text) if text.len() > settings.output => Err(too_large(settings)),
        Value::String(text) => Ok(Some(text.to_owned())),
        Value::Number(_) | Value::Bool(_) => json(value, settings).map(Some),
        Value::Array(_) | Value::Object(_) => Err(wrong_type("text", value)),
    }
}

/// Returns a value that is a number, or NULL for null.
pub(crate) fn number(value: Value<'_>) -> Outcome<Option<f64>> {
    match value {
        Value::Undefined | Value::Null => Ok(None),
        Value::Number(number) => Ok(Some(number.value())),
        other => Err(wrong_type("a number", other)),
    }
}

/// Returns a value that is a whole number, or NULL for null.
pub(crate) fn integer(value: Value<'_>) -> Outcome<Option<i64>> {
    /// Above it, not every whole number is a JSON number.
    const MAX_EXACT: f64 = (1_u64 << 53) as f64;
    match number(value)? {
        None => Ok(None),
        Some(number) if number.fract() == 0.0 && number.abs() <= MAX_EXACT => Ok(Some(number as i64)),
        Some(number) => Err(format!("the result is not an integer: {number}")),
    }
}

/// Returns a value that is a boolean, or NULL for null.
pub(crate) fn boolean(value: Value<'_>) -> Outcome<Option<bool>> {
    match value {
        Value::Undefined | Value::Null => Ok(None),
        Value::Bool(value) => Ok(Some(value)),
        other => Err(wrong_type("a boolean", other)),
    }
}

fn wrong_type(wanted: &str, found: Value<'_>) -> String {
    format!("the result is not {wanted}: it is of type {}", found.type_name())
}

fn too_large(settings: &Settings) -> String {
    format!("the result is larger than {} bytes; raise `pidq.output`", settings.output)
}
