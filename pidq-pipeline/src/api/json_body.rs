//! JSON bodies: deserialization with 422 problems that name the JSON pointer and the cause.

use pidq_http::{Problem, Request, codes, pointer_step};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use serde_path_to_error::{Path, Segment};

use crate::api::problems::{unprocessable, validation};

/// Parses the body of a request, a JSON object.
pub(crate) async fn parse<T: DeserializeOwned>(request: &mut Request) -> Result<T, Problem> {
    from_object(request.object().await?)
}

/// Deserializes a JSON object.
pub(crate) fn from_object<T: DeserializeOwned>(object: Map<String, Value>) -> Result<T, Problem> {
    from_value("", Value::Object(object))
}

/// Deserializes a part of a body; `base` is its JSON pointer (RFC 6901).
pub(crate) fn from_value<T: DeserializeOwned>(base: &str, value: Value) -> Result<T, Problem> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let pointer = format!("{base}{}", pointer(error.path()));
        problem_from_error(&pointer, &error.inner().to_string())
    })
}

/// Converts a message of serde to a problem. Unknown and missing fields get their own pointer.
fn problem_from_error(pointer: &str, message: &str) -> Problem {
    let mut quoted = message.split('`').skip(1).step_by(2);
    let field_pointer = |name: &str| match pointer.ends_with(&pointer_step(name)) {
        true => pointer.to_owned(),
        false => format!("{pointer}{}", pointer_step(name)),
    };
    match quoted.next() {
        Some(name) if message.starts_with("unknown field") => {
            let problem = unprocessable(codes::UNKNOWN_FIELD, &field_pointer(name), "Unknown field.");
            problem.with("allowed", quoted.collect::<Vec<_>>())
        }
        Some(name) if message.starts_with("missing field") => {
            validation(&field_pointer(name), &format!("The field `{name}` is missing."))
        }
        _ => validation(pointer, &pidq_http::sentence(message)),
    }
}

fn pointer(path: &Path) -> String {
    let steps = path.iter().map(|segment| match segment {
        Segment::Seq { index } => format!("/{index}"),
        Segment::Map { key } => pointer_step(key),
        Segment::Enum { .. } | Segment::Unknown => String::new(),
    });
    steps.collect()
}

/// Rejects unknown fields of an object at a JSON pointer (RFC 6901): mistakes that would otherwise go unnoticed.
pub(crate) fn reject_unknown_fields_at(
    base: &str,
    object: &Map<String, Value>,
    allowed: &[&str],
) -> Result<(), Problem> {
    match object.keys().find(|name| !allowed.contains(&name.as_str())) {
        Some(name) => {
            let pointer = format!("{base}{}", pointer_step(name));
            let problem = unprocessable(codes::UNKNOWN_FIELD, &pointer, "Unknown field.");
            Err(problem.with("allowed", allowed.to_vec()))
        }
        None => Ok(()),
    }
}
