//! Texts of a volume that say that it has connections that are not drawn, and notes on the sheet that name a barrier or equipment
//! of it by the tag.

use hashbrown::HashSet;

use super::{Isolation, Uncertainty};
use crate::error::Result;
use crate::graph::adjacency::{NONE, NodeId};
use crate::graph::config::{MAX_CLASS, Names};
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter};
use crate::graph::vocabulary::{self, StatedOf};
use crate::graph::walk::Visitor;
use crate::pid::ChargeFn;
use crate::pid::valve_state::open_equipment::{Opening, opening, opening_in_text};
use crate::pid::valve_state::state_phrases::has_state_phrase;
use crate::pid::valve_state::unread_texts::{note_texts, speaks_against_valve, texts_of_note};
use crate::pid::valve_state::{texts, texts_of_pipe};

/// Limit of the notes of a sheet that are compared with tags.
const MAX_NOTES: usize = 256;
/// Limit of the text of a note in bytes; a longer one is not read.
const MAX_NOTE: usize = 4096;

impl Isolation<'_, '_> {
    /// Notes equipment and pipes of the volume with a text about connections that are not drawn, and what a note on the sheet
    /// speaks against.
    pub(super) fn note_unread_texts<V: Visitor>(&mut self, visitor: &mut V) -> Result<()> {
        let drawing = self.drawing;
        let table = drawing.topology.table(EdgeFilter::Flow, Direction::Both);
        let mut found = Vec::new();
        for node in self.inside.iter().copied() {
            visitor.charge(1 + table.degree(node) as u64)?;
            let is_body = matches!(drawing.topology.roles[node as usize], Role::Equipment | Role::Port);
            if is_body && opening(drawing, node) != Opening::Stated && has_undrawn_connection(drawing, node) {
                found.push(Uncertainty { reason: "unread_text", at: node, edge: NONE });
            }
            let of_pipes = table.edges(node).iter().copied().filter(|edge| {
                texts_of_pipe(drawing, *edge).any(|text| text.contains(' ') && has_state_phrase(text, StatedOf::Pipe))
            });
            found.extend(of_pipes.map(|edge| Uncertainty { reason: "unread_text", at: node, edge }));
        }
        let notes = sheet_notes(drawing, &mut |units| visitor.charge(units))?;
        if !notes.is_empty() {
            found.extend(self.contradicted_by(&notes, &mut |units| visitor.charge(units))?);
        }
        let known: HashSet<_> = self.uncertainties.iter().map(|known| (known.reason, known.at)).collect();
        let mut pipes = HashSet::new();
        found.retain(|new| !known.contains(&(new.reason, new.at)) && (new.edge == NONE || pipes.insert(new.edge)));
        self.uncertainties.extend(found);
        Ok(())
    }

    /// Returns the barriers and the equipment of the volume that a note names by the tag and speaks against.
    fn contradicted_by(&self, notes: &[String], charge: ChargeFn<'_>) -> Result<Vec<Uncertainty>> {
        const BYTES_PER_UNIT: usize = 64;
        let units: usize = notes.iter().map(|note| 1 + note.len() / BYTES_PER_UNIT).sum();
        let barriers = self.barriers.iter().map(|barrier| self.steps[barrier.step as usize].node);
        let is_equipment = |node: &NodeId| self.drawing.topology.roles[*node as usize] == Role::Equipment;
        let equipment = self.inside.iter().copied().filter(is_equipment);
        let barriers = barriers.map(|node| (node, speaks_against_valve as fn(&str) -> bool));
        let equipment = equipment.map(|node| (node, says_undrawn as fn(&str) -> bool));
        let mut found = Vec::new();
        for (node, speaks_against) in barriers.chain(equipment) {
            charge(units as u64)?;
            let Some(tag) = self.drawing.tag(node).filter(|tag| tag.len() <= MAX_CLASS) else { continue };
            let tag = tag.trim().to_lowercase();
            if notes.iter().any(|note| names_tag(note, &tag) && speaks_against(note)) {
                found.push(Uncertainty { reason: "unread_text", at: node, edge: NONE });
            }
        }
        Ok(found)
    }
}

/// Returns whether a text of equipment or a nozzle, or a note that an edge ties to it, says that it has a connection that is not
/// drawn, or a note that it is open.
fn has_undrawn_connection(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let names = [Names::Description, Names::Remarks, Names::ComponentName];
    let mut own = names.into_iter().flat_map(|names| texts(drawing, node, names));
    own.any(|text| has_state_phrase(text, StatedOf::Equipment)) || note_texts(drawing, node).any(says_undrawn)
}

/// Returns whether a note says that equipment has a connection that is not drawn, or is open.
fn says_undrawn(note: &str) -> bool {
    has_state_phrase(note, StatedOf::Equipment) || opening_in_text(note) != Opening::NotStated
}

/// Returns the notes of the sheet in lower case: those of its nodes, and those of its metadata.
fn sheet_notes(drawing: &Drawing<'_>, charge: ChargeFn<'_>) -> Result<Vec<String>> {
    let nodes = &drawing.notes()[..drawing.notes().len().min(MAX_NOTES)];
    charge(1 + nodes.len() as u64)?;
    let of_nodes = nodes.iter().flat_map(|node| texts_of_note(drawing, *node));
    let fields = drawing.metadata.as_object().into_iter().flat_map(|fields| fields.iter());
    let fields = fields.filter(|(name, _)| vocabulary::contains_plain(vocabulary::SHEET_NOTE_FIELDS, name));
    let of_metadata = fields.flat_map(|(_, value)| {
        let list = value.as_array().into_iter().flat_map(|list| list.iter()).filter_map(|note| note.as_str());
        value.as_str().into_iter().chain(list).take(MAX_NOTES)
    });
    let notes = of_nodes.chain(of_metadata).filter(|note| note.len() <= MAX_NOTE);
    Ok(notes.map(str::to_lowercase).collect())
}

/// Returns whether a text has a tag as a word of its own; both are in lower case.
fn names_tag(text: &str, tag: &str) -> bool {
    let is_end = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    tag.len() > 1
        && text
            .match_indices(tag)
            .any(|(at, _)| is_end(text[..at].chars().next_back()) && is_end(text[at + tag.len()..].chars().next()))
}
