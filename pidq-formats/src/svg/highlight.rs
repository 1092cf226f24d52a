//! Highlights: ids in the result of a query, the three parts of an isolation, and the changes since an older revision.

use std::collections::BTreeSet;

use pidq_core::{Array, Object, Value};

use crate::model::text;

use super::ids_in_document;

/// Parts of an isolation, by the ids of their nodes and edges.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Isolation {
    /// Barriers: what must be closed.
    pub close: BTreeSet<String>,
    /// The items that they isolate.
    pub inside: BTreeSet<String>,
    /// Open or uncertain items: branches without a barrier, relief devices, valves that close only with their
    /// actuator, gaps of the drawing, and barriers that rest on something that the drawing does not state.
    pub open: BTreeSet<String>,
    /// Verdict of the isolation, as in the result: `yes`, `no` or `unknown`.
    pub isolated: Option<String>,
}

/// Changes since an older revision, by the ids of their nodes and edges.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Changes {
    /// Items that the older revision lacks.
    pub added: BTreeSet<String>,
    /// Items that only the older revision has.
    pub removed: BTreeSet<String>,
    /// Items of both with other fields, another place or other neighbors.
    pub changed: BTreeSet<String>,
}

/// Part of a highlight.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Part {
    /// Selected by a query.
    Selected,
    Close,
    Inside,
    Open,
    Added,
    Removed,
    Changed,
}

/// Members of the result of `diff`, with the change of their rows.
const CHANGES: &[(&str, Part)] = &[
    ("added", Part::Added),
    ("edges_added", Part::Added),
    ("removed", Part::Removed),
    ("edges_removed", Part::Removed),
    ("changed", Part::Changed),
    ("edges_changed", Part::Changed),
    ("moved", Part::Changed),
    ("renamed", Part::Changed),
    ("retagged", Part::Changed),
    ("rewired", Part::Changed),
];

/// Members of an isolation whose rows stay open or are uncertain.
const OPEN: &[&str] = &["unresolved", "conditional", "relief", "kept_open", "data_gaps", "uncertain"];
/// Members of a row that hold the items that the row is about.
const ITEMS: &[&str] = &["node", "at", "edge"];

impl Isolation {
    /// Returns the parts of the result of `isolate`; `None` for any other value.
    pub fn in_document(document: Value<'_>, value: Value<'_>) -> Option<Isolation> {
        let result = value.as_object()?;
        let list = |key: &str| result.get(key).and_then(Value::as_array);
        let (barriers, inside) = (list("barriers")?, list("inside")?);
        let ids = |list: Array<'_>| list.iter().flat_map(|row| item_ids(document, row)).collect::<BTreeSet<String>>();
        let open = OPEN.iter().filter_map(|key| list(key)).flat_map(&ids).collect();
        let isolated = result.get("isolated").and_then(Value::as_str).map(String::from);
        let mut isolation = Isolation { close: ids(barriers), inside: ids(inside), open, isolated };
        let is_uncertain =
            |row: &Value<'_>| row.as_object().is_some_and(|row| matches!(row.get("certain"), Some(Value::Bool(false))));
        isolation.open.extend(barriers.iter().filter(is_uncertain).flat_map(|row| item_ids(document, row)));
        if let Some(target) = result.get("target") {
            isolation.inside.extend(ids_in_document(document, target));
        }
        // The ways to the barriers are inside; the barriers themselves are not.
        for barrier in barriers.iter().filter_map(Value::as_object) {
            let path = barrier.get("path").map(|path| ids_in_document(document, path)).unwrap_or_default();
            isolation.inside.extend(path.into_iter().filter(|id| !isolation.close.contains(id)));
        }
        Some(isolation)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.close.is_empty() && self.inside.is_empty() && self.open.is_empty()
    }

    /// Returns the part of an item. What may be open is never shown as closed or isolated.
    pub(super) fn part(&self, id: &str) -> Option<Part> {
        let parts = [(Part::Open, &self.open), (Part::Close, &self.close), (Part::Inside, &self.inside)];
        parts.into_iter().find(|(_, ids)| ids.contains(id)).map(|(part, _)| part)
    }

    /// Returns the text for what is inside, with whether it is isolated.
    fn inside_text(&self) -> &'static str {
        match self.isolated.as_deref() {
            Some("yes") => "inside: isolated",
            Some("no") => "inside: not isolated",
            Some("unknown") => "inside: isolation uncertain",
            _ => "inside",
        }
    }

    /// Returns the rows of the legend: part, text.
    pub(super) fn legend(&self) -> Vec<(Part, String)> {
        let open: BTreeSet<&String> = self.open.iter().collect();
        let rest = |ids: &BTreeSet<String>| ids.iter().filter(|id| !open.contains(id)).count();
        vec![
            (Part::Close, format!("close: {}", rest(&self.close))),
            (Part::Inside, self.inside_text().to_owned()),
            (Part::Open, format!("stays open or uncertain: {}", open.len())),
        ]
    }
}

impl Changes {
    /// Returns the changes in the result of `diff` or `rankDiff`; `None` for any other value.
    pub fn in_document(document: Value<'_>, value: Value<'_>) -> Option<Changes> {
        let mut changes = Changes::default();
        match value {
            Value::Object(result) => {
                for (key, part) in CHANGES {
                    for row in result.get(key).and_then(Value::as_array)?.iter() {
                        changes.add(*part, document, row);
                    }
                }
            }
            Value::Array(rows) => {
                for row in rows.iter() {
                    let fields = row.as_object().filter(|fields| fields.get("significance").is_some())?;
                    let change = fields.get("change").and_then(Value::as_str)?;
                    let part = match change {
                        _ if change.ends_with("added") => Part::Added,
                        _ if change.ends_with("removed") => Part::Removed,
                        _ => Part::Changed,
                    };
                    changes.add(part, document, row);
                }
            }
            _ => return None,
        }
        Some(changes)
    }

    /// Adds the item of a row: its id, or the new id of a renamed item.
    fn add(&mut self, part: Part, document: Value<'_>, row: Value<'_>) {
        let mut ids = ids_in_document(document, row);
        if ids.is_empty() {
            ids.extend(row.as_object().and_then(|row| row.get("after")).filter(|id| !id.is_null()).map(text));
        }
        match part {
            Part::Added => self.added.extend(ids),
            Part::Removed => self.removed.extend(ids),
            _ => self.changed.extend(ids),
        }
    }

    /// Returns the change of an item of the newer revision.
    pub(super) fn part(&self, id: &str) -> Option<Part> {
        let parts = [(Part::Added, &self.added), (Part::Changed, &self.changed)];
        parts.into_iter().find(|(_, ids)| ids.contains(id)).map(|(part, _)| part)
    }

    /// Returns the rows of the legend: those of the changes that there are.
    pub(super) fn legend(&self) -> Vec<(Part, String)> {
        let rows = [
            (Part::Added, &self.added, "added"),
            (Part::Removed, &self.removed, "removed"),
            (Part::Changed, &self.changed, "changed"),
        ];
        rows.into_iter().filter(|(_, ids, _)| !ids.is_empty()).map(|(part, _, text)| (part, text.to_owned())).collect()
    }
}

impl Part {
    /// Returns the color of the part.
    pub fn color(self) -> &'static str {
        match self {
            Part::Selected | Part::Inside => "#ff9f1c",
            Part::Close => "#1f6feb",
            Part::Open | Part::Removed => "#d1242f",
            Part::Added => "#1a7f37",
            Part::Changed => "#b98900",
        }
    }

    /// Returns the CSS classes of a marked item and of a marked line.
    pub fn classes(self) -> [&'static str; 2] {
        match self {
            Part::Selected => ["hit", "hot"],
            Part::Close => ["hit close", "hot close"],
            Part::Inside => ["hit inside", "hot inside"],
            Part::Open => ["hit open", "hot open"],
            Part::Added => ["hit added", "hot added"],
            Part::Removed => ["hit removed", "hot removed"],
            Part::Changed => ["hit changed", "hot changed"],
        }
    }
}

/// Returns the ids of the items that a row is about: the items that it names, or else the row itself.
fn item_ids(document: Value<'_>, row: Value<'_>) -> BTreeSet<String> {
    let members = |row: Object<'_>| {
        let items = ITEMS.iter().filter_map(|key| row.get(key)).filter(|item| !item.is_null());
        items.flat_map(|item| ids_in_document(document, item)).collect::<BTreeSet<String>>()
    };
    let named = row.as_object().map(members).unwrap_or_default();
    if named.is_empty() { ids_in_document(document, row) } else { named }
}
