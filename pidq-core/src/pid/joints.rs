//! Joints of off-page connectors: whether the pipes on both sides have the same line, class, size and fluid.

use super::lists::{EdgeField, edge_value};
use super::pipe_lines;
use crate::graph::adjacency::{EdgeId, NONE, NodeId};
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter};
use crate::value::{Value, convert};

/// Properties that a pipe keeps from one sheet to the next, and their names in results.
pub(crate) const PROPERTIES: [(Names, &str); 4] = [
    (Names::Line, "line"),
    (Names::PipingClass, "piping_class"),
    (Names::Size, "nominal_diameter"),
    (Names::Fluid, "fluid_code"),
];

/// Values of the properties at a connector, as the drawing writes them; several if its pipes differ.
pub(crate) type Values = [Vec<String>; PROPERTIES.len()];

/// Returns the values of the pipes at a connector, or else those of the connector itself.
pub(crate) fn values(drawing: &Drawing<'_>, connector: NodeId) -> Values {
    PROPERTIES.map(|(names, _)| {
        let field = EdgeField::Named(names);
        let pipes = drawing.topology.table(EdgeFilter::Flow, Direction::Both).edges(connector);
        let pipes = pipes.iter().filter(|edge| !is_joint(drawing, **edge));
        let is_known = |value: &Value<'_>| !value.is_null() && value.as_str() != Some("");
        let mut values: Vec<Value<'_>> =
            pipes.filter_map(|edge| edge_value(drawing, *edge, &field)).filter(is_known).collect();
        if values.is_empty() {
            values.extend(drawing.node_field(connector, names));
        }
        let text = |value: Value<'_>| match names {
            Names::Line => pipe_lines::line_name(drawing, value),
            _ => convert::to_text(value),
        };
        let mut texts: Vec<String> = Vec::new();
        for text in values.into_iter().map(text) {
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        texts
    })
}

/// Returns whether an edge connects two off-page connectors.
pub(crate) fn is_joint(drawing: &Drawing<'_>, edge: EdgeId) -> bool {
    let topology = &drawing.topology;
    topology.ends[edge as usize].iter().all(|end| *end != NONE && topology.roles[*end as usize] == Role::OffPage)
}

/// Difference of the pipes on both sides of a joint.
pub(crate) struct Difference {
    pub property: &'static str,
    pub values: [String; 2],
}

/// Returns the properties that both sides have, with different values. What a side does not have is no difference.
pub(crate) fn differences(from: &Values, to: &Values) -> Vec<Difference> {
    let sides = PROPERTIES.into_iter().zip(from.iter().zip(to));
    let differing = sides.filter(|((names, _), (from, to))| {
        let is_shared = |value: &String| to.iter().any(|other| normalized(*names, value) == normalized(*names, other));
        !from.is_empty() && !to.is_empty() && !from.iter().any(is_shared)
    });
    differing
        .map(|((_, property), (from, to))| Difference { property, values: [from, to].map(|side| side.join(" and ")) })
        .collect()
}

/// Normalizes a value for comparison: exporters write line numbers and classes with and without blanks and hyphens, and
/// sizes as numbers, or with the prefix `DN`.
fn normalized(names: Names, value: &str) -> String {
    let text: String = value.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_uppercase).collect();
    match names {
        Names::Size => {
            let digits = text.strip_prefix("DN").unwrap_or(&text);
            digits.parse::<f64>().map_or_else(|_| text.clone(), |number| number.to_string())
        }
        _ => text.replace('-', ""),
    }
}
