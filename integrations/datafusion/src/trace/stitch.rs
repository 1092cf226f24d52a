//! Join of the off-page connectors of all drawings, and the connectors that the flow reaches.

use std::collections::{BTreeMap, BTreeSet};

use datafusion::common::{Result, exec_datafusion_err, exec_err};
use hashbrown::HashMap;
use pidq_core::{Graph, JoinBy, Limits, Query, Scratch, Value, join_sheets};

use super::{json, list, load};

/// Boundary of a drawing: its connectors, and the paths between them. Ids are JSON.
#[derive(Debug)]
pub(super) struct Boundary {
    drawing: String,
    /// The connectors with their neighbors, as a sheet.
    sheet: Graph,
    connectors: Vec<Connector>,
    /// For each connector, those that the flow from it reaches.
    paths: Vec<(String, Vec<String>)>,
}

/// Directions of connectors through which the flow only enters a drawing, or only leaves it.
const DIRECTIONS: &[&str] = &["in", "out"];

#[derive(Debug)]
struct Connector {
    id: String,
    has_direction: bool,
}

impl Boundary {
    pub(super) fn parse(drawing: &str, sheet: &str, connectors: &str, paths: &str) -> Result<Boundary> {
        let (connectors, paths) = (load(connectors)?, load(paths)?);
        let connector = |row: Value<'_>| {
            let row = row.as_array()?;
            let has_direction = DIRECTIONS.contains(&row.get(1)?.as_str()?);
            Some(Connector { id: json(row.get(0)?), has_direction })
        };
        let path = |row: Value<'_>| {
            let row = row.as_array()?;
            Some((json(row.get(0)?), list(row.get(1))))
        };
        let malformed = || exec_datafusion_err!("the boundary of drawing `{drawing}` is malformed");
        Ok(Boundary {
            drawing: drawing.into(),
            sheet: load(sheet)?,
            connectors: read(&connectors, connector).ok_or_else(malformed)?,
            paths: read(&paths, path).ok_or_else(malformed)?,
        })
    }
}

fn read<T>(rows: &Graph, row: impl Fn(Value<'_>) -> Option<T>) -> Option<Vec<T>> {
    rows.root().as_array()?.iter().map(row).collect()
}

/// The connectors of all drawings, numbered, and where the flow goes from each.
pub(super) struct Connectors<'b> {
    /// Drawing and id.
    names: Vec<(&'b str, &'b str)>,
    by_name: HashMap<(&'b str, &'b str), usize>,
    /// On the same drawing.
    paths: Vec<Vec<usize>>,
    /// On other drawings.
    partners: Vec<Vec<usize>>,
    /// True if the connector is joined to another, in any direction.
    is_joined: Vec<bool>,
}

/// The connectors that the flow reaches.
#[derive(Default)]
pub(super) struct Reached {
    /// By drawing, those through which it enters.
    pub(super) entries: BTreeMap<String, BTreeSet<String>>,
    /// Those without a partner.
    pub(super) open_ends: BTreeSet<(String, String)>,
}

impl<'b> Connectors<'b> {
    pub(super) fn stitch(boundaries: &'b [Boundary], limits: &Limits<'_>) -> Result<Connectors<'b>> {
        let mut names: Vec<(&str, &str)> = Vec::new();
        let mut has_direction = Vec::new();
        for boundary in boundaries {
            for connector in &boundary.connectors {
                names.push((&boundary.drawing, &connector.id));
                has_direction.push(connector.has_direction);
            }
        }
        let by_name: HashMap<_, _> = names.iter().enumerate().map(|(at, name)| (*name, at)).collect();
        let mut paths = vec![Vec::new(); names.len()];
        for boundary in boundaries {
            for (from, to) in &boundary.paths {
                let number = |id: &'b String| by_name.get(&(boundary.drawing.as_str(), id.as_str())).copied();
                if let Some(from) = number(from) {
                    paths[from].extend(to.iter().filter_map(number));
                }
            }
        }
        let (mut partners, mut is_joined) = (vec![Vec::new(); names.len()], vec![false; names.len()]);
        for [from, to] in pairs(boundaries, names.len(), limits)? {
            partners[from].push(to);
            if !has_direction[from] && !has_direction[to] {
                partners[to].push(from);
            }
            for at in [from, to] {
                is_joined[at] = true;
            }
        }
        Ok(Connectors { names, by_name, paths, partners, is_joined })
    }

    /// Returns the connectors that the flow reaches from connectors of a drawing.
    pub(super) fn reached(&self, drawing: &str, exits: &[String]) -> Reached {
        let mut reached = Reached::default();
        let mut is_seen = vec![false; self.names.len()];
        let mut pending: Vec<usize> =
            exits.iter().filter_map(|id| self.by_name.get(&(drawing, id.as_str())).copied()).collect();
        while let Some(exit) = pending.pop() {
            if std::mem::replace(&mut is_seen[exit], true) {
                continue;
            }
            if !self.is_joined[exit] {
                reached.open_ends.insert(self.owned_name(exit));
            }
            for entry in &self.partners[exit] {
                let (drawing, id) = self.owned_name(*entry);
                reached.entries.entry(drawing).or_default().insert(id);
                pending.extend(&self.paths[*entry]);
            }
        }
        reached
    }

    fn owned_name(&self, at: usize) -> (String, String) {
        let (drawing, id) = self.names[at];
        (drawing.to_owned(), id.to_owned())
    }
}

/// Ids of the connectors of the joined sheets, in the order of the sheets, and the pairs.
const JOINED: &str = "[offPageList() | map(.id), .pid_graph.metadata.joined.pairs | map([.from, .to])]";

/// Returns the numbers of the connectors that are joined, the source of the flow first.
fn pairs(boundaries: &[Boundary], count: usize, limits: &Limits<'_>) -> Result<Vec<[usize; 2]>> {
    let failed = |error: pidq_core::Error| exec_datafusion_err!("joining the connectors of all drawings: {error}");
    let sheets: Vec<&Graph> =
        boundaries.iter().filter(|boundary| !boundary.connectors.is_empty()).map(|boundary| &boundary.sheet).collect();
    if sheets.is_empty() {
        return Ok(Vec::new());
    }
    let joined = join_sheets(&sheets, JoinBy::Any, *limits).and_then(Graph::from_json).map_err(failed)?;
    let (query, scratch) = (Query::parse(JOINED).map_err(failed)?, Scratch::new());
    let result = query.run(&joined, &scratch, *limits).map_err(failed)?.value;
    let part = |at: usize| list(result.as_array().and_then(|parts| parts.get(at)));
    let ids = part(0);
    if ids.len() != count {
        return exec_err!("the joined drawings have {} connectors, and the drawings {count}", ids.len());
    }
    let numbers: HashMap<&str, usize> = ids.iter().enumerate().map(|(at, id)| (id.as_str(), at)).collect();
    let mut pairs = Vec::new();
    for pair in part(1) {
        let ends = list(Some(load(&pair)?.root()));
        if let [Some(from), Some(to)] = [0, 1].map(|at| ends.get(at).and_then(|id| numbers.get(id.as_str()))) {
            pairs.push([*from, *to]);
        }
    }
    Ok(pairs)
}
