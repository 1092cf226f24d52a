//! The columns of a document: made when a query first reads a field, kept within a budget, never thrown away.

use std::sync::OnceLock;

use super::column::Column;
use crate::arena::{Arena, ContainerId, Layout};

/// The columns that queries have asked for.
#[derive(Debug)]
pub(crate) struct Columns {
    slots: Box<[OnceLock<Slot>]>,
    /// Bytes that all columns together may take.
    budget: usize,
    /// Lists that were looked at: how their items stand in the input.
    lists: [OnceLock<(ContainerId, Layout)>; LISTS],
}

/// A field of a list; without a column where it has none.
#[derive(Debug)]
struct Slot {
    list: ContainerId,
    path: Box<[Box<str>]>,
    column: OnceLock<Option<Column>>,
}

/// Lists whose layout is remembered.
const LISTS: usize = 16;

/// The most columns of a document.
const MOST: usize = 128;

/// What a small document may spend on columns in any case.
const LEAST_BUDGET: usize = 1 << 20;

impl Columns {
    /// Columns may take as much as the values of the document.
    pub fn new(arena: &Arena) -> Columns {
        let slots = std::iter::repeat_with(OnceLock::new).take(MOST).collect();
        Columns { slots, budget: arena.size().max(LEAST_BUDGET), lists: Default::default() }
    }

    /// How the items of a list stand in the input. Loose where there is no room to remember it.
    pub fn layout(&self, arena: &Arena, list: ContainerId) -> Layout {
        let mut lists = self.lists.iter().map(|known| known.get_or_init(|| (list, arena.layout(list))));
        lists.find(|(known, _)| *known == list).map_or(Layout::Loose, |(_, layout)| *layout)
    }

    /// A field of the items of a list; nothing where it has no column, or there is no room for more.
    pub fn get<'p>(
        &self,
        arena: &Arena,
        list: ContainerId,
        path: impl ExactSizeIterator<Item = &'p str> + Clone,
    ) -> Option<&Column> {
        let slot = self.slot(list, path.clone())?;
        slot.column.get_or_init(|| Column::build(arena, list, path)).as_ref()
    }

    /// The slot of a field: the one that it has, or the first free one.
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

    /// Bytes kept.
    pub fn size(&self) -> usize {
        let columns = self.slots.iter().map_while(OnceLock::get).filter_map(|slot| slot.column.get());
        columns.flatten().map(Column::size).sum()
    }
}
