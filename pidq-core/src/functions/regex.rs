//! Regular expression functions: matching, captures, replacement.

mod replace;

use super::string::expect_text;
use crate::error::Result;
use crate::eval::EvalContext;
use crate::eval::plan::function::{Body, Function, Param};
use crate::eval::regex_captures::MatchFormat;
use crate::regex::{Captures, Regex};
use crate::value::Value;

/// Functions of pidq's own profile.
pub(crate) const EXTENSIONS: &[Function] = &[Function {
    name: "replaceRegex",
    params: &[Param::query("text"), Param::pattern("pattern"), Param::query("with"), Param::flags("flags").optional()],
    summary: "The string with every match of a pattern replaced; `$1` and `$<name>` in `with` are groups, `$&` is the match, `$$` a dollar.",
    example: r#"replaceRegex("P-101A", "(?<kind>[A-Z]+)-([0-9]+)", "$2/$<kind>") => "101/PA""#,
    body: Body::Lazy(replace::replace_regex),
}];

const PARAMS: &[Param] = &[Param::query("text"), Param::pattern("pattern"), Param::flags("flags").optional()];

pub(crate) const FUNCTIONS: &[Function] = &[
    Function {
        name: "match",
        params: PARAMS,
        summary: "The first match of a pattern: the matched string, its capture groups, and the named ones in `namedGroups`; null if there is none.",
        example: r#"[match("P-101", "([A-Z])-([0-9]+)"), match("P-101", "(?<no>[0-9]+)").namedGroups.no] => [{"value":"P-101","groups":["P","101"]},"101"]"#,
        body: Body::Search(first_match),
    },
    Function {
        name: "matchAll",
        params: PARAMS,
        summary: "All matches of a pattern, each as the result of `match`.",
        example: r#"matchAll("1-2", "[0-9]") => [{"value":"1"},{"value":"2"}]"#,
        body: Body::Search(all_matches),
    },
    Function {
        name: "regex",
        params: PARAMS,
        summary: "Whether a string contains a match of a pattern; other values are searched as texts, null as `null`.",
        example: r#"regex("P-101", "^P-[0-9]+$") => true"#,
        body: Body::Search(is_match),
    },
];

fn is_match<'a>(cx: &mut EvalContext<'a>, text: Value<'a>, regex: &Regex) -> Result<Value<'a>> {
    let (is_null, text) = (text.is_null(), cx.convert_to_text(text)?);
    let is_found = cx.search_in(regex, text, |budget| regex.is_match(text, budget))?;
    if is_null && is_found {
        cx.warn_null_matched()?;
    }
    Ok(Value::Bool(is_found))
}

fn first_match<'a>(cx: &mut EvalContext<'a>, text: Value<'a>, regex: &Regex) -> Result<Value<'a>> {
    let text = expect_text(text)?;
    match search(cx, regex, text, 0)? {
        Some(captures) => MatchFormat::new(cx, regex)?.object(cx, text, &captures),
        None => Ok(Value::Null),
    }
}

fn all_matches<'a>(cx: &mut EvalContext<'a>, text: Value<'a>, regex: &Regex) -> Result<Value<'a>> {
    let text = expect_text(text)?;
    let format = MatchFormat::new(cx, regex)?;
    let base = cx.mark();
    let mut start = 0;
    while let Some(captures) = search(cx, regex, text, start)? {
        format.push(cx, text, &captures)?;
        start = captures.next_start(text);
    }
    format.list(cx, base)
}

/// Returns the first match at or after a byte.
fn search(cx: &mut EvalContext<'_>, regex: &Regex, text: &str, start: usize) -> Result<Option<Captures>> {
    cx.search_in(regex, text, |budget| regex.captures(text, start, budget))
}
