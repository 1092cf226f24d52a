//! Deserialization of values into Rust types with serde, without JSON text.
//!
//! | value | Rust types |
//! |---|---|
//! | number | any integer type that holds it exactly, `f64`, and `f32` (rounded) |
//! | string | `String`, `&str` (borrowed), `char`, an enum without data |
//! | array | `Vec`, sets, tuples |
//! | object | a struct (fields in any order, surplus ones are ignored), a map, an enum with data |
//! | `null`, `undefined` | `Option` (`None`), `()`; an undefined field is a missing one |
//!
//! Numbers are doubles; a number of a document that no double can express keeps its source text, and is read from it.
//! An integer type takes `3`, `3.0` and `3e0`; `2.5`, `-1` for an unsigned type and 300 for `u8` are errors, never
//! rounded or cut. Where the type does not say which kind of number it wants (`serde_json::Value`, untagged enums), whole
//! numbers up to 2^53 are integers and all others are doubles.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;

use serde::de::{self, Deserialize, DeserializeSeed, IntoDeserializer, Unexpected, Visitor};
use serde::forward_to_deserialize_any;

use super::{Array, Number, Object, Value};
use crate::arena::{MAX_EXACT, path_step};
use crate::error::{Code, Error, Result};
use crate::limits::Limits;

/// Levels of a value. Types recurse on the stack, as deep as the value is.
const MAX_DEPTH: u32 = 128;

impl<'a> Value<'a> {
    /// Converts the value to a type that implements serde's `Deserialize`, without JSON text in between. Strings of the
    /// type may borrow from the value: `&str`, or `Cow<str>` with `#[serde(borrow)]`.
    ///
    /// An integer type takes whole numbers that it can hold and no others; nothing is rounded. A number of the document
    /// that no double can express, such as `9007199254740993`, is read from its source text. Infinity and NaN, which
    /// JSON lacks, are themselves as `f64`.
    ///
    /// ```
    /// use pidq_core::Graph;
    ///
    /// #[derive(serde::Deserialize)]
    /// struct Pump<'a> {
    ///     tag: &'a str,
    ///     kw: Option<f64>,
    /// }
    ///
    /// let graph = Graph::from_json(r#"[{"tag": "P-101", "kw": 15}, {"tag": "P-102"}]"#)?;
    /// let pumps: Vec<Pump> = graph.root().deserialize()?;
    /// assert_eq!((pumps[0].tag, pumps[0].kw, pumps[1].kw), ("P-101", Some(15.0), None));
    /// # Ok::<(), pidq_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// `PQ2009` if the value does not fit the type, with the path of the value that does not as
    /// [`Error::data_path`]; `PQ4002` for more than 128 levels, `PQ4003` for more than
    /// [`Limits::output`](crate::Limits) bytes.
    pub fn deserialize<T: Deserialize<'a>>(self) -> Result<T> {
        self.deserialize_within(Limits::default().output)
    }

    /// [`Value::deserialize`] of at most `limit` bytes: a value may occur any number of times in a result.
    pub(crate) fn deserialize_within<T: Deserialize<'a>>(self, limit: usize) -> Result<T> {
        let budget = Budget::new(limit);
        T::deserialize(ValueDeserializer { value: self, depth: 0, budget: &budget })
    }
}

/// Bytes that a conversion of a value may still produce.
pub(super) struct Budget {
    limit: usize,
    left: Cell<usize>,
}

impl Budget {
    /// Fixed cost of a value: about the size of a short one.
    const VALUE: usize = 2;

    pub fn new(limit: usize) -> Budget {
        Budget { limit, left: Cell::new(limit) }
    }

    /// Charges a value without what it contains.
    pub fn charge_value(&self, value: Value<'_>, depth: u32) -> Result<()> {
        if depth >= MAX_DEPTH {
            let message = format!("The result has more than {MAX_DEPTH} levels");
            return Err(Error::new(Code::TooDeep, message).with_limit("depth", u64::from(MAX_DEPTH)));
        }
        self.charge_text(value.as_str().unwrap_or_default())
    }

    /// Charges a string or a key.
    pub fn charge_text(&self, text: &str) -> Result<()> {
        self.charge(Budget::VALUE + text.len())
    }

    fn charge(&self, bytes: usize) -> Result<()> {
        match self.left.get().checked_sub(bytes) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => {
                let message = format!("The result is larger than {} bytes", self.limit);
                Err(Error::new(Code::OutputTooLarge, message).with_limit("result", self.limit as u64))
            }
        }
    }
}

/// Deserializer of one value.
#[derive(Clone, Copy)]
struct ValueDeserializer<'b, 'de> {
    value: Value<'de>,
    depth: u32,
    budget: &'b Budget,
}

impl<'b, 'de> ValueDeserializer<'b, 'de> {
    /// Returns the deserializer of an item or field.
    fn inner(self, value: Value<'de>) -> ValueDeserializer<'b, 'de> {
        ValueDeserializer { value, depth: self.depth + 1, ..self }
    }

    fn charge(self) -> Result<()> {
        self.budget.charge_value(self.value, self.depth)
    }

    fn array<V: Visitor<'de>>(self, array: Array<'de>, visitor: V) -> Result<V::Value> {
        visitor.visit_seq(Items { array, at: 0, outer: self })
    }

    fn object<V: Visitor<'de>>(self, object: Object<'de>, visitor: V) -> Result<V::Value> {
        visitor.visit_map(Entries { object, at: 0, current: None, outer: self })
    }

    fn any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.value {
            Value::Undefined | Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(value),
            Value::Number(number) => match untyped_whole(number) {
                Some(whole) => whole.visit(visitor),
                None => visitor.visit_f64(number.value()),
            },
            Value::String(text) => visitor.visit_borrowed_str(text),
            Value::Array(array) => self.array(array, visitor),
            Value::Object(object) => self.object(object, visitor),
        }
    }

    /// Visits a number for an integer type: exactly, or the visitor reports what it expected.
    fn integer<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.charge()?;
        match self.value {
            Value::Number(number) => match whole(number) {
                Some(whole) => whole.visit(visitor),
                // The visitor of an integer does not take a double.
                None => visitor.visit_f64(number.value()),
            },
            _ => self.any(visitor),
        }
    }
}

/// A whole number.
#[derive(Clone, Copy)]
pub(super) enum Whole {
    Signed(i64),
    Unsigned(u64),
    Wide(i128),
    WideUnsigned(u128),
}

impl Whole {
    fn visit<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self {
            Whole::Signed(value) => visitor.visit_i64(value),
            Whole::Unsigned(value) => visitor.visit_u64(value),
            Whole::Wide(value) => visitor.visit_i128(value),
            Whole::WideUnsigned(value) => visitor.visit_u128(value),
        }
    }

    pub fn as_i64(self) -> Option<i64> {
        match self {
            Whole::Signed(value) => Some(value),
            Whole::Unsigned(value) => value.try_into().ok(),
            Whole::Wide(_) | Whole::WideUnsigned(_) => None,
        }
    }

    fn parse(text: &str) -> Option<Whole> {
        let unsigned = || text.parse().map(Whole::Unsigned);
        let signed = || text.parse().map(Whole::Signed);
        let wide = || text.parse().map(Whole::Wide);
        let parsed = unsigned().or_else(|_| signed()).or_else(|_| wide());
        parsed.or_else(|_| text.parse().map(Whole::WideUnsigned)).ok()
    }
}

/// Returns a number without fraction, exactly: from its source text if that is an integer, else the value of its double.
pub(super) fn whole(number: Number<'_>) -> Option<Whole> {
    if let Some(whole) = number.lexeme().and_then(Whole::parse) {
        return Some(whole);
    }
    /// 2^127, the first double above all signed integers.
    const END: f64 = 170_141_183_460_469_231_731_687_303_715_884_105_728.0;
    let value = number.value();
    let is_whole = value.trunc() == value && (-END..END).contains(&value);
    is_whole.then(|| {
        let wide = value as i128;
        let narrow = u64::try_from(wide).map(Whole::Unsigned).or_else(|_| i64::try_from(wide).map(Whole::Signed));
        narrow.unwrap_or(Whole::Wide(wide))
    })
}

/// Returns a whole number for a type that takes numbers of all kinds: one of 64 bits that is certainly meant exactly.
fn untyped_whole(number: Number<'_>) -> Option<Whole> {
    let is_exact = number.value().abs() <= MAX_EXACT || number.lexeme().and_then(Whole::parse).is_some();
    whole(number).filter(|whole| is_exact && matches!(whole, Whole::Signed(_) | Whole::Unsigned(_)))
}

macro_rules! deserialize_integers {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
            self.integer(visitor)
        })*
    };
}

impl<'de> de::Deserializer<'de> for ValueDeserializer<'_, 'de> {
    type Error = Error;

    deserialize_integers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.charge()?;
        self.any(visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.charge()?;
        match self.value {
            Value::Number(number) => visitor.visit_f64(number.value()),
            _ => self.any(visitor),
        }
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.value {
            Value::Null | Value::Undefined => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.charge()?;
        match self.value {
            Value::String(text) => visitor.visit_borrowed_bytes(text.as_bytes()),
            _ => self.any(visitor),
        }
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_bytes(visitor)
    }

    /// A string is a variant without data; an object with one key is a variant with data.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.charge()?;
        match self.value {
            Value::String(name) => visitor.visit_enum(name.into_deserializer()),
            Value::Object(object) => {
                let mut fields = object.iter().filter(|(_, value)| !matches!(value, Value::Undefined));
                match (fields.next(), fields.next()) {
                    (Some((name, content)), None) => {
                        let variant = Variant { name, content: self.inner(content) };
                        visitor.visit_enum(variant)
                    }
                    _ => Err(de::Error::invalid_value(Unexpected::Map, &"an object with one key")),
                }
            }
            other => Err(de::Error::invalid_type(unexpected(other), &"a string or an object")),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool char str string unit unit_struct seq tuple tuple_struct map struct identifier
    }
}

fn unexpected(value: Value<'_>) -> Unexpected<'_> {
    match value {
        Value::Undefined | Value::Null => Unexpected::Unit,
        Value::Bool(value) => Unexpected::Bool(value),
        Value::Number(number) => Unexpected::Float(number.value()),
        Value::String(text) => Unexpected::Str(text),
        Value::Array(_) => Unexpected::Seq,
        Value::Object(_) => Unexpected::Map,
    }
}

/// Items of an array.
struct Items<'b, 'de> {
    array: Array<'de>,
    at: usize,
    outer: ValueDeserializer<'b, 'de>,
}

impl<'de> de::SeqAccess<'de> for Items<'_, 'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        let Some(item) = self.array.get(self.at) else { return Ok(None) };
        let at = self.at;
        self.at += 1;
        seed.deserialize(self.outer.inner(item)).map(Some).map_err(|error| error.within(&format!("[{at}]")))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.array.len() - self.at)
    }
}

/// Fields of an object. Undefined ones are missing.
struct Entries<'b, 'de> {
    object: Object<'de>,
    at: usize,
    current: Option<(&'de str, Value<'de>)>,
    outer: ValueDeserializer<'b, 'de>,
}

impl<'de> de::MapAccess<'de> for Entries<'_, 'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        while self.at < self.object.len() {
            let (key, value) = (self.object.key(self.at), self.object.value(self.at));
            self.at += 1;
            if !matches!(value, Value::Undefined) {
                self.outer.budget.charge_text(key)?;
                self.current = Some((key, value));
                let found = seed.deserialize(KeyDeserializer(key)).map_err(|error| error.within(&path_step(key)));
                return found.map(Some);
            }
        }
        Ok(None)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value> {
        let (key, value) = self.current.take().unwrap_or(("", Value::Undefined));
        seed.deserialize(self.outer.inner(value)).map_err(|error| error.within(&path_step(key)))
    }
}

/// Key of an object: a string, which is also a number for maps whose keys are numbers.
struct KeyDeserializer<'de>(&'de str);

macro_rules! deserialize_number_keys {
    ($($method:ident $visit:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
            match self.0.parse() {
                Ok(number) => visitor.$visit(number),
                Err(_) => visitor.visit_borrowed_str(self.0),
            }
        })*
    };
}

impl<'de> de::Deserializer<'de> for KeyDeserializer<'de> {
    type Error = Error;

    deserialize_number_keys! {
        deserialize_i8 visit_i8 deserialize_i16 visit_i16 deserialize_i32 visit_i32 deserialize_i64 visit_i64
        deserialize_u8 visit_u8 deserialize_u16 visit_u16 deserialize_u32 visit_u32 deserialize_u64 visit_u64
        deserialize_f32 visit_f32 deserialize_f64 visit_f64 deserialize_bool visit_bool
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_borrowed_str(self.0)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        visitor.visit_enum(self.0.into_deserializer())
    }

    forward_to_deserialize_any! {
        i128 u128 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

/// Variant of an enum with data: `{name: content}`.
struct Variant<'b, 'de> {
    name: &'de str,
    content: ValueDeserializer<'b, 'de>,
}

impl<'b, 'de> de::EnumAccess<'de> for Variant<'b, 'de> {
    type Error = Error;
    type Variant = VariantContent<'b, 'de>;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, VariantContent<'b, 'de>)> {
        let variant = seed.deserialize(KeyDeserializer(self.name))?;
        Ok((variant, VariantContent { name: self.name, content: self.content }))
    }
}

/// Data of a variant.
struct VariantContent<'b, 'de> {
    name: &'de str,
    content: ValueDeserializer<'b, 'de>,
}

impl<'de> de::VariantAccess<'de> for VariantContent<'_, 'de> {
    type Error = Error;

    fn unit_variant(self) -> Result<()> {
        Deserialize::deserialize(self.content).map_err(|error: Error| error.within(&path_step(self.name)))
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value> {
        seed.deserialize(self.content).map_err(|error| error.within(&path_step(self.name)))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value> {
        let tuple = de::Deserializer::deserialize_seq(self.content, visitor);
        tuple.map_err(|error| error.within(&path_step(self.name)))
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value> {
        let fields = de::Deserializer::deserialize_map(self.content, visitor);
        fields.map_err(|error| error.within(&path_step(self.name)))
    }
}

impl de::Error for Error {
    /// Creates an error with the code `PQ2009`.
    fn custom<T: fmt::Display>(message: T) -> Error {
        Error::new(Code::ResultType, message.to_string())
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn de::Expected) -> Error {
        Error::new(Code::ResultType, format!("expected {expected}, found {}", type_text(found)))
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn de::Expected) -> Error {
        let found = match found {
            Unexpected::Signed(value) => value.to_string().into(),
            Unexpected::Unsigned(value) => value.to_string().into(),
            Unexpected::Float(value) => value.to_string().into(),
            other => type_text(other),
        };
        Error::new(Code::ResultType, format!("expected {expected}, found {found}"))
    }
}

/// Returns the type of a found value, in the words for results.
fn type_text(found: Unexpected<'_>) -> Cow<'static, str> {
    match found {
        Unexpected::Unit | Unexpected::Option => "null".into(),
        Unexpected::Bool(_) => "a boolean".into(),
        Unexpected::Float(value) if value.trunc() != value => format!("the number {value}").into(),
        Unexpected::Signed(_) | Unexpected::Unsigned(_) | Unexpected::Float(_) => "a number".into(),
        Unexpected::Str(_) | Unexpected::Char(_) | Unexpected::Bytes(_) => "a string".into(),
        Unexpected::Seq => "an array".into(),
        Unexpected::Map => "an object".into(),
        other => other.to_string().into(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;
    use serde::de::DeserializeOwned;
    use serde_json::json;

    use crate::error::Result;
    use crate::{Graph, Limits, OwnedValue, Query, Scratch};

    /// Returns the result of a query on null as a type.
    fn read<T: DeserializeOwned>(query: &str) -> Result<T> {
        Query::parse(query)?.run_as(&Graph::from_json("null")?, Limits::default())
    }

    /// Returns a document as a type.
    fn read_json<T: DeserializeOwned>(json: &str) -> Result<T> {
        Graph::from_json(json)?.root().deserialize()
    }

    #[track_caller]
    fn check_error<T: DeserializeOwned>(json: &str, expected: &str) {
        let error = read_json::<T>(json).err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), Some(expected), "{json}");
    }

    #[derive(Debug, Deserialize, PartialEq)]
    struct Node {
        tag: String,
        pressure: Option<f64>,
        #[serde(default)]
        running: bool,
    }

    #[derive(Debug, Deserialize)]
    struct Drawing {
        #[allow(dead_code)]
        nodes: Vec<Node>,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    enum State {
        Open,
        Stuck(f64),
        Part { of: u8 },
        Range(u8, u8),
    }

    #[test]
    fn structs_take_objects_and_options_take_null() {
        let nodes: Vec<Node> =
            read_json(r#"[{"pressure": null, "x": [{}], "tag": "P"}, {"tag": "Q", "running": true}]"#)
                .expect("two nodes");
        let expected =
            [("P", false), ("Q", true)].map(|(tag, running)| Node { tag: tag.into(), pressure: None, running });
        assert_eq!(nodes, expected);
        assert_eq!(read::<Vec<Option<u8>>>("[1, null, .a]").expect("a list"), [Some(1), None, None]);
        assert_eq!(read::<(u8, String)>(r#"[1, "a"]"#).expect("a pair"), (1, "a".into()));
    }

    #[test]
    fn an_error_says_where_and_what() {
        let at = |node: &str| format!(r#"{{"nodes": [{{"tag": "A"}}, {node}]}}"#);
        let text = "PQ2009: expected f64, found a string at .nodes[1].pressure";
        check_error::<Drawing>(&at(r#"{"tag": "B", "pressure": "high"}"#), text);
        check_error::<Drawing>(&at(r#"{"pressure": 1}"#), "PQ2009: missing field `tag` at .nodes[1]");
        check_error::<Drawing>(&at("7"), "PQ2009: expected struct Node, found a number at .nodes[1]");
        check_error::<Drawing>("{}", "PQ2009: missing field `nodes`");
        check_error::<Vec<u8>>("[1, 300]", "PQ2009: expected u8, found 300 at [1]");
        check_error::<Vec<u8>>("[-1]", "PQ2009: expected u8, found -1 at [0]");
        check_error::<u8>("2.5", "PQ2009: expected u8, found the number 2.5");
        check_error::<BTreeMap<String, bool>>(
            r#"{"two words": null}"#,
            "PQ2009: expected a boolean, found null at .\"two words\"",
        );
        let unknown = "PQ2009: unknown variant `Shut`, expected one of `Open`, `Stuck`, `Part`, `Range`";
        check_error::<State>(r#""Shut""#, unknown);
        check_error::<State>(r#"{"Part": {"of": []}}"#, "PQ2009: expected u8, found an array at .Part.of");
        check_error::<(u8, u8)>("[1]", "PQ2009: invalid length 1, expected a tuple of size 2");
    }

    #[test]
    fn integers_are_exact() {
        assert_eq!(read_json::<Vec<i64>>("[3, 3.0, 3e0, -0]").expect("integers"), [3, 3, 3, 0]);
        assert_eq!(read_json::<u64>("18446744073709551615").expect("the largest"), u64::MAX);
        assert_eq!(read_json::<i64>("-9223372036854775808").expect("the smallest"), i64::MIN);
        assert_eq!(read_json::<i64>("9007199254740993").expect("no double"), 9_007_199_254_740_993);
        assert_eq!(read_json::<u128>("340282366920938463463374607431768211455").expect("128 bits"), u128::MAX);
        // A computed number is a double: 2^53 + 1 rounds to 2^53.
        assert_eq!(read::<i64>("9007199254740992 + 1").expect("a double"), 9_007_199_254_740_992);
        assert_eq!(read::<u64>("10 ^ 18").expect("a whole double"), 1_000_000_000_000_000_000);
        check_error::<u64>(
            "18446744073709551616",
            "PQ2009: expected u64, found integer `18446744073709551616` as i128",
        );
        assert!(read::<u8>("1 / 0").is_err());
    }

    #[test]
    fn doubles_are_the_doubles_of_the_run() {
        assert_eq!(read_json::<f64>("0.1").expect("a double").to_bits(), 0.1_f64.to_bits());
        assert_eq!(read_json::<f64>("7").expect("a whole one"), 7.0);
        assert!(read_json::<f64>("-0").expect("zero").is_sign_negative());
        assert_eq!(read::<f64>("1 / 0").expect("JSON has no infinity"), f64::INFINITY);
        assert_eq!(read::<Option<f64>>("1 / 0").expect("nor is it null"), Some(f64::INFINITY));
    }

    #[test]
    fn enums_are_strings_or_objects_of_one_key() {
        let states: Vec<State> =
            read_json(r#"["Open", {"Stuck": 0.5}, {"Part": {"of": 2}}, {"Range": [1, 2]}]"#).expect("four states");
        assert_eq!(states, [State::Open, State::Stuck(0.5), State::Part { of: 2 }, State::Range(1, 2)]);
        let keyed: BTreeMap<u16, char> = read_json(r#"{"10": "a", "9": "b"}"#).expect("keys are numbers");
        assert_eq!(keyed.into_iter().collect::<Vec<_>>(), [(9, 'b'), (10, 'a')]);
    }

    #[test]
    fn strings_borrow_from_the_document() {
        let graph = Graph::from_json(r#"[{"tag": "P-1", "text": "a\nb"}]"#).expect("JSON");
        let (query, scratch) = (Query::parse("map([.tag, .text])").expect("a query"), Scratch::new());
        let result = query.run(&graph, &scratch, Limits::default()).expect("it runs");
        let texts: Vec<Vec<&str>> = result.deserialize().expect("texts");
        assert_eq!(texts, [["P-1", "a\nb"]]);
        assert!(graph.source().as_bytes().as_ptr_range().contains(&texts[0][0].as_ptr()), "not copied");
    }

    /// Results of all kinds: stored, selected, computed, with undefined values.
    const QUERIES: [&str; 9] = [
        "get()",
        ".rows | filter(.n > 1)",
        ".rows | map({t: .t, twice: .n * 2, none: .missing})",
        ".rows | pick(.t, .n)",
        ".rows | map(.n)",
        ".rows | limit(2) | reverse()",
        ".rows | groupBy(.t)",
        "[.rows.0, $root.deep, 1.5, true, null]",
        ".rows | map([.t, [.n]])",
    ];

    /// The oracle is the printed result, read by serde_json.
    #[test]
    fn untyped_values_are_those_of_the_printed_result() {
        let document = json!({
            "rows": [{"t": "a", "n": 1}, {"t": "é", "n": 2.5}, {"n": -3, "t": "a"}],
            "deep": {"1": {"b": [[], {}, [null]]}, "0": 9_007_199_254_740_993_u64},
        });
        let graph = Graph::from_json(document.to_string()).expect("JSON");
        for text in QUERIES {
            let query = Query::parse(text).expect(text);
            let printed = query.to_json(&graph, Limits::default()).expect(text);
            let expected: serde_json::Value = serde_json::from_str(&printed).expect(text);
            let read: serde_json::Value = query.run_as(&graph, Limits::default()).expect(text);
            assert_eq!(read, expected, "{text}");
            let owned: OwnedValue = query.run_as(&graph, Limits::default()).expect(text);
            assert_eq!(serde_json::from_str::<OwnedValue>(&printed).expect(text), owned, "{text}");
        }
    }

    #[test]
    fn a_result_that_shares_its_parts_is_bounded() {
        let doubled = format!("[\"text\"]{}", " | [get(), get()]".repeat(60));
        let graph = Graph::from_json("null").expect("JSON");
        let query = Query::parse(&doubled).expect("a query");
        let code = |limits| query.run_as::<serde_json::Value>(&graph, limits).map_err(|error| error.code().as_str());
        assert_eq!(code(Limits { output: 1_000, ..Limits::default() }), Err("PQ4003"));
        let deep = format!("1{}", " | [get()]".repeat(126));
        assert!(read::<serde_json::Value>(&deep).is_ok(), "as deep as a query builds");
        let deep = format!("{}1{}", "[".repeat(129), "]".repeat(129));
        check_error::<serde_json::Value>(
            &deep,
            &format!("PQ4002: The result has more than 128 levels at {}", "[0]".repeat(128)),
        );
    }
}
