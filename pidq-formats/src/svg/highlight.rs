//! Highlights: ids in the result of a query, and the three parts of an isolation.

use std::collections::BTreeSet;

use pidq_core::{Array, Object, Value};

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

/// Part of a highlight.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Part {
    /// Selected by a query.
    Selected,
    Close,
    Inside,
    Open,
}

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

impl Part {
    /// Returns the color of the part.
    pub fn color(self) -> &'static str {
        match self {
            Part::Selected | Part::Inside => "#ff9f1c",
            Part::Close => "#1f6feb",
            Part::Open => "#d1242f",
        }
    }

    /// Returns the CSS classes of a marked item and of a marked line.
    pub fn classes(self) -> [&'static str; 2] {
        match self {
            Part::Selected => ["hit", "hot"],
            Part::Close => ["hit close", "hot close"],
            Part::Inside => ["hit inside", "hot inside"],
            Part::Open => ["hit open", "hot open"],
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
