//! Counted data-quality warnings about a drawing, for validation on upload. The cost is linear.

use hashbrown::HashSet;

use super::ChargeFn;
use super::checks::{
    MISSING_END, containment_message, edge_key, find_containment_cycles, missing_nodes_message, quoted, written_ends,
};
use crate::error::{Result, Warning};
use crate::graph::Graph;
use crate::graph::drawing::Drawing;
use crate::graph::index::Key;

/// A data-quality warning with its count and first occurrence.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct GraphWarning {
    /// The code of the rule of `validate`, such as `G020`.
    pub code: &'static str,
    /// The number of occurrences.
    pub count: u64,
    /// Description of the first occurrence.
    pub message: String,
    /// The item of the first occurrence.
    pub item: ItemRef,
}

/// An item of a drawing, by its index in its array.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ItemRef {
    /// A node.
    Node(usize),
    /// An edge.
    Edge(usize),
}

/// Counter of one rule with its first occurrence.
struct RuleCount {
    code: &'static str,
    count: u64,
    first: Option<(String, ItemRef)>,
}

impl RuleCount {
    fn new(code: &'static str) -> RuleCount {
        RuleCount { code, count: 0, first: None }
    }

    /// Counts an occurrence. The message is built for the first one only, since there may be many.
    fn add(&mut self, item: ItemRef, message: impl FnOnce() -> String) {
        self.count += 1;
        self.first.get_or_insert_with(|| (message(), item));
    }

    fn into_warning(self) -> Option<GraphWarning> {
        let (message, item) = self.first?;
        Some(GraphWarning { code: self.code, count: self.count, message, item })
    }
}

impl Graph {
    /// Returns the data-quality warnings about the document, one per rule, with the count and the first occurrence:
    /// duplicate keys (`PQW10`), and the warnings of [`graph_warnings`](crate::graph_warnings): ids that are missing
    /// (`G010`), duplicate (`G011`, `G012`) or numbers among strings (`G013`); edge ends that name no node (`G020`) or
    /// are missing (`G021`); nodes that contain each other (`G030`).
    ///
    /// Scans the entire graph on each call, without limits. `validate()` lists every occurrence.
    ///
    /// ```
    /// use pidq_core::Graph;
    ///
    /// let graph = Graph::from_json(r#"{"nodes": [{"id": 1}, {"id": 1}], "edges": [{"id": "e", "from": 1, "to": 7}]}"#)?;
    /// let warnings: Vec<String> = graph.warnings().iter().map(|warning| format!("{}: {}", warning.code, warning.message)).collect();
    /// assert_eq!(warnings, ["G011: another node has the id 1", "G020: edge \"e\": no node has the id 7"]);
    /// # Ok::<(), pidq_core::Error>(())
    /// ```
    pub fn warnings(&self) -> Vec<Warning> {
        let from_drawing = self.drawing_without_limits().map(|drawing| {
            let found = graph_warnings(&drawing, &mut |_| Ok(())).unwrap_or_default();
            found.into_iter().map(|warning| warning.warning(&drawing)).collect::<Vec<Warning>>()
        });
        self.duplicate_key_warning().into_iter().chain(from_drawing.unwrap_or_default()).collect()
    }
}

impl GraphWarning {
    fn warning(self, drawing: &Drawing<'_>) -> Warning {
        let GraphWarning { code, count, message, item } = self;
        let edge = match item {
            ItemRef::Edge(at) => format!("edge {}: ", quoted(drawing.edge_id(at as u32))),
            ItemRef::Node(_) => String::new(),
        };
        let more = if count > 1 { format!("; {count} occurrences") } else { String::new() };
        Warning::new(code, format!("{edge}{message}{more}"))
    }
}

/// Checks ids of nodes and edges, edges without a node or an end, and nodes that contain each other.
pub(crate) fn graph_warnings(drawing: &Drawing<'_>, charge: ChargeFn<'_>) -> Result<Vec<GraphWarning>> {
    let [missing_ids, duplicate_ids, mixed_ids] = count_node_ids(drawing, charge)?;
    let duplicate_edge_ids = count_duplicate_edge_ids(drawing, charge)?;
    let [dangling, missing_ends] = count_ends(drawing, charge)?;
    let counts = [
        missing_ids,
        duplicate_ids,
        duplicate_edge_ids,
        mixed_ids,
        dangling,
        missing_ends,
        count_containment_cycles(drawing, charge)?,
    ];
    Ok(counts.into_iter().filter_map(RuleCount::into_warning).collect())
}

/// Counts nodes without an id, with a duplicate id, and with a number among string ids.
fn count_node_ids(drawing: &Drawing<'_>, charge: ChargeFn<'_>) -> Result<[RuleCount; 3]> {
    charge(drawing.topology.node_count() as u64)?;
    let [mut missing, mut duplicates, mut numbers] = ["G010", "G011", "G013"].map(RuleCount::new);
    let mut seen: HashSet<Key<'_>> = HashSet::new();
    let mut has_strings = false;
    for (at, _) in drawing.nodes.iter().enumerate().filter(|(_, node)| node.as_object().is_some()) {
        let (item, id) = (ItemRef::Node(at), drawing.id(at as u32));
        let Some(key) = Key::from_value(id) else {
            missing.add(item, || format!("the node at index {at} has no id"));
            continue;
        };
        match key {
            Key::String(_) => has_strings = true,
            Key::Number(_) => numbers.add(item, || format!("the id {id:?} is a number, others are strings")),
        }
        if !seen.insert(key) {
            duplicates.add(item, || format!("another node has the id {}", quoted(id)));
        }
    }
    Ok([missing, duplicates, if has_strings { numbers } else { RuleCount::new("G013") }])
}

fn count_duplicate_edge_ids(drawing: &Drawing<'_>, charge: ChargeFn<'_>) -> Result<RuleCount> {
    charge(drawing.topology.edge_count() as u64)?;
    let mut count = RuleCount::new("G012");
    let mut seen: HashSet<Key<'_>> = HashSet::new();
    for edge in 0..drawing.topology.edge_count() as u32 {
        if edge_key(drawing, edge).is_some_and(|id| !seen.insert(id)) {
            let message = || format!("another edge has the id {}", quoted(drawing.edge_id(edge)));
            count.add(ItemRef::Edge(edge as usize), message);
        }
    }
    Ok(count)
}

/// Counts edges with an end that names no node, and edges without an end.
fn count_ends(drawing: &Drawing<'_>, charge: ChargeFn<'_>) -> Result<[RuleCount; 2]> {
    charge(drawing.topology.edge_count() as u64)?;
    let [mut dangling, mut missing] = ["G020", "G021"].map(RuleCount::new);
    for edge in drawing.topology.dangling.iter().copied().filter(|edge| drawing.edge(*edge).as_object().is_some()) {
        let item = ItemRef::Edge(edge as usize);
        match written_ends(drawing, edge) {
            Some(written) => dangling.add(item, || missing_nodes_message(drawing, edge, written)),
            None => missing.add(item, || MISSING_END.into()),
        }
    }
    Ok([dangling, missing])
}

fn count_containment_cycles(drawing: &Drawing<'_>, charge: ChargeFn<'_>) -> Result<RuleCount> {
    let mut count = RuleCount::new("G030");
    for nodes in find_containment_cycles(drawing, charge)? {
        count.add(ItemRef::Node(nodes[0] as usize), || containment_message(drawing, &nodes));
    }
    Ok(count)
}
