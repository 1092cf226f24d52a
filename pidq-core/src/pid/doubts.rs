//! Errors of a drawing that are counted and not listed: for a door that lets drawings in, whatever they are, at a cost
//! that is linear.

use hashbrown::HashSet;

use super::Pay;
use super::checks::{WITHOUT_END, contain_each_other, containment_circles, own_id, without_node, written_ends};
use crate::error::Result;
use crate::graph::index::Key;
use crate::graph::plant::Plant;

/// An error that was found, how often, and the first case.
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

/// Edges of the same id, without a node, without an end; and nodes that contain each other.
pub(crate) fn doubts(plant: &Plant<'_>, pay: Pay<'_>) -> Result<Vec<Doubt>> {
    let [dangling, lacking] = ends(plant, pay)?;
    let all = [repeated_ids(plant, pay)?, dangling, lacking, circles(plant, pay)?];
    Ok(all.into_iter().filter_map(Cases::doubt).collect())
}

fn repeated_ids(plant: &Plant<'_>, pay: Pay<'_>) -> Result<Cases> {
    pay(plant.topology.edge_count() as u64)?;
    let mut cases = Cases::of("G012");
    let mut seen: HashSet<Key<'_>> = HashSet::new();
    for edge in 0..plant.topology.edge_count() as u32 {
        if own_id(plant, edge).is_some_and(|id| !seen.insert(id)) {
            let words = || format!("another edge has the id {:?}", plant.edge_id(edge));
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
