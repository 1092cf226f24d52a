//! Digest of JSON text, to compare two texts without parsing them into values.
//!
//! Numbers are compared by value, objects without regard to the order of their fields.

use std::fmt::{self, Formatter};
use std::hash::{DefaultHasher, Hash, Hasher};

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::Result;

/// Equal for equal JSON values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Digest(u64);

impl Digest {
    pub fn of(json: &[u8]) -> Result<Self> {
        Ok(serde_json::from_slice(json)?)
    }

    fn new(kind: u8, content: impl Hash) -> Self {
        let mut hasher = DefaultHasher::new();
        (kind, content).hash(&mut hasher);
        Self(hasher.finish())
    }

    fn number(value: f64) -> Self {
        // Zero has two bit patterns.
        Self::new(2, (value + 0.0).to_bits())
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        input.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Digest;

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Digest, E> {
        Ok(Digest::new(0, ()))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Digest, E> {
        Ok(Digest::new(1, value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Digest, E> {
        Ok(Digest::number(value as f64))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Digest, E> {
        Ok(Digest::number(value as f64))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Digest, E> {
        Ok(Digest::number(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Digest, E> {
        Ok(Digest::new(3, value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Digest, A::Error> {
        let mut hasher = DefaultHasher::new();
        while let Some(Digest(item)) = items.next_element()? {
            item.hash(&mut hasher);
        }
        Ok(Digest::new(4, hasher.finish()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Digest, A::Error> {
        let mut sum = 0u64;
        while let Some((key, Digest(value))) = fields.next_entry::<String, Digest>()? {
            sum = sum.wrapping_add(Digest::new(5, (key, value)).0);
        }
        Ok(Digest::new(6, sum))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_have_equal_digests() {
        let digest = |text: &str| Digest::of(text.as_bytes()).expect("JSON");
        assert_eq!(digest(r#"{"a": 53.0, "b": [1, null]}"#), digest(r#"{"b":[1e0,null],"a":53}"#));
        assert_ne!(digest("[1, 2]"), digest("[2, 1]"));
        assert_ne!(digest(r#"{"a": null}"#), digest("{}"));
    }
}
