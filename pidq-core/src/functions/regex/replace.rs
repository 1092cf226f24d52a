//! Replacement of matches, with the references of JavaScript's `replaceAll` in the replacement.

use std::fmt::{self, Write};

use super::super::array::optional;
use super::super::helpers::string_args;
use super::search;
use crate::error::Result;
use crate::eval::EvalContext;
use crate::eval::build::LimitedText;
use crate::eval::plan::Plan;
use crate::regex::{Captures, Regex};
use crate::value::Value;

/// A part of a replacement.
#[derive(Clone, Debug, Eq, PartialEq)]
enum Part<'t> {
    Text(&'t str),
    Match,
    Before,
    After,
    /// The text of one group. A name may belong to several, of which one has matched.
    Groups(Vec<usize>),
}

/// Returns null for a null argument, like `replace`.
pub(super) fn replace_regex<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let [_, pattern, ..] = args else { return Ok(Value::Null) };
    let [text, with] = [optional(cx, args, 0, input)?, optional(cx, args, 2, input)?];
    if let Plan::Pattern(regex) = pattern {
        return replace_matches(cx, text, regex, with);
    }
    let pattern = optional(cx, args, 1, input)?;
    replace_computed(cx, text, pattern, with, args.get(3))
}

/// Replaces the matches of a computed pattern, with the flags that the compiler has added.
#[inline(never)]
fn replace_computed<'a>(
    cx: &mut EvalContext<'a>,
    text: Value<'a>,
    pattern: Value<'a>,
    with: Value<'a>,
    flags: Option<&'a Plan>,
) -> Result<Value<'a>> {
    let regex = cx.regex_from(pattern, flags)?;
    replace_matches(cx, text, &regex, with)
}

fn replace_matches<'a>(cx: &mut EvalContext<'a>, text: Value<'a>, regex: &Regex, with: Value<'a>) -> Result<Value<'a>> {
    let Some([text, with]) = string_args(cx, &[text, with])? else { return Ok(Value::Null) };
    let matches = all_matches(cx, regex, text)?;
    if matches.is_empty() {
        return Ok(Value::String(text));
    }
    let parts = parts(with, regex.group_names());
    cx.charge((parts.len() * matches.len()) as u64)?;
    let replaced = cx.build_text(|out| write_replaced(out, text, &matches, &parts))?;
    cx.release(matches.len() * match_size(regex));
    Ok(Value::String(replaced))
}

/// Returns the memory that a match takes.
fn match_size(regex: &Regex) -> usize {
    size_of::<Captures>() + regex.group_names().len() * size_of::<Option<std::ops::Range<usize>>>()
}

/// Returns all matches; an empty one does not touch the match before it.
fn all_matches(cx: &mut EvalContext<'_>, regex: &Regex, text: &str) -> Result<Vec<Captures>> {
    let mut matches = Vec::new();
    let mut start = 0;
    while let Some(captures) = search(cx, regex, text, start)? {
        cx.reserve(match_size(regex))?;
        start = captures.next_start(text);
        matches.push(captures);
    }
    Ok(matches)
}

fn write_replaced(out: &mut LimitedText, text: &str, matches: &[Captures], parts: &[Part<'_>]) -> fmt::Result {
    let mut end = 0;
    for captures in matches {
        let range = captures.range();
        out.write_str(&text[end..range.start])?;
        for part in parts {
            out.write_str(match part {
                Part::Text(part) => part,
                Part::Match => &text[range.clone()],
                Part::Before => &text[..range.start],
                Part::After => &text[range.end..],
                Part::Groups(groups) => group_text(text, captures, groups),
            })?;
        }
        end = range.end;
    }
    out.write_str(&text[end..])
}

/// Returns the text of the group that matched, the empty text if none did.
fn group_text<'t>(text: &'t str, captures: &Captures, groups: &[usize]) -> &'t str {
    groups.iter().find_map(|group| captures.get(*group)).and_then(|range| text.get(range)).unwrap_or_default()
}

/// Splits a replacement. A reference to a group that the pattern does not have is plain text, as in JavaScript.
fn parts<'t>(with: &'t str, names: &[Option<String>]) -> Vec<Part<'t>> {
    let mut parts = Vec::new();
    let mut rest = with;
    while let Some(dollar) = rest.find('$') {
        let (before, reference) = rest.split_at(dollar);
        let (part, len) = reference_part(reference, names).unwrap_or((Part::Text(&reference[..1]), 1));
        parts.extend([Part::Text(before), part]);
        rest = &reference[len..];
    }
    parts.push(Part::Text(rest));
    parts.retain(|part| !matches!(part, Part::Text("")));
    parts
}

/// Returns the reference at the start of a text, and its length.
fn reference_part<'t>(text: &'t str, names: &[Option<String>]) -> Option<(Part<'t>, usize)> {
    let bytes = text.as_bytes();
    match bytes.get(1)? {
        b'$' => Some((Part::Text(&text[..1]), 2)),
        b'&' => Some((Part::Match, 2)),
        b'`' => Some((Part::Before, 2)),
        b'\'' => Some((Part::After, 2)),
        b'<' if names.iter().any(Option::is_some) => {
            let len = text.find('>')?;
            let groups = (1..).zip(names).filter(|(_, name)| name.as_deref() == Some(&text[2..len]));
            Some((Part::Groups(groups.map(|(group, _)| group).collect()), len + 1))
        }
        first @ b'0'..=b'9' => {
            let first = usize::from(first - b'0');
            // Two digits are a group if there are so many.
            let second = bytes.get(2).filter(|byte| byte.is_ascii_digit()).map(|byte| usize::from(byte - b'0'));
            let is_group = |group: &usize| (1..=names.len()).contains(group);
            let two = second.map(|second| 10 * first + second).filter(is_group).map(|group| (group, 3));
            let (group, len) = two.or_else(|| Some(first).filter(is_group).map(|group| (group, 2)))?;
            Some((Part::Groups(vec![group]), len))
        }
        _ => None,
    }
}
