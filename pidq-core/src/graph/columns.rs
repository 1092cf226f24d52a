//! Column cache of a document: columns are built when a query first reads a field, within a memory budget, and never
//! evicted. The same for the positions of the items of arrays in the input.

use std::sync::OnceLock;

use super::column::Column;
use crate::arena::{Arena, ContainerId, ItemSpans};
use crate::error::Span;

/// Columns that queries have read.
#[derive(Debug)]
pub(crate) struct Columns {
    slots: Box<[OnceLock<Slot>]>,
    /// Limit of all columns together in bytes.
    budget: usize,
    /// Arrays from which queries selected items, and the bytes of their items.
    item_spans: [OnceLock<(ContainerId, Option<ItemSpans>)>; MAX_ITEM_SPANS],
}

/// A field of an array; without a column if it cannot have one.
#[derive(Debug)]
struct Slot {
    list: ContainerId,
    path: Box<[Box<str>]>,
    column: OnceLock<Option<Column>>,
}

/// Limit of arrays with known bytes of their items.
const MAX_ITEM_SPANS: usize = 16;

/// Limit of columns per document.
const MAX_COLUMNS: usize = 128;

/// Minimum budget of small documents.
const MIN_BUDGET: usize = 1 << 20;

impl Columns {
    /// Creates an empty cache. Columns may take as much memory as the values of the document.
    pub fn new(arena: &Arena) -> Columns {
        let slots = std::iter::repeat_with(OnceLock::new).take(MAX_COLUMNS).collect();
        Columns { slots, budget: arena.size().max(MIN_BUDGET), item_spans: Default::default() }
    }

    /// Returns the bytes of the items of an array; `None` for another layout, or if the cache is full.
    pub fn item_spans(&self, arena: &Arena, list: ContainerId) -> Option<&ItemSpans> {
        let make = || (list, if self.size() > self.budget { None } else { arena.item_spans(list) });
        let mut lists = self.item_spans.iter().map(|known| known.get_or_init(make));
        lists.find(|(known, _)| *known == list).and_then(|(_, spans)| spans.as_ref())
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
        let item_spans = self.item_spans.iter().map_while(OnceLock::get).filter_map(|(_, items)| items.as_ref());
        columns.flatten().map(Column::size).sum::<usize>()
            + item_spans.map(|items| size_of_val::<[Span]>(&items.spans)).sum::<usize>()
    }
}
