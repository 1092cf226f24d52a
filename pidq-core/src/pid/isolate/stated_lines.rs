//! Lines and connections that a field of equipment names and that the drawing lacks: `inlet_line: "PL-105"`.

use hashbrown::HashSet;

use super::Isolation;
use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::config::{MAX_CLASS, Names};
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::tag_spelling;
use crate::graph::vocabulary;
use crate::graph::walk::Visitor;
use crate::pid::ChargeFn;
use crate::pid::stated_values::{plain_name, stated_fields};

/// Limit of the names in one field.
const MAX_NAMES: usize = 32;

/// Length from which on a name may be a part of a longer one: `PL-105` of `100-PL-105-A1`.
const MIN_PART: usize = 4;

impl Isolation<'_, '_> {
    /// Notes the equipment of the volume with a field that names a line or a connection which is not drawn.
    pub(super) fn note_undrawn_lines<V: Visitor>(&mut self, visitor: &mut V) -> Result<()> {
        let charge: ChargeFn<'_> = &mut |units| visitor.charge(units);
        charge(1 + self.inside.len() as u64)?;
        let is_equipment = |node: &NodeId| self.drawing.topology.roles[*node as usize] == Role::Equipment;
        let mut known = None;
        let mut found = Vec::new();
        for equipment in self.inside.iter().copied().filter(is_equipment) {
            let names = named_connections(self.drawing, equipment);
            if names.is_empty() {
                continue;
            }
            let known = match &known {
                Some(known) => known,
                None => known.insert(DrawnNames::collect(self.drawing, charge)?),
            };
            charge((names.len() * known.all.len()) as u64 / 16)?;
            if names.iter().any(|(name, kind)| !known.has(name, *kind)) {
                found.push(equipment);
            }
        }
        found.into_iter().for_each(|equipment| self.note("unread_text", equipment));
        Ok(())
    }
}

/// Kind of what a field names.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum NamedKind {
    Line,
    /// A line, a nozzle, or the item at the other end.
    Connection,
}

/// Names of all items, pipes and lines of a drawing, in the spelling that all tags share which differ only in case, blanks and
/// hyphens.
struct DrawnNames {
    all: HashSet<String>,
    has_lines: bool,
}

impl DrawnNames {
    fn collect(drawing: &Drawing<'_>, charge: ChargeFn<'_>) -> Result<DrawnNames> {
        let topology = &drawing.topology;
        charge((topology.node_count() + topology.edge_count()) as u64)?;
        let mut found = DrawnNames { all: HashSet::new(), has_lines: false };
        for node in 0..topology.node_count() as NodeId {
            let line = drawing.node_field(node, Names::Line).and_then(|line| line.as_str());
            let stated = drawing.node_field(node, Names::QualifiedTag).and_then(|tag| tag.as_str());
            found.has_lines |= line.is_some() || drawing.has_type(node, Names::LineType);
            found.add([drawing.tag(node), drawing.id(node).as_str(), line, stated]);
        }
        for edge in 0..topology.edge_count() as u32 {
            let text = |names: Names| drawing.edge_field(edge, names).and_then(|value| value.as_str());
            found.has_lines |= text(Names::Line).is_some();
            found.add([text(Names::Line), text(Names::Segment), text(Names::EdgeId), text(Names::Tag)]);
        }
        Ok(found)
    }

    fn add(&mut self, texts: [Option<&str>; 4]) {
        let texts = texts.into_iter().flatten().filter(|text| text.len() <= MAX_CLASS);
        self.all.extend(texts.map(tag_spelling::normalized).filter(|name| !name.is_empty()));
    }

    /// Returns whether a name is that of something drawn, or a part of it. Where no line has a number, none is missed.
    fn has(&self, name: &str, kind: NamedKind) -> bool {
        let contains = |long: &str, short: &str| short.len() >= MIN_PART && long.contains(short);
        kind == NamedKind::Line && !self.has_lines
            || self.all.contains(name)
            || self.all.iter().any(|known| contains(known, name) || contains(name, known))
    }
}

/// Returns the tags in the fields of equipment for its lines and connections.
fn named_connections(drawing: &Drawing<'_>, equipment: NodeId) -> Vec<(String, NamedKind)> {
    let fields = drawing.node(equipment).as_object().into_iter().flat_map(stated_fields);
    let mut found = Vec::new();
    for (name, stated) in fields.filter(|(name, _)| name.len() <= MAX_CLASS) {
        let name = plain_name(name);
        let kind = match name.as_str() {
            name if vocabulary::EQUIPMENT_LINE_FIELDS.contains(&name) => NamedKind::Line,
            name if vocabulary::EQUIPMENT_CONNECTION_FIELDS.contains(&name) => NamedKind::Connection,
            _ => continue,
        };
        let list = stated.value.as_array().into_iter().flat_map(|list| list.iter());
        let texts = list.chain([stated.value]).filter_map(|value| value.as_str()).take(MAX_NAMES);
        let names = texts.flat_map(|text| text.split([',', ';', '\n'])).map(str::trim).filter(|name| is_tag(name));
        found.extend(names.map(|name| (tag_spelling::normalized(name), kind)));
    }
    found
}

/// Returns whether a text has the form of a tag or a number of a line: `PL-105`, `100-PL-10101-B1A`.
fn is_tag(text: &str) -> bool {
    text.len() >= MIN_PART
        && text.len() <= MAX_CLASS
        && text.contains('-')
        && text.chars().any(|c| c.is_ascii_digit())
        && text.chars().any(char::is_alphabetic)
        && !text.contains(char::is_whitespace)
}
