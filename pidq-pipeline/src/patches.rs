//! Merge patches (RFC 7396), and how one is put on what others change at the same time.

use pidq_http::{Problem, Response};
use serde_json::{Map, Value};

use crate::problems::stored;
use crate::store::StoreError;

/// How often a patch is put on what somebody else changed in between. Of those that come at once one is done each time.
const TRIES: usize = 100;

/// Tries a patch until nobody changes what it is put on between reading and writing, which is when a try gives nothing.
/// A patch says what it changes, and holds for whatever else there is; one with a condition looks at it at each try.
pub(crate) async fn put<F>(once: impl Fn() -> F) -> Result<Response, Problem>
where
    F: Future<Output = Result<Option<Response>, Problem>>,
{
    for _ in 0..TRIES {
        if let Some(changed) = once().await? {
            return Ok(changed);
        }
    }
    Err(stored(StoreError::Changed))
}

/// What was written; nothing, if somebody else was quicker.
pub(crate) fn unless_changed<T>(written: Result<T, StoreError>) -> Result<Option<T>, Problem> {
    match written {
        Err(StoreError::Changed) => Ok(None),
        written => written.map(Some).map_err(stored),
    }
}

/// RFC 7396: members are replaced, objects merged, and null removes.
pub(crate) fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Value::Object(target) = target else { return };
    for (member, value) in patch {
        match value {
            Value::Null => drop(target.shift_remove(member)),
            value => merge(target.entry(member.clone()).or_insert(Value::Null), value),
        }
    }
}
