//! What `match` and `matchAll` tell of a match; and `match` on the texts of a column, row by row.

use hashbrown::HashSet;

use super::Cx;
use super::view::View;
use crate::error::Result;
use crate::graph::column::Texts;
use crate::regex::{Bounds, Captures, Effort, LONGEST, NO_BOUNDS, Regex, Straight};
use crate::value::{Array, Items, Keys, Record, Value};

/// The form of the objects that tell of the matches of a pattern.
pub(crate) struct Telling<'a> {
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

impl Cx<'_> {
    /// Pays for a search: for the text before it, for what it took behind it. Gives what it cost, too.
    pub(crate) fn search_in<T>(
        &mut self,
        regex: &Regex,
        text: &str,
        search: impl FnOnce(&mut Effort) -> Result<T>,
    ) -> Result<(T, u64)> {
        let cost = regex.search_cost(text);
        self.spend(cost)?;
        let mut effort = Effort::new(self.limits.backtracks);
        let found = search(&mut effort)?;
        self.spend(effort.fuel())?;
        Ok((found, cost + effort.fuel()))
    }
}

impl<'a> Telling<'a> {
    pub fn new(cx: &mut Cx<'a>, regex: &'a Regex) -> Result<Telling<'a>> {
        let groups = regex.group_names();
        cx.spend(groups.len() as u64)?;
        let names = if groups.iter().any(Option::is_some) { Some(named_keys(cx, groups)?) } else { None };
        let keys = match (groups, names) {
            ([], _) => const { &KEYS[0] },
            (_, None) => const { &KEYS[1] },
            (_, Some(_)) => const { &KEYS[2] },
        };
        Ok(Telling { keys, groups, names })
    }

    /// The object that tells of a match.
    pub fn object(&self, cx: &mut Cx<'a>, text: &'a str, captures: &Captures) -> Result<Value<'a>> {
        let values = self.values(cx, text, captures)?;
        cx.object_of(self.keys, &values[..self.width()])
    }

    /// Collects what tells of a match.
    pub fn push(&self, cx: &mut Cx<'a>, text: &'a str, captures: &Captures) -> Result<()> {
        let values = self.values(cx, text, captures)?;
        values[..self.width()].iter().try_for_each(|value| cx.push(*value))
    }

    /// The objects of what was collected since a mark.
    pub fn list(&self, cx: &mut Cx<'a>, base: usize) -> Result<Value<'a>> {
        cx.records(self.keys, base)
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

/// `match` or `matchAll` on the texts of a column, with a pattern without choices and without names.
pub(super) struct Matches<'a> {
    wanted: Wanted,
    texts: &'a Texts,
    regex: &'a Regex,
    straight: &'a Straight,
    keys: &'a Keys<'a>,
}

#[derive(Clone, Copy)]
pub(super) enum Wanted {
    First,
    All,
}

/// All texts of a column are short enough.
const _: () = assert!(Texts::LONGEST <= LONGEST);

impl<'a> Matches<'a> {
    /// Nothing where another engine may be needed, or more is to be told than values and groups.
    pub fn new(wanted: Wanted, texts: &'a Texts, regex: &'a Regex) -> Option<Matches<'a>> {
        let has_names = regex.group_names().iter().any(Option::is_some);
        let straight = regex.as_straight().filter(|_| texts.is_ascii() && !has_names)?;
        let keys = if straight.group_count() == 0 { const { &KEYS[0] } } else { const { &KEYS[1] } };
        Some(Matches { wanted, texts, regex, straight, keys })
    }

    /// What a match costs beside the search; and so much once more the form of the objects.
    fn telling_cost(&self) -> u64 {
        self.straight.group_count() as u64
    }

    fn whole(&self, text: &'a str, bounds: &Bounds) -> Value<'a> {
        text.get(self.straight.whole(bounds)).map_or(Value::Undefined, Value::String)
    }

    fn write_groups(&self, text: &'a str, bounds: &Bounds, room: &mut [Value<'a>]) {
        for (group, range) in room.iter_mut().zip(self.straight.groups(bounds)) {
            let range = usize::from(range.start)..usize::from(range.end);
            *group = text.get(range).map_or(Value::Undefined, Value::String);
        }
    }
}

impl<'a> Cx<'a> {
    /// What a call tells of the text of each row, and how many matches all its lists have.
    ///
    /// Hot: for a tag, what comes before and after a search costs more than the search.
    pub(super) fn map_matches(&mut self, view: View<'a>, matches: &Matches<'a>) -> Result<(Value<'a>, u64)> {
        let mut listed = 0;
        let made = self.list_of(view.len(), |cx, at| {
            let text = matches.texts.get(view.row(at));
            let told = match matches.wanted {
                Wanted::First => cx.first_match(matches, text)?,
                Wanted::All => cx.all_matches(matches, text)?,
            };
            if let Value::Array(list) = told {
                listed += list.len() as u64;
            }
            Ok(told)
        })?;
        Ok((made, listed))
    }

    /// The object that tells of the first match: its values and its groups stand side by side.
    #[inline]
    fn first_match(&mut self, matches: &Matches<'a>, text: &'a str) -> Result<Value<'a>> {
        let (keys, mut bounds) = (matches.keys, NO_BOUNDS);
        self.spend(matches.regex.search_cost(text))?;
        if !matches.straight.find(text.as_bytes(), 0, &mut bounds) {
            return Ok(Value::Null);
        }
        self.spend(2 * matches.telling_cost())?;
        let width = keys.names.len();
        let room = self.scratch.slots(width + matches.straight.group_count(), Value::Undefined);
        let (values, groups) = room.ok_or_else(|| self.out_of_memory())?.split_at_mut(width);
        values[0] = matches.whole(text, &bounds);
        if let Some(list) = values.get_mut(1) {
            matches.write_groups(text, &bounds, groups);
            *list = Value::Array(Array(Items::Built(groups)));
        }
        let record = self.scratch.one(Record { keys, values }).ok_or_else(|| self.out_of_memory())?;
        Ok(record.row(0))
    }

    /// The objects that tell of all matches.
    #[inline]
    fn all_matches(&mut self, matches: &Matches<'a>, text: &'a str) -> Result<Value<'a>> {
        let (straight, cost, mut bounds) = (matches.straight, matches.regex.search_cost(text), NO_BOUNDS);
        let base = self.mark();
        self.spend(matches.telling_cost() + cost)?;
        let mut start = 0;
        while straight.find(text.as_bytes(), start, &mut bounds) {
            self.spend(matches.telling_cost() + cost)?;
            self.push(matches.whole(text, &bounds))?;
            if straight.group_count() > 0 {
                let groups = self.scratch.slots(straight.group_count(), Value::Undefined);
                let groups = groups.ok_or_else(|| self.out_of_memory())?;
                matches.write_groups(text, &bounds, groups);
                self.push(Value::Array(Array(Items::Built(groups))))?;
            }
            let found = straight.whole(&bounds);
            // The next match begins a character further if this one is empty.
            start = found.end + usize::from(found.is_empty());
        }
        self.records(matches.keys, base)
    }
}
