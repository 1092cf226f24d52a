//! What of a graph a drawing of boxes and arrows shows: things and what joins them; groups become frames.

use crate::model::{Edge, Model, Purpose};

/// Which nodes are shown, and who owns whom.
pub struct Outline {
    shown: Vec<bool>,
    /// The equipment that a port or part belongs to.
    pub owner: Vec<Option<usize>>,
    /// Whether a node has parts.
    pub owns: Vec<bool>,
}

impl Outline {
    /// Groups are left out, unless there is nothing else.
    pub fn of(model: &Model<'_>) -> Outline {
        let is_all_groups = model.nodes.iter().all(|node| node.is_group());
        let shown = model.nodes.iter().map(|node| is_all_groups || !node.is_group()).collect();
        let mut owner = vec![None; model.nodes.len()];
        let mut owns = vec![false; model.nodes.len()];
        for edge in model.edges.iter().filter(|edge| edge.purpose() == Purpose::Part) {
            if let (Some(from), Some(to)) = (edge.from.node, edge.to.node) {
                owner[to] = Some(from);
                owns[from] = true;
            }
        }
        Outline { shown, owner, owns }
    }

    /// The nodes that are shown, in the order of the document.
    pub fn shown<'o>(&'o self, model: &'o Model<'_>) -> impl Iterator<Item = usize> {
        (0..model.nodes.len()).filter(|index| self.shown[*index])
    }

    /// Whether a node is shown.
    pub fn shows_node(&self, index: usize) -> bool {
        self.shown[index]
    }

    /// Whether an edge is shown: both ends are, and it is more than membership.
    pub fn shows(&self, edge: &Edge<'_>) -> bool {
        let ends = [&edge.from, &edge.to].iter().all(|end| end.node.is_none_or(|node| self.shown[node]));
        ends && edge.purpose() != Purpose::Member
    }
}

/// The frame around a node: its equipment, or its line, or none.
pub fn cluster_of(model: &Model<'_>, outline: &Outline, index: usize) -> String {
    let owner = outline.owner[index].map(|owner| &model.nodes[owner]);
    let owns = outline.owns[index].then(|| &model.nodes[index]);
    if let Some(equipment) = owner.or(owns) {
        return equipment.title();
    }
    model.nodes[index].line().map(|line| model.line_called(line)).unwrap_or_default().to_owned()
}
