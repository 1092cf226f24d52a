//! JSON bodies as what they should be. Where one is not, 422 says at which place and why.

use pidq_http::{Problem, Request, pointer_step};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use serde_path_to_error::{Path, Segment};

use crate::problems::{unprocessable, validation};

/// The body of a request, an object with these members.
pub(crate) async fn of<T: DeserializeOwned>(request: &mut Request) -> Result<T, Problem> {
    read(request.object().await?)
}

/// An object that was read already.
pub(crate) fn read<T: DeserializeOwned>(members: Map<String, Value>) -> Result<T, Problem> {
    part("", Value::Object(members))
}

/// A part of a body, which stands at a place (RFC 6901).
pub(crate) fn part<T: DeserializeOwned>(place: &str, value: Value) -> Result<T, Problem> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let place = format!("{place}{}", pointer(error.path()));
        mistyped(&place, &error.inner().to_string())
    })
}

/// Of what serde says, members that are unknown or missing are told by their own place.
fn mistyped(place: &str, says: &str) -> Problem {
    let mut quoted = says.split('`').skip(1).step_by(2);
    let below = |name: &str| match place.ends_with(&pointer_step(name)) {
        true => place.to_owned(),
        false => format!("{place}{}", pointer_step(name)),
    };
    match quoted.next() {
        Some(name) if says.starts_with("unknown field") => {
            let problem = unprocessable("unknown-field", &below(name), "There is no such member.");
            problem.with("allowed", quoted.collect::<Vec<_>>())
        }
        Some(name) if says.starts_with("missing field") => {
            validation(&below(name), &format!("The member `{name}` is missing."))
        }
        _ => validation(place, &pidq_http::sentence(says)),
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
