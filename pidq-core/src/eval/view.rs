//! Lists whose items lie in one stored list: what columns can be read for.

use super::Cx;
use super::bits::Bits;
use super::cost::Way;
use crate::arena::{Cell, ContainerId};
use crate::error::Result;
use crate::graph::column::{Distinct, WORTH_IT};
use crate::value::{Array, Items};

/// Rows of a stored list, in the order of the list that they make.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub list: ContainerId,
    /// The items of the stored list.
    pub cells: &'a [Cell],
    /// The rows; all in order where there are none.
    pub rows: Option<&'a [u32]>,
}

/// How often each value of a coded column is there, and the values in the order in which they first come.
pub(crate) struct Counted {
    pub counts: Box<[u32; 256]>,
    pub order: Vec<u8>,
}

/// Lists in lists that are worked on together; what is deeper takes the plain way, which needs less of the stack.
const DEEPEST: u32 = 4;

/// With fewer rows of a list than one in so many, what looks at the whole list is slower.
const SPARSE: usize = 64;

impl<'a> Cx<'a> {
    /// The rows of a list, if it is long enough, of this document, and shortcuts may be taken.
    pub(crate) fn view(&self, array: Array<'a>) -> Option<View<'a>> {
        let (arena, list, rows) = match array.0 {
            Items::Stored(arena, list) => (arena, list, None),
            Items::Rows(rows) => (rows.arena, rows.base, Some(rows.rows)),
            _ => return None,
        };
        let is_worth_it = self.shortcuts && array.len() >= WORTH_IT && std::ptr::eq(arena, self.document);
        (is_worth_it && self.together < DEEPEST).then(|| View { list, cells: arena.items(list), rows })
    }

    /// Does something for all items together. Nothing where that is not possible, or where anything failed: then the
    /// items have to be taken one by one, and what was spent is given back.
    ///
    /// What failed is tried no other way but the plain one from then on: otherwise each level of a query would double
    /// the work of the next.
    pub(crate) fn together<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<Option<T>>) -> Option<T> {
        let (used, inner_fuel) = (self.used, self.inner_fuel);
        let before = self.before();
        self.together += 1;
        let result = work(self);
        self.together -= 1;
        if let Ok(Some(done)) = result {
            self.took(Way::Columns);
            return Some(done);
        }
        self.shortcuts &= result.is_ok();
        self.refund(used, inner_fuel);
        self.give_back(before);
        None
    }
}

impl View<'_> {
    pub fn len(&self) -> usize {
        self.rows.map_or(self.cells.len(), <[u32]>::len)
    }

    /// The row at a place.
    pub fn row(&self, at: usize) -> u32 {
        self.rows.map_or(at as u32, |rows| rows[at])
    }

    /// The rows as a set; nothing where one is there twice, or so few are there that a set is a waste.
    pub fn bits(&self) -> Option<Bits> {
        let Some(rows) = self.rows else { return Some(Bits::all(self.cells.len())) };
        if rows.len() * SPARSE < self.cells.len() {
            return None;
        }
        let mut bits = Bits::none(self.cells.len());
        rows.iter().for_each(|row| bits.insert(*row));
        (bits.count() == rows.len()).then_some(bits)
    }

    /// Whether the rows stand in the order of the stored list.
    pub fn is_ascending(&self) -> bool {
        self.rows.is_none_or(|rows| rows.is_sorted_by(|a, b| a < b))
    }

    pub fn count(&self, codes: &[u8], values: &[Distinct]) -> Counted {
        let mut counted = Counted { counts: Box::new([0; 256]), order: Vec::with_capacity(values.len()) };
        match self.rows {
            None => {
                counted.order.extend((0..values.len()).map(|code| code as u8));
                values.iter().zip(counted.counts.iter_mut()).for_each(|(value, count)| *count = value.count);
            }
            Some(rows) => rows.iter().for_each(|row| counted.add(codes[*row as usize])),
        }
        counted
    }
}

impl Counted {
    fn add(&mut self, code: u8) {
        let count = &mut self.counts[code as usize];
        *count += 1;
        if *count == 1 {
            self.order.push(code);
        }
    }
}
