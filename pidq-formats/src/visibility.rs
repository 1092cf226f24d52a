//! Visibility of nodes and edges in box-and-arrow diagrams: items and connections are shown, groups become frames.

use crate::model::{Edge, EdgeRole, Model};

/// Visible nodes, and the owners of parts.
pub struct Visibility {
    is_visible: Vec<bool>,
    /// By node: the equipment that a port or part belongs to.
    pub owner: Vec<Option<usize>>,
    /// By node: true if it has parts.
    pub has_parts: Vec<bool>,
}

impl Visibility {
    /// Hides groups, unless the graph has nothing else.
    pub fn new(model: &Model<'_>) -> Visibility {
        let is_all_groups = model.nodes.iter().all(|node| node.is_group());
        let is_visible = model.nodes.iter().map(|node| is_all_groups || !node.is_group()).collect();
        let mut owner = vec![None; model.nodes.len()];
        let mut has_parts = vec![false; model.nodes.len()];
        for edge in model.edges.iter().filter(|edge| edge.role() == EdgeRole::Part) {
            if let (Some(from), Some(to)) = (edge.from.node, edge.to.node) {
                owner[to] = Some(from);
                has_parts[from] = true;
            }
        }
        Visibility { is_visible, owner, has_parts }
    }

    /// Returns the visible nodes, in the order of the document.
    pub fn visible_nodes<'o>(&'o self, model: &'o Model<'_>) -> impl Iterator<Item = usize> {
        (0..model.nodes.len()).filter(|index| self.is_visible[*index])
    }

    /// Returns true if a node is visible.
    pub fn is_node_visible(&self, index: usize) -> bool {
        self.is_visible[index]
    }

    /// Returns true if an edge is visible: both ends are, and it is not just membership.
    pub fn is_edge_visible(&self, edge: &Edge<'_>) -> bool {
        let ends = [&edge.from, &edge.to].iter().all(|end| end.node.is_none_or(|node| self.is_visible[node]));
        ends && edge.role() != EdgeRole::Member
    }
}

/// Returns the frame around a node: its equipment, or its line, or none.
pub fn cluster_of(model: &Model<'_>, visibility: &Visibility, index: usize) -> String {
    let owner = visibility.owner[index].map(|owner| &model.nodes[owner]);
    let has_parts = visibility.has_parts[index].then(|| &model.nodes[index]);
    if let Some(equipment) = owner.or(has_parts) {
        return equipment.title();
    }
    model.nodes[index].line().map(|line| model.resolve_line(line)).unwrap_or_default().to_owned()
}
