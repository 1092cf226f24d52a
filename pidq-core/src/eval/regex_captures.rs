//! Result objects of `match` and `matchAll`, and `match` on the strings of a column.

use std::ops::Range;

use hashbrown::HashSet;

use super::EvalContext;
use super::column_view::ColumnView;
use crate::error::Result;
use crate::graph::column::Strings;
use crate::regex::{BacktrackBudget, Bounds, Captures, MAX_TEXT_LEN, NO_BOUNDS, OnePass, Regex};
use crate::value::{Array, Items, Keys, Record, Value};

/// Layout of the objects that describe the matches of a pattern.
pub(crate) struct MatchFormat<'a, 'r> {
    keys: &'a Keys<'a>,
    groups: &'r [Option<String>],
    /// The names of the groups, if the pattern has any.
    names: Option<&'a Keys<'a>>,
}

/// The keys of an object that describes a match: for a pattern without groups, with groups, and with named groups.
const KEYS: [Keys<'static>; 3] = [
    Keys { names: &["value"], index: None },
    Keys { names: &["value", "groups"], index: None },
    Keys { names: &["value", "groups", "namedGroups"], index: None },
];

impl EvalContext<'_> {
    /// Charges for a search: for the string before it, for the backtracking after it, also if it fails.
    pub(crate) fn search_in<T>(
        &mut self,
        regex: &Regex,
        text: &str,
        search: impl FnOnce(&mut BacktrackBudget) -> Result<T>,
    ) -> Result<T> {
        self.charge(regex.search_cost(text.len()))?;
        let fuel_left = self.limits.fuel.saturating_sub(self.fuel_used());
        let mut budget = BacktrackBudget::new(self.limits.backtracks).with_fuel(fuel_left);
        let found = search(&mut budget);
        self.charge(budget.fuel())?;
        found
    }
}

impl<'a, 'r> MatchFormat<'a, 'r> {
    pub fn new(cx: &mut EvalContext<'a>, regex: &'r Regex) -> Result<MatchFormat<'a, 'r>> {
        let groups = regex.group_names();
        cx.charge(groups.len() as u64)?;
        let names = if groups.iter().any(Option::is_some) { Some(named_keys(cx, groups)?) } else { None };
        let keys = match (groups, names) {
            ([], _) => const { &KEYS[0] },
            (_, None) => const { &KEYS[1] },
            (_, Some(_)) => const { &KEYS[2] },
        };
        Ok(MatchFormat { keys, groups, names })
    }

    /// Returns the object that describes a match.
    pub fn object(&self, cx: &mut EvalContext<'a>, text: &'a str, captures: &Captures) -> Result<Value<'a>> {
        let values = self.values(cx, text, captures)?;
        cx.object_from_values(self.keys, &values[..self.width()])
    }

    /// Collects the values that describe a match.
    pub fn push(&self, cx: &mut EvalContext<'a>, text: &'a str, captures: &Captures) -> Result<()> {
        let values = self.values(cx, text, captures)?;
        values[..self.width()].iter().try_for_each(|value| cx.push(*value))
    }

    /// Returns the objects of the matches collected since a mark.
    pub fn list(&self, cx: &mut EvalContext<'a>, base: usize) -> Result<Value<'a>> {
        cx.collect_objects(self.keys, base)
    }

    fn width(&self) -> usize {
        self.keys.names.len()
    }

    /// Returns the values of the object that describes a match, one per key.
    fn values(&self, cx: &mut EvalContext<'a>, text: &'a str, captures: &Captures) -> Result<[Value<'a>; KEYS.len()]> {
        cx.charge(self.groups.len() as u64)?;
        let mut values = [group(text, captures, 0), Value::Undefined, Value::Undefined];
        if !self.groups.is_empty() {
            values[1] = cx.list_from_fn(self.groups.len(), |at| group(text, captures, at + 1))?;
        }
        if let Some(names) = self.names {
            values[2] = self.named(cx, names, text, captures)?;
        }
        Ok(values)
    }

    /// A name may occur twice, in alternatives that exclude each other: the one that matched wins.
    fn named(
        &self,
        cx: &mut EvalContext<'a>,
        names: &'a Keys<'a>,
        text: &'a str,
        captures: &Captures,
    ) -> Result<Value<'a>> {
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
        cx.collect_object(names, base)
    }
}

/// The names are copied, unless the previous match had the same ones: the pattern may be dropped before the result.
fn named_keys<'a>(cx: &mut EvalContext<'a>, groups: &[Option<String>]) -> Result<&'a Keys<'a>> {
    let mut seen = HashSet::new();
    let names: Vec<&str> = groups.iter().flatten().map(String::as_str).filter(|name| seen.insert(*name)).collect();
    cx.intern_copied_keys(&names)
}

/// Returns the substring of a group; undefined if the group did not match.
#[inline]
fn group<'a>(text: &'a str, captures: &Captures, at: usize) -> Value<'a> {
    captures.get(at).and_then(|range| text.get(range)).map_or(Value::Undefined, Value::String)
}

/// `match` or `matchAll` on the strings of a column, for a pattern without alternatives and names.
pub(super) struct ColumnMatches<'a> {
    mode: MatchMode,
    texts: &'a Strings,
    regex: &'a Regex,
    one_pass: &'a OnePass,
    keys: &'a Keys<'a>,
}

#[derive(Clone, Copy)]
pub(super) enum MatchMode {
    First,
    All,
}

/// Number of strings that `match` searches before it writes the objects of the matches.
const MATCH_BLOCK_SIZE: usize = 64;

/// A match in a block of strings: the position in the block, the string, and the bounds.
#[derive(Clone, Copy)]
struct FoundMatch<'a> {
    at: u8,
    text: &'a str,
    bounds: Bounds,
}

/// All strings of a column are short enough.
const _: () = assert!(Strings::MAX_LENGTH <= MAX_TEXT_LEN);

impl<'a> ColumnMatches<'a> {
    /// Returns `None` if another engine may be needed, or the result has more than values and groups.
    pub fn new(mode: MatchMode, texts: &'a Strings, regex: &'a Regex) -> Option<ColumnMatches<'a>> {
        let has_names = regex.group_names().iter().any(Option::is_some);
        let one_pass = regex.as_one_pass().filter(|_| texts.is_ascii() && !has_names)?;
        let keys = if one_pass.group_count() == 0 { const { &KEYS[0] } } else { const { &KEYS[1] } };
        Some(ColumnMatches { mode, texts, regex, one_pass, keys })
    }

    /// Fuel of a match without the search; the layout of the objects costs the same once more.
    fn format_cost(&self) -> u64 {
        self.one_pass.group_count() as u64
    }

    fn matched_text(&self, text: &'a str, bounds: &Bounds) -> Value<'a> {
        text.get(self.one_pass.match_range(bounds)).map_or(Value::Undefined, Value::String)
    }

    fn write_groups(&self, text: &'a str, bounds: &Bounds, buffer: &mut [Value<'a>]) {
        for (group, range) in buffer.iter_mut().zip(self.one_pass.groups(bounds)) {
            let range = usize::from(range.start)..usize::from(range.end);
            *group = text.get(range).map_or(Value::Undefined, Value::String);
        }
    }
}

impl<'a> EvalContext<'a> {
    /// Returns the result of a call for the string of each row, and the total number of matches in its lists.
    pub(super) fn map_matches(
        &mut self,
        view: ColumnView<'a>,
        matches: &ColumnMatches<'a>,
    ) -> Result<(Value<'a>, u64)> {
        if let MatchMode::First = matches.mode {
            return Ok((self.first_matches(view, matches)?, 0));
        }
        let mut total_matches = 0;
        let results = self.try_list_from_fn(view.len(), |cx, at| {
            let result = cx.all_matches(matches, matches.texts.get(view.row(at)))?;
            if let Value::Array(list) = result {
                total_matches += list.len() as u64;
            }
            Ok(result)
        })?;
        Ok((results, total_matches))
    }

    /// Returns the object of the first match in the string of each row, or null.
    fn first_matches(&mut self, view: ColumnView<'a>, matches: &ColumnMatches<'a>) -> Result<Value<'a>> {
        let results = self.scratch.alloc_slice_filled(view.len(), Value::Null);
        let results = results.ok_or_else(|| self.out_of_memory())?;
        for (block, first) in results.chunks_mut(MATCH_BLOCK_SIZE).zip((0..).step_by(MATCH_BLOCK_SIZE)) {
            let mut found = [FoundMatch { at: 0, text: "", bounds: NO_BOUNDS }; MATCH_BLOCK_SIZE];
            let count = self.search_block(view, matches, first..first + block.len(), &mut found)?;
            self.write_matches(matches, block, &found[..count])?;
        }
        self.list_from_slice(results)
    }

    /// Searches in the strings at some positions, and returns how many have a match.
    fn search_block(
        &mut self,
        view: ColumnView<'a>,
        matches: &ColumnMatches<'a>,
        positions: Range<usize>,
        found: &mut [FoundMatch<'a>; MATCH_BLOCK_SIZE],
    ) -> Result<usize> {
        let (mut count, mut cost) = (0, 0);
        for (at, position) in positions.enumerate() {
            let text = matches.texts.get(view.row(position));
            cost += matches.regex.search_cost(text.len());
            let entry = &mut found[count];
            (entry.at, entry.text) = (at as u8, text);
            count += usize::from(matches.one_pass.find(text.as_bytes(), 0, &mut entry.bounds));
        }
        self.charge(cost + 2 * matches.format_cost() * count as u64)?;
        Ok(count)
    }

    /// Writes the objects of a block of matches.
    ///
    /// Hot: the values and the groups of all objects are one allocation, since three per object would cost as much as
    /// the search in a tag.
    fn write_matches(
        &mut self,
        matches: &ColumnMatches<'a>,
        block: &mut [Value<'a>],
        found: &[FoundMatch<'a>],
    ) -> Result<()> {
        let (width, group_count) = (matches.keys.names.len(), matches.one_pass.group_count());
        let buffer = self.scratch.alloc_slice_filled(found.len() * (width + group_count), Value::Undefined);
        let (values, mut rest) = buffer.ok_or_else(|| self.out_of_memory())?.split_at_mut(found.len() * width);
        for (entry, values) in found.iter().zip(values.chunks_exact_mut(width)) {
            values[0] = matches.matched_text(entry.text, &entry.bounds);
            if let Some(list) = values.get_mut(1) {
                let (groups, others) = rest.split_at_mut(group_count);
                matches.write_groups(entry.text, &entry.bounds, groups);
                *list = Value::Array(Array(Items::Built(groups)));
                rest = others;
            }
        }
        let record = self.scratch.alloc(Record { keys: matches.keys, values }).ok_or_else(|| self.out_of_memory())?;
        for (entry, number) in found.iter().zip(0..) {
            block[usize::from(entry.at)] = record.row(number);
        }
        Ok(())
    }

    /// Returns the objects of all matches.
    #[inline]
    fn all_matches(&mut self, matches: &ColumnMatches<'a>, text: &'a str) -> Result<Value<'a>> {
        let (one_pass, cost, mut bounds) = (matches.one_pass, matches.regex.search_cost(text.len()), NO_BOUNDS);
        let base = self.mark();
        self.charge(matches.format_cost() + cost)?;
        let mut start = 0;
        while one_pass.find(text.as_bytes(), start, &mut bounds) {
            self.charge(matches.format_cost() + cost)?;
            self.push(matches.matched_text(text, &bounds))?;
            if one_pass.group_count() > 0 {
                let groups = self.scratch.alloc_slice_filled(one_pass.group_count(), Value::Undefined);
                let groups = groups.ok_or_else(|| self.out_of_memory())?;
                matches.write_groups(text, &bounds, groups);
                self.push(Value::Array(Array(Items::Built(groups))))?;
            }
            let found = one_pass.match_range(&bounds);
            // After an empty match, the search continues one character later.
            start = found.end + usize::from(found.is_empty());
        }
        self.collect_objects(matches.keys, base)
    }
}
