//! Design pressures of pipes that state none, by the items in them: a valve list may state those of the lines.

use hashbrown::HashMap;

use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NONE, NodeId};
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::pid::quantity::Stated;
use crate::pid::stated_values::stated_values;
use crate::pid::{ChargeFn, pipe_lines};
use crate::value::convert;

/// Design pressures by the items in pipes.
pub(super) struct ItemPressures<'a> {
    /// By line: the design pressure that its items state, and none otherwise.
    by_line: HashMap<String, Stated<'a>>,
    by_item: HashMap<NodeId, Stated<'a>>,
}

impl<'a> ItemPressures<'a> {
    pub fn collect(drawing: &Drawing<'a>, charge: ChargeFn<'_>) -> Result<ItemPressures<'a>> {
        let mut by_item = HashMap::new();
        let mut found: HashMap<String, Vec<Stated<'a>>> = HashMap::new();
        for node in (0..drawing.topology.node_count() as u32).filter(|node| is_in_pipe(drawing, *node)) {
            charge(1)?;
            let [stated] = stated_values(drawing, drawing.node(node), [Names::DesignPressure], &mut *charge)?;
            let Some(stated) = stated else { continue };
            if let Some(line) = drawing.node_field(node, Names::Line) {
                found.entry(pipe_lines::line_name(drawing, line)).or_default().push(stated.clone());
            }
            by_item.insert(node, stated);
        }
        let is_agreed = |values: &Vec<Stated<'a>>| values.windows(2).all(|pair| is_same(&pair[0], &pair[1]));
        // A single valve may state its own rating, unless the items of all lines state those of the lines.
        let are_of_lines = found.values().all(is_agreed) && found.values().any(|values| values.len() > 1);
        let is_of_line = |values: &Vec<Stated<'a>>| is_agreed(values) && (values.len() > 1 || are_of_lines);
        let agreed = found.into_iter().filter(|(_, values)| is_of_line(values));
        let by_line = agreed.filter_map(|(line, values)| Some((line, values.into_iter().next()?))).collect();
        Ok(ItemPressures { by_line, by_item })
    }

    /// Returns the design pressure of a pipe: that of its line, or of the items at both of its ends.
    pub fn of_pipe(&self, drawing: &Drawing<'a>, pipe: EdgeId) -> Option<Stated<'a>> {
        if self.by_item.is_empty() {
            return None;
        }
        if let Some(line) = drawing.edge_field(pipe, Names::Line) {
            return self.by_line.get(&pipe_lines::line_name(drawing, line)).cloned();
        }
        let [from, to] = drawing.topology.ends[pipe as usize].map(|end| self.by_item.get(&end));
        let (from, to) = (from?, to?);
        is_same(from, to).then(|| from.clone())
    }
}

/// Returns whether two items state the same, as written.
fn is_same(a: &Stated<'_>, b: &Stated<'_>) -> bool {
    let is_single = a.others.is_empty() && b.others.is_empty();
    is_single && a.unit == b.unit && convert::to_text(a.value) == convert::to_text(b.value)
}

/// Returns whether an item is in a pipe. A relief device states its set pressure, and equipment its own design.
fn is_in_pipe(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let topology = &drawing.topology;
    node != NONE
        && topology.flow_degree(node) > 0
        && !topology.is_equipment(node)
        && topology.roles[node as usize] != Role::Relief
}
