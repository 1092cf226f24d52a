//! Doubts about a drawing that are counted and not listed: for doors that let drawings in, whatever they are, at a cost
//! that is linear.

use hashbrown::HashSet;

use super::Pay;
use super::checks::{WITHOUT_END, contain_each_other, containment_circles, own_id, shown, without_node, written_ends};
use crate::error::{Result, Warning};
use crate::graph::Graph;
use crate::graph::index::Key;
use crate::graph::plant::Plant;

/// Something doubtful that was found, how often, and the first case.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Doubt {
    /// The code of the rule of `validate`, such as `G020`.
    pub code: &'static str,
    /// How often.
    pub count: u64,
    /// The first case, in words.
    pub message: String,
    /// Where the first case is.
    pub place: Spot,
}

/// An item of a drawing, by its place in its list.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Spot {
    /// A node.
    Node(usize),
    /// An edge.
    Edge(usize),
}

/// Cases of one rule.
struct Cases {
    code: &'static str,
    count: u64,
    first: Option<(String, Spot)>,
}

impl Cases {
    fn of(code: &'static str) -> Cases {
        Cases { code, count: 0, first: None }
    }

    /// One more. The words of the first one only: they may be many.
    fn add(&mut self, spot: Spot, words: impl FnOnce() -> String) {
        self.count += 1;
        self.first.get_or_insert_with(|| (words(), spot));
    }

    fn doubt(self) -> Option<Doubt> {
        let (message, place) = self.first?;
        Some(Doubt { code: self.code, count: self.count, message, place })
    }
}

impl Graph {
    /// What is doubtful about the document, which was let in nevertheless: a line each, with how often and the first case.
    /// Keys that stand twice in their object (`PQW10`), and of its drawing what [`doubts`](crate::doubts) tells: ids that
    /// are missing (`G010`), stand twice (`G011`, `G012`), or are numbers beside texts (`G013`); ends of edges that name
    /// no node (`G020`) or are missing (`G021`); nodes that contain each other (`G030`).
    ///
    /// It looks through the whole graph each time, without limits. `validate()` lists every case.
    ///
    /// ```
    /// use pidq_core::Graph;
    ///
    /// let graph = Graph::from_json(r#"{"nodes": [{"id": 1}, {"id": 1}], "edges": [{"id": "e", "from": 1, "to": 7}]}"#)?;
    /// let told: Vec<String> = graph.warnings().iter().map(|told| format!("{}: {}", told.code, told.message)).collect();
    /// assert_eq!(told, ["G011: another node has the id 1", "G020: edge \"e\": no node has the id 7"]);
    /// # Ok::<(), pidq_core::Error>(())
    /// ```
    pub fn warnings(&self) -> Vec<Warning> {
        let of_drawing = self.whole_plant().map(|plant| {
            let found = doubts(&plant, &mut |_| Ok(())).unwrap_or_default();
            found.into_iter().map(|doubt| doubt.warning(&plant)).collect::<Vec<Warning>>()
        });
        self.keys_twice().into_iter().chain(of_drawing.unwrap_or_default()).collect()
    }
}

impl Doubt {
    fn warning(self, plant: &Plant<'_>) -> Warning {
        let Doubt { code, count, message, place } = self;
        let edge = match place {
            Spot::Edge(at) => format!("edge {}: ", shown(plant.edge_id(at as u32))),
            Spot::Node(_) => String::new(),
        };
        let more = if count > 1 { format!("; {count} such cases") } else { String::new() };
        Warning::new(code, format!("{edge}{message}{more}"))
    }
}

/// Ids of nodes and edges, edges without a node or without an end, and nodes that contain each other.
pub(crate) fn doubts(plant: &Plant<'_>, pay: Pay<'_>) -> Result<Vec<Doubt>> {
    let [lacking, repeated, mixed] = ids(plant, pay)?;
    let of_edges = repeated_ids(plant, pay)?;
    let [dangling, open] = ends(plant, pay)?;
    let all = [lacking, repeated, of_edges, mixed, dangling, open, circles(plant, pay)?];
    Ok(all.into_iter().filter_map(Cases::doubt).collect())
}

/// Nodes without an id, with the id of another node, and with a number where others have texts.
fn ids(plant: &Plant<'_>, pay: Pay<'_>) -> Result<[Cases; 3]> {
    pay(plant.topology.node_count() as u64)?;
    let [mut lacking, mut repeated, mut numbers] = ["G010", "G011", "G013"].map(Cases::of);
    let mut seen: HashSet<Key<'_>> = HashSet::new();
    let mut has_texts = false;
    for (at, _) in plant.nodes.iter().enumerate().filter(|(_, node)| node.as_object().is_some()) {
        let (spot, id) = (Spot::Node(at), plant.id(at as u32));
        let Some(key) = Key::of(id) else {
            lacking.add(spot, || format!("the node in place {at} has no id"));
            continue;
        };
        match key {
            Key::Text(_) => has_texts = true,
            Key::Number(_) => numbers.add(spot, || format!("the id {id:?} is a number, others are texts")),
        }
        if !seen.insert(key) {
            repeated.add(spot, || format!("another node has the id {}", shown(id)));
        }
    }
    Ok([lacking, repeated, if has_texts { numbers } else { Cases::of("G013") }])
}

fn repeated_ids(plant: &Plant<'_>, pay: Pay<'_>) -> Result<Cases> {
    pay(plant.topology.edge_count() as u64)?;
    let mut cases = Cases::of("G012");
    let mut seen: HashSet<Key<'_>> = HashSet::new();
    for edge in 0..plant.topology.edge_count() as u32 {
        if own_id(plant, edge).is_some_and(|id| !seen.insert(id)) {
            let words = || format!("another edge has the id {}", shown(plant.edge_id(edge)));
            cases.add(Spot::Edge(edge as usize), words);
        }
    }
    Ok(cases)
}

/// Edges whose ends name no nodes, and those that lack an end.
fn ends(plant: &Plant<'_>, pay: Pay<'_>) -> Result<[Cases; 2]> {
    pay(plant.topology.edge_count() as u64)?;
    let [mut dangling, mut lacking] = ["G020", "G021"].map(Cases::of);
    for edge in plant.topology.dangling.iter().copied().filter(|edge| plant.edge(*edge).as_object().is_some()) {
        let spot = Spot::Edge(edge as usize);
        match written_ends(plant, edge) {
            Some(written) => dangling.add(spot, || without_node(plant, edge, written)),
            None => lacking.add(spot, || WITHOUT_END.into()),
        }
    }
    Ok([dangling, lacking])
}

fn circles(plant: &Plant<'_>, pay: Pay<'_>) -> Result<Cases> {
    let mut cases = Cases::of("G030");
    for nodes in containment_circles(plant, pay)? {
        cases.add(Spot::Node(nodes[0] as usize), || contain_each_other(plant, &nodes));
    }
    Ok(cases)
}
