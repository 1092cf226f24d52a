//! JSON merge patches (RFC 7396) with optimistic concurrency.

use pidq_http::{Problem, Response};
use pidq_store::StoreError;
use serde_json::{Map, Value};

use crate::api::problems::store_problem;

/// Attempts to apply a patch under concurrent changes. Of concurrent patches, at least one succeeds per round.
const MAX_ATTEMPTS: usize = 100;

/// Repeats an attempt that returns `None` because the resource changed between reading and writing. Repeating is
/// correct: a patch names only what it changes, and its precondition, if any, is checked at each attempt.
pub(crate) async fn retry_on_conflict<F>(attempt: impl Fn() -> F) -> Result<Response, Problem>
where
    F: Future<Output = Result<Option<Response>, Problem>>,
{
    for _ in 0..MAX_ATTEMPTS {
        if let Some(response) = attempt().await? {
            return Ok(response);
        }
    }
    Err(store_problem(StoreError::Conflict))
}

/// Converts the result of a write; `None` if the resource was changed concurrently.
pub(crate) fn none_if_changed<T>(result: Result<T, StoreError>) -> Result<Option<T>, Problem> {
    match result {
        Err(StoreError::Conflict) => Ok(None),
        result => result.map(Some).map_err(store_problem),
    }
}

/// Applies a merge patch (RFC 7396): fields are replaced, objects merged, and `null` removes.
pub(crate) fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Value::Object(target) = target else { return };
    for (field, value) in patch {
        match value {
            Value::Null => drop(target.shift_remove(field)),
            value => merge(target.entry(field.clone()).or_insert(Value::Null), value),
        }
    }
}
