//! Regular expressions: whether a text matches, and what in it does.

use hashbrown::HashSet;

use super::string::expect_text;
use crate::error::Result;
use crate::eval::Cx;
use crate::eval::function::{Body, Function, Param};
use crate::regex::{Captures, Regex};
use crate::value::{Keys, Value};

const PARAMS: &[Param] = &[Param::query("text"), Param::pattern("pattern"), Param::constant("flags").optional()];

pub(crate) const FUNCTIONS: &[Function] = &[
    Function {
        name: "match",
        params: PARAMS,
        summary: "The first match of a pattern: its text and its groups; null if there is none.",
        example: r#"match("P-101", "([A-Z])-([0-9]+)") => {"value":"P-101","groups":["P","101"]}"#,
        body: Body::Search(first_match),
    },
    Function {
        name: "matchAll",
        params: PARAMS,
        summary: "All matches of a pattern.",
        example: r#"matchAll("1-2", "[0-9]") => [{"value":"1"},{"value":"2"}]"#,
        body: Body::Search(all_matches),
    },
    Function {
        name: "regex",
        params: PARAMS,
        summary: "Whether a text has a match of a pattern.",
        example: r#"regex("P-101", "^P-[0-9]+$") => true"#,
        body: Body::Search(is_match),
    },
];

fn is_match<'a>(cx: &mut Cx<'a>, text: Value<'a>, regex: &'a Regex) -> Result<Value<'a>> {
    let text = cx.text_of(text)?;
    pay(cx, regex, text)?;
    regex.is_match(text, cx.limits().backtracks).map(Value::Bool)
}

fn first_match<'a>(cx: &mut Cx<'a>, text: Value<'a>, regex: &'a Regex) -> Result<Value<'a>> {
    let text = expect_text(text)?;
    match search(cx, regex, text, 0)? {
        Some(captures) => {
            let shape = Shape::new(cx, regex)?;
            let values = shape.values(cx, text, &captures)?;
            cx.object_of(shape.keys, &values[..shape.width()])
        }
        None => Ok(Value::Null),
    }
}

fn all_matches<'a>(cx: &mut Cx<'a>, text: Value<'a>, regex: &'a Regex) -> Result<Value<'a>> {
    let text = expect_text(text)?;
    let shape = Shape::new(cx, regex)?;
    let base = cx.mark();
    let mut start = 0;
    while let Some(captures) = search(cx, regex, text, start)? {
        let values = shape.values(cx, text, &captures)?;
        for value in &values[..shape.width()] {
            cx.push(*value)?;
        }
        start = captures.next_start(text);
    }
    cx.records(shape.keys, base)
}

fn search<'a>(cx: &mut Cx<'a>, regex: &Regex, text: &str, start: usize) -> Result<Option<Captures>> {
    pay(cx, regex, text)?;
    regex.captures(text, start, cx.limits().backtracks)
}

fn pay(cx: &mut Cx<'_>, regex: &Regex, text: &str) -> Result<()> {
    cx.spend(regex.search_cost(text))
}

/// What the matches of a pattern have in common: the keys of the objects that describe them.
struct Shape<'a> {
    keys: &'a Keys<'a>,
    groups: &'a [Option<String>],
    /// The names of groups, if there are any.
    names: Option<&'a Keys<'a>>,
}

/// The keys of an object that describes a match, where the pattern has neither groups nor names, groups, and both.
const KEYS: [Keys<'static>; 3] = [
    Keys { names: &["value"], index: None },
    Keys { names: &["value", "groups"], index: None },
    Keys { names: &["value", "groups", "namedGroups"], index: None },
];

impl<'a> Shape<'a> {
    fn new(cx: &mut Cx<'a>, regex: &'a Regex) -> Result<Shape<'a>> {
        let groups = regex.group_names();
        cx.spend(groups.len() as u64)?;
        let names = if groups.iter().any(Option::is_some) { Some(named_keys(cx, groups)?) } else { None };
        let keys = match (groups, names) {
            ([], _) => const { &KEYS[0] },
            (_, None) => const { &KEYS[1] },
            (_, Some(_)) => const { &KEYS[2] },
        };
        Ok(Shape { keys, groups, names })
    }

    fn width(&self) -> usize {
        self.keys.names.len()
    }

    /// The values of the object that describes a match: as many as there are keys.
    fn values(&self, cx: &mut Cx<'a>, text: &'a str, captures: &Captures) -> Result<[Value<'a>; KEYS.len()]> {
        cx.spend(self.groups.len() as u64)?;
        let mut values = [group(text, captures, 0), Value::Undefined, Value::Undefined];
        if !self.groups.is_empty() {
            values[1] = cx.list_by(self.groups.len(), |at| group(text, captures, at + 1))?;
        }
        if let Some(names) = self.names {
            values[2] = self.named(cx, names, text, captures)?;
        }
        Ok(values)
    }

    /// A name may come twice, in branches that exclude each other: the one that has matched counts.
    fn named(&self, cx: &mut Cx<'a>, names: &'a Keys<'a>, text: &'a str, captures: &Captures) -> Result<Value<'a>> {
        let base = cx.mark();
        for _ in names.names {
            cx.push(Value::Undefined)?;
        }
        for (at, name) in self.groups.iter().enumerate() {
            let slot = name.as_ref().and_then(|name| names.slot(name));
            let value = group(text, captures, at + 1);
            if let (Some(slot), Value::String(_)) = (slot, value) {
                cx.collected(base)[slot] = value;
            }
        }
        cx.record(names, base)
    }
}

fn named_keys<'a>(cx: &mut Cx<'a>, groups: &'a [Option<String>]) -> Result<&'a Keys<'a>> {
    let mut seen = HashSet::new();
    let names: Vec<&'a str> = groups.iter().flatten().map(String::as_str).filter(|name| seen.insert(*name)).collect();
    cx.keys(&names)
}

/// The text of a group, a part of the searched one; no value where the group has not matched.
#[inline]
fn group<'a>(text: &'a str, captures: &Captures, at: usize) -> Value<'a> {
    captures.get(at).and_then(|range| text.get(range)).map_or(Value::Undefined, Value::String)
}
