//! Owned values: results that outlive their graph and their run, and values built by the program.

use std::fmt;
use std::ops;
use std::sync::Arc;

use hashbrown::DefaultHashBuilder;
use serde::de::{self, Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use super::deserialize::Budget;
use super::{Array, Fields, Index, Items, Keys, Number, NumberRepr, Object, Value, write};
use crate::error::{Error, Result};
use crate::limits::Limits;

/// A JSON value that owns its parts: `'static`, `Send` and `Sync`.
///
/// [`RunResult::into_owned`](crate::RunResult::into_owned) and [`Value::into_owned`] copy a result;
/// [`OwnedValue::as_value`] is the view of an owned value, for parameters and for printing. Indexing with a missing key
/// gives null, as in a query.
///
/// ```
/// use pidq_core::{Graph, Limits, OwnedValue, Query};
///
/// let result: OwnedValue = {
///     let graph = Graph::from_json(r#"{"nodes": [{"tag": "P-101", "kw": 15}]}"#)?;
///     Query::parse("get()")?.run_as(&graph, Limits::default())?
/// };
/// assert_eq!(result["nodes"][0]["kw"].as_f64(), Some(15.0));
/// assert_eq!(result.pointer("/nodes/0/tag").and_then(OwnedValue::as_str), Some("P-101"));
/// assert!(result["edges"].is_null());
/// # Ok::<(), pidq_core::Error>(())
/// ```
#[derive(Clone, Default, PartialEq)]
pub enum OwnedValue {
    /// `null`.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(OwnedNumber),
    /// A string.
    String(String),
    /// An array.
    Array(Vec<OwnedValue>),
    /// An object.
    Object(OwnedObject),
}

/// A number, with its source text if that differs from JavaScript's text of the number.
#[derive(Clone, Debug)]
pub struct OwnedNumber {
    value: f64,
    lexeme: Option<Box<str>>,
}

impl OwnedNumber {
    /// Returns the value as a double.
    pub fn value(&self) -> f64 {
        self.value
    }

    /// Returns the source text if it differs from JavaScript's text of the number.
    pub fn lexeme(&self) -> Option<&str> {
        self.lexeme.as_deref()
    }
}

impl PartialEq for OwnedNumber {
    /// Compares the doubles, as a query does.
    fn eq(&self, other: &OwnedNumber) -> bool {
        self.value == other.value
    }
}

/// Keys and values of an owned object, in JavaScript's order.
#[derive(Clone, Debug, Default)]
pub struct OwnedObject {
    /// Shared by the objects of a list, as long as they have the same keys.
    keys: Arc<OwnedKeys>,
    values: Vec<OwnedValue>,
}

/// Distinct keys, with an index if there are many.
#[derive(Debug, Default)]
struct OwnedKeys {
    names: Box<[Box<str>]>,
    index: Option<(Index, DefaultHashBuilder)>,
}

impl OwnedKeys {
    fn new(names: &[&str]) -> OwnedKeys {
        let index = (names.len() > Keys::LINEAR_SEARCH_LIMIT).then(|| {
            let hasher = DefaultHashBuilder::default();
            (Index::from_names(names, &hasher), hasher)
        });
        OwnedKeys { names: names.iter().map(|name| (*name).into()).collect(), index }
    }

    fn slot(&self, name: &str) -> Option<usize> {
        match &self.index {
            None => self.names.iter().position(|known| **known == *name),
            Some((index, hasher)) => index.position(name, hasher, |slot| &*self.names[slot] == name),
        }
    }

    fn are(&self, names: &[&str]) -> bool {
        self.names.len() == names.len() && self.names.iter().zip(names).all(|(known, name)| **known == **name)
    }
}

impl OwnedObject {
    /// Returns the number of keys.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Returns true if there are no keys.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns the value of a key.
    pub fn get(&self, key: &str) -> Option<&OwnedValue> {
        self.keys.slot(key).map(|slot| &self.values[slot])
    }

    /// Iterates over the keys and values.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &OwnedValue)> + Clone {
        self.keys.names.iter().map(|name| &**name).zip(&self.values)
    }

    /// Returns an identifier of the keys, as [`Object::keys_id`].
    pub(super) fn keys_id(&self) -> usize {
        Arc::as_ptr(&self.keys).addr()
    }

    pub(super) fn key(&self, slot: usize) -> &str {
        &self.keys.names[slot]
    }

    pub(crate) fn values(&self) -> &[OwnedValue] {
        &self.values
    }
}

impl PartialEq for OwnedObject {
    /// Compares keys and values in any order, as a query does.
    fn eq(&self, other: &OwnedObject) -> bool {
        self.len() == other.len() && self.iter().all(|(key, value)| other.get(key) == Some(value))
    }
}

impl<K: AsRef<str>> FromIterator<(K, OwnedValue)> for OwnedObject {
    /// Builds an object; the last of equal keys wins.
    fn from_iter<I: IntoIterator<Item = (K, OwnedValue)>>(fields: I) -> OwnedObject {
        let (mut names, mut values): (Vec<K>, Vec<OwnedValue>) = (Vec::new(), Vec::new());
        let mut slots = hashbrown::HashMap::new();
        for (name, value) in fields {
            match slots.get(name.as_ref()) {
                Some(slot) => values[*slot] = value,
                None => {
                    slots.insert(String::from(name.as_ref()), names.len());
                    names.push(name);
                    values.push(value);
                }
            }
        }
        let (names, values) = write::in_js_order(names.iter().map(AsRef::as_ref).collect(), values);
        OwnedObject { keys: Arc::new(OwnedKeys::new(&names)), values }
    }
}

impl OwnedValue {
    /// Returns a view of the value: for parameters, printing, and the accessors of [`Value`].
    pub fn as_value(&self) -> Value<'_> {
        match self {
            OwnedValue::Null => Value::Null,
            OwnedValue::Bool(value) => Value::Bool(*value),
            OwnedValue::Number(OwnedNumber { value, lexeme: None }) => Value::number(*value),
            OwnedValue::Number(number) => Value::Number(Number(NumberRepr::Owned(number))),
            OwnedValue::String(text) => Value::String(text),
            OwnedValue::Array(items) => Value::Array(Array(Items::Owned(items))),
            OwnedValue::Object(object) => Value::Object(Object(Fields::Owned(object))),
        }
    }

    /// Returns the value of a key; `None` for a missing one, and for a value that is not an object.
    pub fn get(&self, key: &str) -> Option<&OwnedValue> {
        self.as_object().and_then(|object| object.get(key))
    }

    /// Returns the value at a JSON Pointer (RFC 6901), such as `/nodes/0/tag`.
    pub fn pointer(&self, pointer: &str) -> Option<&OwnedValue> {
        super::pointer::find(self, pointer, |value, step| match value {
            OwnedValue::Array(items) => items.get(super::pointer::index(step)?),
            OwnedValue::Object(object) => object.get(step),
            _ => None,
        })
    }

    /// Returns true for `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, OwnedValue::Null)
    }

    /// Returns the value if it is a boolean.
    pub fn as_bool(&self) -> Option<bool> {
        self.as_value().as_bool()
    }

    /// Returns the value if it is a number.
    pub fn as_f64(&self) -> Option<f64> {
        self.as_value().as_f64()
    }

    /// Returns the value if it is a whole number that an `i64` can hold.
    pub fn as_i64(&self) -> Option<i64> {
        self.as_value().as_i64()
    }

    /// Returns the value if it is a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            OwnedValue::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the items if the value is an array.
    pub fn as_array(&self) -> Option<&[OwnedValue]> {
        match self {
            OwnedValue::Array(items) => Some(items),
            _ => None,
        }
    }

    /// Returns the keys and values if the value is an object.
    pub fn as_object(&self) -> Option<&OwnedObject> {
        match self {
            OwnedValue::Object(object) => Some(object),
            _ => None,
        }
    }
}

impl fmt::Display for OwnedValue {
    /// Writes JSON.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.as_value(), f)
    }
}

impl fmt::Debug for OwnedValue {
    /// Writes the value as JSON.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.as_value(), f)
    }
}

impl ops::Index<&str> for OwnedValue {
    type Output = OwnedValue;

    /// Returns the value of a key; null if there is none.
    fn index(&self, key: &str) -> &OwnedValue {
        self.get(key).unwrap_or(&OwnedValue::Null)
    }
}

impl ops::Index<usize> for OwnedValue {
    type Output = OwnedValue;

    /// Returns an item; null if there is none.
    fn index(&self, index: usize) -> &OwnedValue {
        self.as_array().and_then(|items| items.get(index)).unwrap_or(&OwnedValue::Null)
    }
}

impl From<bool> for OwnedValue {
    fn from(value: bool) -> OwnedValue {
        OwnedValue::Bool(value)
    }
}

impl From<f64> for OwnedValue {
    fn from(value: f64) -> OwnedValue {
        OwnedValue::Number(OwnedNumber { value, lexeme: None })
    }
}

impl From<i32> for OwnedValue {
    fn from(value: i32) -> OwnedValue {
        f64::from(value).into()
    }
}

impl From<u32> for OwnedValue {
    fn from(value: u32) -> OwnedValue {
        f64::from(value).into()
    }
}

impl<T: Into<OwnedValue>> From<Option<T>> for OwnedValue {
    /// `None` is null.
    fn from(value: Option<T>) -> OwnedValue {
        value.map_or(OwnedValue::Null, Into::into)
    }
}

impl From<&str> for OwnedValue {
    fn from(text: &str) -> OwnedValue {
        OwnedValue::String(text.to_owned())
    }
}

impl From<String> for OwnedValue {
    fn from(text: String) -> OwnedValue {
        OwnedValue::String(text)
    }
}

impl<T: Into<OwnedValue>> From<Vec<T>> for OwnedValue {
    fn from(items: Vec<T>) -> OwnedValue {
        items.into_iter().collect()
    }
}

impl<T: Into<OwnedValue>> FromIterator<T> for OwnedValue {
    /// Builds an array.
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> OwnedValue {
        OwnedValue::Array(items.into_iter().map(Into::into).collect())
    }
}

impl From<OwnedObject> for OwnedValue {
    fn from(object: OwnedObject) -> OwnedValue {
        OwnedValue::Object(object)
    }
}

impl PartialEq<str> for OwnedValue {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == Some(other)
    }
}

impl PartialEq<&str> for OwnedValue {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == Some(*other)
    }
}

impl PartialEq<f64> for OwnedValue {
    fn eq(&self, other: &f64) -> bool {
        self.as_f64() == Some(*other)
    }
}

impl PartialEq<bool> for OwnedValue {
    fn eq(&self, other: &bool) -> bool {
        self.as_bool() == Some(*other)
    }
}

impl<'a> From<&'a OwnedValue> for Value<'a> {
    fn from(value: &'a OwnedValue) -> Value<'a> {
        value.as_value()
    }
}

impl<'a> Value<'a> {
    /// Copies the value into one that owns its parts. Numbers keep their source text; undefined fields are left out, and
    /// other undefined values are null.
    ///
    /// # Errors
    /// `PQ4002` for more than 128 levels, `PQ4003` for more than [`Limits::output`](crate::Limits) bytes.
    pub fn into_owned(self) -> Result<OwnedValue> {
        self.into_owned_within(Limits::default().output)
    }

    /// [`Value::into_owned`] of at most `limit` bytes: a value may occur any number of times in a result.
    pub(crate) fn into_owned_within(self, limit: usize) -> Result<OwnedValue> {
        let budget = Budget::new(limit);
        Copier { budget: &budget, last_keys: Arc::default() }.value(self, 0)
    }
}

/// Copy of a value. Recursive: its depth is bounded.
struct Copier<'b> {
    budget: &'b Budget,
    last_keys: Arc<OwnedKeys>,
}

impl Copier<'_> {
    fn value(&mut self, value: Value<'_>, depth: u32) -> Result<OwnedValue> {
        self.budget.charge_value(value, depth)?;
        Ok(match value {
            Value::Undefined | Value::Null => OwnedValue::Null,
            Value::Bool(value) => OwnedValue::Bool(value),
            Value::Number(number) => {
                let lexeme = number.lexeme().map(Into::into);
                OwnedValue::Number(OwnedNumber { value: number.value(), lexeme })
            }
            Value::String(text) => OwnedValue::String(text.to_owned()),
            Value::Array(array) => {
                let items = array.iter().map(|item| self.value(item, depth + 1));
                OwnedValue::Array(items.collect::<Result<_>>()?)
            }
            Value::Object(object) => OwnedValue::Object(self.object(object, depth)?),
        })
    }

    fn object(&mut self, object: Object<'_>, depth: u32) -> Result<OwnedObject> {
        let fields = || object.iter().filter(|(_, value)| !matches!(value, Value::Undefined));
        let mut values = Vec::with_capacity(object.len());
        for (key, value) in fields() {
            self.budget.charge_text(key)?;
            values.push(self.value(value, depth + 1)?);
        }
        let names: Vec<&str> = fields().map(|(key, _)| key).collect();
        if !self.last_keys.are(&names) {
            self.last_keys = Arc::new(OwnedKeys::new(&names));
        }
        Ok(OwnedObject { keys: self.last_keys.clone(), values })
    }
}

impl Serialize for OwnedValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        self.as_value().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for OwnedValue {
    /// Reads a value of any type; whole numbers of 64 bits keep all their digits.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<OwnedValue, D::Error> {
        deserializer.deserialize_any(OwnedVisitor)
    }
}

struct OwnedVisitor;

impl<'de> de::Visitor<'de> for OwnedVisitor {
    type Value = OwnedValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> std::result::Result<OwnedValue, E> {
        Ok(OwnedValue::Null)
    }

    fn visit_none<E>(self) -> std::result::Result<OwnedValue, E> {
        Ok(OwnedValue::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<OwnedValue, D::Error> {
        Deserialize::deserialize(deserializer)
    }

    fn visit_bool<E>(self, value: bool) -> std::result::Result<OwnedValue, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> std::result::Result<OwnedValue, E> {
        Ok(OwnedValue::Number(whole_number(value as f64, value as i128)))
    }

    fn visit_u64<E>(self, value: u64) -> std::result::Result<OwnedValue, E> {
        Ok(OwnedValue::Number(whole_number(value as f64, value.into())))
    }

    fn visit_f64<E>(self, value: f64) -> std::result::Result<OwnedValue, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, text: &str) -> std::result::Result<OwnedValue, E> {
        Ok(text.into())
    }

    fn visit_string<E>(self, text: String) -> std::result::Result<OwnedValue, E> {
        Ok(text.into())
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, mut items: A) -> std::result::Result<OwnedValue, A::Error> {
        let mut owned = Vec::new();
        while let Some(item) = items.next_element()? {
            owned.push(item);
        }
        Ok(OwnedValue::Array(owned))
    }

    fn visit_map<A: de::MapAccess<'de>>(self, mut fields: A) -> std::result::Result<OwnedValue, A::Error> {
        let mut owned = Vec::new();
        while let Some(field) = fields.next_entry::<String, OwnedValue>()? {
            owned.push(field);
        }
        Ok(OwnedValue::Object(owned.into_iter().collect()))
    }
}

/// Returns a whole number; one that no double can express keeps its digits.
fn whole_number(value: f64, exact: i128) -> OwnedNumber {
    let lexeme = (value as i128 != exact).then(|| exact.to_string().into());
    OwnedNumber { value, lexeme }
}

impl TryFrom<Value<'_>> for OwnedValue {
    type Error = Error;

    /// As [`Value::into_owned`].
    fn try_from(value: Value<'_>) -> Result<OwnedValue> {
        value.into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Graph, Limits, Query, Scratch};

    const DOCUMENT: &str = r#"{"1":true,"b":[1.50,{"x":null},"é"],"a/b":{"m~n":7},"big":12345678901234567890}"#;

    fn owned(json: &str) -> OwnedValue {
        Graph::from_json(json).and_then(|graph| graph.root().into_owned()).expect("JSON")
    }

    #[test]
    fn an_owned_value_outlives_its_run_and_moves_to_another_thread() {
        let value = owned(DOCUMENT);
        let printed = std::thread::spawn(move || format!("{:?}", value.as_value())).join().expect("a text");
        assert_eq!(printed, DOCUMENT, "numbers keep their text, and keys their order");
    }

    #[test]
    fn rust_values_convert() {
        let print = |value: OwnedValue| format!("{:?}", value.as_value());
        assert_eq!(print(u32::MAX.into()), "4294967295");
        assert_eq!(print(vec![Some("P-1"), None].into()), r#"["P-1",null]"#);
    }

    #[test]
    fn values_are_read_by_key_index_and_pointer() {
        let value = owned(DOCUMENT);
        assert_eq!(value["b"][0].as_f64(), Some(1.5));
        assert_eq!(value["1"].as_bool(), Some(true));
        assert!(value["b"][1]["x"].is_null() && value["b"][9]["x"].is_null() && value["none"][0].is_null());
        let graph = Graph::from_json(DOCUMENT).expect("JSON");
        let both = |pointer: &str| {
            let found = value.pointer(pointer).map(|found| format!("{:?}", found.as_value()));
            assert_eq!(graph.root().pointer(pointer).map(|found| format!("{found:?}")), found, "{pointer}");
            found
        };
        assert_eq!(both("/b/2").as_deref(), Some("\"é\""));
        assert_eq!(both("/a~1b/m~0n").as_deref(), Some("7"));
        assert_eq!(both("").map(|text| text.len()), Some(format!("{:?}", graph.root()).len()));
        for missing in ["b", "/b/02", "/b/-", "/b/3", "/b/+1", "/a~2b", "/", "/big/0"] {
            assert_eq!(both(missing), None, "{missing}");
        }
    }

    /// RFC 6901, section 5.
    #[test]
    fn pointers_are_those_of_the_standard() {
        let text = r#"{"foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4, "i\\j": 5, "k\"l": 6, " ": 7, "m~n": 8}"#;
        let value = owned(text);
        let numbers = ["/", "/a~1b", "/c%d", "/e^f", "/g|h", "/i\\j", "/k\"l", "/ ", "/m~0n"];
        let found: Vec<_> = numbers.iter().map(|pointer| value.pointer(pointer).and_then(OwnedValue::as_i64)).collect();
        assert_eq!(found, (0..9).map(Some).collect::<Vec<_>>());
        assert_eq!(value.pointer("/foo/0").and_then(OwnedValue::as_str), Some("bar"));
    }

    #[test]
    fn an_object_has_each_key_once_in_javascripts_order() {
        let object: OwnedObject =
            [("b", 1), ("2", 2), ("b", 3), ("0", 4)].map(|(key, n)| (key, n.into())).into_iter().collect();
        assert_eq!(format!("{:?}", OwnedValue::from(object).as_value()), r#"{"0":4,"2":2,"b":3}"#);
        let many: OwnedObject = (0..100).map(|at| (format!("k{at}"), at.into())).collect();
        assert_eq!(many.get("k77").and_then(OwnedValue::as_i64), Some(77));
        assert_eq!((many.get("k100"), many.len()), (None, 100));
    }

    #[test]
    fn a_bomb_is_not_copied() {
        let graph = Graph::from_json("null").expect("JSON");
        let query = Query::parse(&format!("[\"text\"]{}", " | [get(), get()]".repeat(60))).expect("a query");
        let scratch = Scratch::new();
        let limits = Limits { output: 1_000, ..Limits::default() };
        let error = query.run(&graph, &scratch, limits).and_then(|result| result.into_owned()).expect_err("a bomb");
        assert_eq!(error.code().as_str(), "PQ4003");
    }

    /// Queries of owned values, and of the same values in a document.
    #[test]
    fn a_query_reads_an_owned_value_as_one_of_a_document() {
        let json = r#"[{"t":"a","n":1.50},{"t":"b","n":2},{"n":3,"x":[1,2]}]"#;
        let (value, graph) = (owned(json), Graph::from_json(json).expect("JSON"));
        let empty = Graph::from_json("null").expect("JSON");
        let stages = [
            "get()",
            "filter(.n > 1)",
            "sort(.n, \"desc\")",
            "map(.t)",
            "pick(.t, .n)",
            "limit(2)",
            "skip(1)",
            "reverse()",
            "map({t: .t, n: .n})",
            "groupBy(.t)",
            "keyBy(.n)",
            "map(keys())",
            "map(values())",
            "map(entries())",
            "size()",
            "uniqBy(.t)",
            "map(mapValues(size()))",
            "flatten()",
            "uniq()",
            "join()",
            ".1.t",
            "map(.x.0)",
            "[get(), get()]",
            "map(merge(get(), {y: 1}))",
            "map(get() == {t: \"b\", n: 2})",
        ];
        for stage in stages {
            let in_document = Query::parse(stage).and_then(|query| query.to_json(&graph, Limits::default()));
            let prepared = Query::prepare(&format!("$v | {stage}")).expect(stage);
            let bound = prepared.bind([("v", &value)]).expect(stage).to_json(&empty, Limits::default());
            let code = |result: Result<String>| result.map_err(|error| error.code().as_str());
            assert_eq!(code(bound), code(in_document), "{stage}");
        }
    }
}
