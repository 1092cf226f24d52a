//! Bodies that are open to equipment, or may be: its parts, what it is a part of, and equipment with the same tag.

use super::equipment_tags::equipment_tags;
use super::other_drawings::with_same_tag;
use super::parts::Parts;
use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::drawing::Drawing;
use crate::graph::topology::equipment_tags::EquipmentTags;
use crate::pid::ChargeFn;
use crate::pid::relief::protected::Bodies;

/// Parts of the equipment of a drawing, and its equipment by tag.
#[derive(Debug, Default)]
pub(crate) struct EquipmentBodies {
    parts: Parts,
    tags: EquipmentTags,
}

impl EquipmentBodies {
    pub fn collect(drawing: &Drawing<'_>, charge: ChargeFn<'_>) -> Result<EquipmentBodies> {
        Ok(EquipmentBodies { parts: Parts::collect(drawing, charge)?, tags: equipment_tags(drawing, charge)? })
    }

    /// Returns the bodies that are open to equipment, or may be.
    pub fn open_to(&self, drawing: &Drawing<'_>, equipment: NodeId, charge: ChargeFn<'_>) -> Result<Bodies> {
        Ok(Bodies {
            open: self.parts.open_bodies(drawing, equipment, charge)?,
            same_tag: with_same_tag(drawing, equipment, &self.tags, charge)?,
        })
    }
}
