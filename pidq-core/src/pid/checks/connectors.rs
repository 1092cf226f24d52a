//! Checks of off-page connectors and joined sheets.

use super::Checker;
use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NodeId};
use crate::graph::config::Names;
use crate::graph::roles::Role;
use crate::graph::snake_case::snake_case;
use crate::graph::topology::EdgeFlags;
use crate::pid::{ChargeFn, join, joints};
use crate::value::{Value, convert};

pub(super) fn unmatched_connectors(checker: &mut Checker<'_, '_>, charge: ChargeFn<'_>) -> Result<()> {
    charge(checker.nodes().len() as u64)?;
    let drawing = checker.drawing;
    let is_off_page = |node: &NodeId| {
        let class = drawing.class(*node).map(snake_case).unwrap_or_default();
        drawing.topology.roles[*node as usize] == Role::OffPage && !class.contains("outlet") && !class.contains("inlet")
    };
    let is_matched = |node: NodeId| {
        let has_field = |names: Names| drawing.cross_page(node, names).is_some();
        has_field(Names::CrossPagePartner)
            || has_field(Names::CrossPageDrawing) && has_field(Names::CrossPageLabel)
            || drawing.topology.flow_degree(node) > 1
    };
    let unmatched: Vec<NodeId> = checker.nodes().filter(is_off_page).filter(|node| !is_matched(*node)).collect();
    for node in unmatched {
        checker.report(format!("{} does not define its continuation", checker.name(node)), &[node], &[]);
    }
    Ok(())
}

/// Reports the joints of joined sheets whose pipes differ.
pub(super) fn joints_of_different_pipes(checker: &mut Checker<'_, '_>, charge: ChargeFn<'_>) -> Result<()> {
    let drawing = checker.drawing;
    charge(drawing.topology.edge_count() as u64)?;
    let is_joint = |edge: &EdgeId| drawing.topology.is_joint(*edge);
    let joint_edges: Vec<EdgeId> = drawing.topology.edges_of(EdgeFlags::FLOW).filter(is_joint).collect();
    for edge in joint_edges {
        let ends = drawing.topology.flow_ends(edge);
        let from = joints::values(drawing, ends[0], charge)?;
        let to = joints::values(drawing, ends[1], charge)?;
        for difference in joints::differences(&from, &to) {
            let names = ends.map(|end| checker.name(end));
            let [from, to] = difference.values;
            let message =
                format!("{} and {} are joined, but {} is {from} and {to}", names[0], names[1], difference.property);
            checker.report(message, &ends, &[edge]);
        }
    }
    Ok(())
}

/// Reports the connectors of joined sheets that name one of the sheets, which lacks their partner.
pub(super) fn missing_partner_connectors(checker: &mut Checker<'_, '_>, charge: ChargeFn<'_>) -> Result<()> {
    let drawing = checker.drawing;
    let report = drawing.metadata.as_object().and_then(|metadata| metadata.get(join::REPORT)?.as_object());
    let rows = report.and_then(|report| report.get(join::MISSING_PARTNERS)?.as_array());
    for row in rows.into_iter().flat_map(|rows| rows.iter()).filter_map(Value::as_object) {
        charge(1)?;
        let text = |key: &str| row.get(key).map(convert::to_text).unwrap_or_default();
        let Some(node) = row.get("id").and_then(|id| drawing.by_id(id)) else { continue };
        let message = format!("{} names the sheet {}, which lacks its partner", checker.name(node), text("sheet"));
        checker.report(message, &[node], &[]);
    }
    Ok(())
}
