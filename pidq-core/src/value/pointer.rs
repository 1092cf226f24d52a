//! JSON Pointer (RFC 6901) into a value.

use std::borrow::Cow;

/// Returns the value at a pointer; `child` returns the value of one step.
pub(super) fn find<T>(root: T, pointer: &str, child: impl Fn(T, &str) -> Option<T>) -> Option<T> {
    if pointer.is_empty() {
        return Some(root);
    }
    let steps = pointer.strip_prefix('/')?.split('/');
    steps.map(unescape).try_fold(root, |value, step| child(value, &step?))
}

/// Returns a step as an array index: digits without leading zeros.
pub(super) fn index(step: &str) -> Option<usize> {
    let is_canonical = step == "0" || step.starts_with(|first: char| ('1'..='9').contains(&first));
    step.parse().ok().filter(|_| is_canonical && step.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Replaces `~1` with `/` and `~0` with `~`; `None` for any other `~`.
fn unescape(step: &str) -> Option<Cow<'_, str>> {
    if !step.contains('~') {
        return Some(step.into());
    }
    let mut parts = step.split('~');
    let mut text = parts.next()?.to_owned();
    for part in parts {
        let (escaped, rest) = match part.strip_prefix('0') {
            Some(rest) => ('~', rest),
            None => ('/', part.strip_prefix('1')?),
        };
        text.push(escaped);
        text.push_str(rest);
    }
    Some(text.into())
}
