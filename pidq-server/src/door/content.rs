//! What a document says, whatever its spelling, as one hash: order of keys, spaces, escapes and `1.0` for `1` make no
//! new content. Digits do: two numbers of twenty digits that one double stands for are two.

use pidq_core::{Object, Value};
use sha2::{Digest, Sha256};

/// Members of `metadata` that the service fills in: they say nothing about the content.
pub(super) const OWNED: [&str; 3] = ["job_id", "schema_version", "change_version"];

/// The hash of a drawing, and of what else stands beside `pid_graph`.
pub(super) fn content(root: Object<'_>, is_bare: bool) -> [u8; 32] {
    let mut hash = Sha256::new();
    if is_bare {
        open(&mut hash, b'{', 1);
        text(&mut hash, "pid_graph");
        object(&mut hash, root, Place::Graph);
    } else {
        object(&mut hash, root, Place::Root);
    }
    hash.finalize().into()
}

/// Where an object stands: only one of them has members to leave out.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Root,
    Graph,
    Metadata,
    Elsewhere,
}

impl Place {
    fn of(self, key: &str) -> Place {
        match (self, key) {
            (Place::Root, "pid_graph") => Place::Graph,
            (Place::Graph, "metadata") => Place::Metadata,
            _ => Place::Elsewhere,
        }
    }
}

/// Recursion is bounded: the door lets nothing through that is nested more than 128 levels.
fn value(hash: &mut Sha256, value: Value<'_>, place: Place) {
    match value {
        Value::Undefined | Value::Null => hash.update(b"n"),
        Value::Bool(true) => hash.update(b"t"),
        Value::Bool(false) => hash.update(b"f"),
        Value::Number(digits) => match digits.lexeme() {
            Some(lexeme) => number(hash, lexeme),
            None => number(hash, &digits.value().to_string()),
        },
        Value::String(string) => text(hash, string),
        Value::Array(items) => {
            open(hash, b'[', items.len());
            items.iter().for_each(|item| self::value(hash, item, Place::Elsewhere));
        }
        Value::Object(fields) => object(hash, fields, place),
    }
}

fn object(hash: &mut Sha256, object: Object<'_>, place: Place) {
    let counts = |key: &str| place != Place::Metadata || !OWNED.contains(&key);
    let mut fields: Vec<(&str, Value<'_>)> = object.iter().filter(|(key, _)| counts(key)).collect();
    // A drawing without metadata gets some at the door: empty ones are none.
    let is_nothing = |(key, value): &(&str, Value<'_>)| {
        place.of(key) == Place::Metadata
            && value.as_object().is_some_and(|metadata| metadata.iter().all(|(key, _)| OWNED.contains(&key)))
    };
    fields.retain(|field| !is_nothing(field));
    fields.sort_unstable_by_key(|(key, _)| *key);
    open(hash, b'{', fields.len());
    for (key, field) in fields {
        text(hash, key);
        value(hash, field, place.of(key));
    }
}

fn open(hash: &mut Sha256, kind: u8, len: usize) {
    hash.update([kind]);
    hash.update((len as u64).to_le_bytes());
}

fn text(hash: &mut Sha256, text: &str) {
    open(hash, b's', text.len());
    hash.update(text);
}

/// Sign, digits without zeros at the ends, and the power of ten of the last one.
fn number(hash: &mut Sha256, lexeme: &str) {
    let (sign, lexeme) = lexeme.strip_prefix('-').map_or(("+", lexeme), |rest| ("-", rest));
    let (mantissa, power) = lexeme.split_once(['e', 'E']).unwrap_or((lexeme, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = [whole, fraction].concat();
    let digits = digits.trim_start_matches('0');
    let significant = digits.trim_end_matches('0');
    let zeros = (digits.len() - significant.len()) as i64;
    let shifted = power.parse::<i64>().ok().and_then(|power| power.checked_add(zeros - fraction.len() as i64));
    match shifted {
        _ if significant.is_empty() => text(hash, "0"),
        Some(power) => text(hash, &format!("{sign}{significant}e{power}")),
        // A power beyond all powers: only itself is like it.
        None => text(hash, &format!("{sign}{significant}e{power}x{zeros}")),
    }
}

#[cfg(test)]
mod tests {
    use pidq_core::Graph;

    use super::*;

    fn of(json: &str) -> [u8; 32] {
        let graph = Graph::from_json(json).expect("JSON");
        let root = graph.root().as_object().expect("an object");
        content(root, root.get("pid_graph").is_none())
    }

    #[track_caller]
    fn same(left: &str, right: &str) {
        assert_eq!(of(left), of(right), "{left} and {right}");
    }

    #[track_caller]
    fn differ(left: &str, right: &str) {
        assert_ne!(of(left), of(right), "{left} and {right}");
    }

    #[test]
    fn spelling_makes_no_content() {
        same(r#"{"a":1,"b":"ä"}"#, r#"{ "b":"\u00e4", "a":1.0 }"#);
        same(r#"{"a":1}"#, r#"{"pid_graph":{"a":10e-1}}"#);
        same(r#"{"a":[0,-0,0.0,1e3,1000]}"#, r#"{"a":[0.00,0,-0e5,1000,1E+3]}"#);
        same(r#"{"a":123456789012345678901234567890}"#, r#"{"a":1.2345678901234567890123456789e29}"#);
        same(r#"{"a":1e99999999999999999999}"#, r#"{"a":1e99999999999999999999}"#);
    }

    #[test]
    fn digits_order_of_items_and_kinds_make_content() {
        differ(r#"{"a":12345678901234567890}"#, r#"{"a":12345678901234567891}"#);
        differ(r#"{"a":1}"#, r#"{"a":-1}"#);
        differ(r#"{"a":1}"#, r#"{"a":"1"}"#);
        differ(r#"{"a":[1,2]}"#, r#"{"a":[2,1]}"#);
        differ(r#"{"a":[[1],2]}"#, r#"{"a":[[1,2]]}"#);
        differ(r#"{"a":null}"#, r#"{}"#);
        differ(r#"{"a":0.1}"#, r#"{"a":0.01}"#);
        differ(r#"{"a":0.1}"#, r#"{"a":1}"#);
    }

    #[test]
    fn what_the_service_fills_in_is_no_content() {
        same(r#"{"a":1}"#, r#"{"a":1,"metadata":{"job_id":"j","schema_version":"1","change_version":"7"}}"#);
        same(r#"{"metadata":{"drawing_name":"D"}}"#, r#"{"metadata":{"job_id":"j","drawing_name":"D"}}"#);
        differ(r#"{"metadata":{"drawing_name":"D"}}"#, r#"{"metadata":{"drawing_name":"E"}}"#);
        differ(r#"{"nodes":{"job_id":"j"}}"#, r#"{"nodes":{}}"#);
    }
}
