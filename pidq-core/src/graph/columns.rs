//! Column cache of a document: columns are built when a query first reads a field, within a memory budget, and never
//! evicted.

use std::sync::OnceLock;

use super::column::Column;
use crate::arena::{Arena, ContainerId, Layout};

/// Columns that queries have read.
#[derive(Debug)]
pub(crate) struct Columns {
    slots: Box<[OnceLock<Slot>]>,
    /// Limit of all columns together in bytes.
    budget: usize,
    /// Arrays with a known source layout.
    layouts: [OnceLock<(ContainerId, Layout)>; MAX_LAYOUTS],
}

/// A field of an array; without a column if it cannot have one.
#[derive(Debug)]
struct Slot {
    list: ContainerId,
    path: Box<[Box<str>]>,
    column: OnceLock<Option<Column>>,
}

/// Limit of arrays with a cached layout.
const MAX_LAYOUTS: usize = 16;

/// Limit of columns per document.
const MAX_COLUMNS: usize = 128;

/// Minimum budget of small documents.
const MIN_BUDGET: usize = 1 << 20;

impl Columns {
    /// Creates an empty cache. Columns may take as much memory as the values of the document.
    pub fn new(arena: &Arena) -> Columns {
        let slots = std::iter::repeat_with(OnceLock::new).take(MAX_COLUMNS).collect();
        Columns { slots, budget: arena.size().max(MIN_BUDGET), layouts: Default::default() }
    }

    /// Returns the source layout of the items of an array; `Loose` if the layout cache is full.
    pub fn layout(&self, arena: &Arena, list: ContainerId) -> Layout {
        let mut lists = self.layouts.iter().map(|known| known.get_or_init(|| (list, arena.layout(list))));
        lists.find(|(known, _)| *known == list).map_or(Layout::Loose, |(_, layout)| *layout)
    }

    /// Returns a field of the items of an array; `None` if it cannot be a column or the budget is used up.
    pub fn get<'p>(
        &self,
        arena: &Arena,
        list: ContainerId,
        path: impl ExactSizeIterator<Item = &'p str> + Clone,
    ) -> Option<&Column> {
        let slot = self.slot(list, path.clone())?;
        slot.column.get_or_init(|| Column::build(arena, list, path)).as_ref()
    }

    /// Returns the slot of a field: the existing one, or the first free one.
    fn slot<'p>(&self, list: ContainerId, path: impl ExactSizeIterator<Item = &'p str> + Clone) -> Option<&Slot> {
        for slot in &self.slots {
            if slot.get().is_none() && self.size() > self.budget {
                return None;
            }
            let make = || Slot { list, path: path.clone().map(Box::from).collect(), column: OnceLock::new() };
            let slot = slot.get_or_init(make);
            if slot.list == list && slot.path.iter().map(|key| &**key).eq(path.clone()) {
                return Some(slot);
            }
        }
        None
    }

    /// Memory in bytes.
    pub fn size(&self) -> usize {
        let columns = self.slots.iter().map_while(OnceLock::get).filter_map(|slot| slot.column.get());
        columns.flatten().map(Column::size).sum()
    }
}
