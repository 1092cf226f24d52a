//! Hash of a document's content, independent of its formatting.
//!
//! Key order, white space, escapes and number spelling (`1.0` and `1`) do not change the hash. Digits do: two 20-digit
//! numbers with the same nearest double differ.

use pidq_core::{Object, Value};
use sha2::{Digest, Sha256};

/// Fields of `metadata` that the service writes, excluded from the hash.
pub(super) const SERVICE_FIELDS: [&str; 3] = ["job_id", "schema_version", "change_version"];

/// Returns the hash of a drawing and of the fields next to `pid_graph`.
pub(super) fn content_hash(root: Object<'_>, is_bare: bool) -> [u8; 32] {
    let mut hash = Sha256::new();
    if is_bare {
        write_header(&mut hash, b'{', 1);
        text(&mut hash, "pid_graph");
        object(&mut hash, root, ObjectRole::Graph);
    } else {
        object(&mut hash, root, ObjectRole::Root);
    }
    hash.finalize().into()
}

/// Role of an object; only `metadata` has excluded fields.
#[derive(Clone, Copy, PartialEq)]
enum ObjectRole {
    Root,
    Graph,
    Metadata,
    Other,
}

impl ObjectRole {
    fn child(self, key: &str) -> ObjectRole {
        match (self, key) {
            (ObjectRole::Root, "pid_graph") => ObjectRole::Graph,
            (ObjectRole::Graph, "metadata") => ObjectRole::Metadata,
            _ => ObjectRole::Other,
        }
    }
}

/// Hashes a value. Recursion is bounded: validation rejects documents nested deeper than 128 levels.
fn value(hash: &mut Sha256, value: Value<'_>, role: ObjectRole) {
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
            write_header(hash, b'[', items.len());
            items.iter().for_each(|item| self::value(hash, item, ObjectRole::Other));
        }
        Value::Object(fields) => object(hash, fields, role),
    }
}

fn object(hash: &mut Sha256, object: Object<'_>, role: ObjectRole) {
    let is_included = |key: &str| role != ObjectRole::Metadata || !SERVICE_FIELDS.contains(&key);
    let mut fields: Vec<(&str, Value<'_>)> = object.iter().filter(|(key, _)| is_included(key)).collect();
    // The service adds missing metadata, so empty metadata counts as absent.
    let is_empty_metadata = |(key, value): &(&str, Value<'_>)| {
        role.child(key) == ObjectRole::Metadata
            && value.as_object().is_some_and(|metadata| metadata.iter().all(|(key, _)| SERVICE_FIELDS.contains(&key)))
    };
    fields.retain(|field| !is_empty_metadata(field));
    fields.sort_unstable_by_key(|(key, _)| *key);
    write_header(hash, b'{', fields.len());
    for (key, field) in fields {
        text(hash, key);
        value(hash, field, role.child(key));
    }
}

/// Hashes the kind and the length of a value.
fn write_header(hash: &mut Sha256, kind: u8, len: usize) {
    hash.update([kind]);
    hash.update((len as u64).to_le_bytes());
}

fn text(hash: &mut Sha256, text: &str) {
    write_header(hash, b's', text.len());
    hash.update(text);
}

/// Hashes a number: sign, significant digits, and the exponent of the last digit.
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
        // An exponent beyond 64 bits is only equal to itself.
        None => text(hash, &format!("{sign}{significant}e{power}x{zeros}")),
    }
}

#[cfg(test)]
mod tests {
    use pidq_core::Graph;

    use super::*;

    fn hash_of(json: &str) -> [u8; 32] {
        let graph = Graph::from_json(json).expect("JSON");
        let root = graph.root().as_object().expect("an object");
        content_hash(root, root.get("pid_graph").is_none())
    }

    #[track_caller]
    fn same(left: &str, right: &str) {
        assert_eq!(hash_of(left), hash_of(right), "{left} and {right}");
    }

    #[track_caller]
    fn differ(left: &str, right: &str) {
        assert_ne!(hash_of(left), hash_of(right), "{left} and {right}");
    }

    #[test]
    fn formatting_does_not_change_the_hash() {
        same(r#"{"a":1,"b":"ä"}"#, r#"{ "b":"\u00e4", "a":1.0 }"#);
        same(r#"{"a":1}"#, r#"{"pid_graph":{"a":10e-1}}"#);
        same(r#"{"a":[0,-0,0.0,1e3,1000]}"#, r#"{"a":[0.00,0,-0e5,1000,1E+3]}"#);
        same(r#"{"a":123456789012345678901234567890}"#, r#"{"a":1.2345678901234567890123456789e29}"#);
        same(r#"{"a":1e99999999999999999999}"#, r#"{"a":1e99999999999999999999}"#);
    }

    #[test]
    fn digits_item_order_and_types_change_the_hash() {
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
    fn service_fields_are_excluded() {
        same(r#"{"a":1}"#, r#"{"a":1,"metadata":{"job_id":"j","schema_version":"1","change_version":"7"}}"#);
        same(r#"{"metadata":{"drawing_name":"D"}}"#, r#"{"metadata":{"job_id":"j","drawing_name":"D"}}"#);
        differ(r#"{"metadata":{"drawing_name":"D"}}"#, r#"{"metadata":{"drawing_name":"E"}}"#);
        differ(r#"{"nodes":{"job_id":"j"}}"#, r#"{"nodes":{}}"#);
    }
}
