//! Conditions that compare fields with constants, on the items of a stored list, without building values.
//!
//! `.node_type == "x" and .size > 40` is most of what is asked. Texts that repeat are compared by number; a field is
//! found once per shape. Whatever is not as plain as that is left to the evaluator, item by item.

use std::cmp::Ordering;

use super::Cx;
use super::plan::{Constant, Path, Plan};
use crate::arena::{Arena, Cell, Kind, Symbol};
use crate::value::{Array, Items, compare};

/// `path op constant`, ready for a document.
pub(crate) struct Test<'a> {
    path: &'a Path,
    constant: Target<'a>,
    holds: Holds,
}

/// The constant, as the document has it.
#[derive(Clone, Copy)]
enum Target<'a> {
    Number(f64),
    /// A text and its number, if the document stores it once.
    Text(&'a str, Option<Symbol>),
}

/// How a field compares with the constant: an order, or nothing where they are of different types.
type Outcome = Option<Ordering>;

/// Whether a comparison holds.
type Holds = fn(Outcome) -> bool;

/// The comparisons that are equal to `fn(Outcome)` where one side is a number or a text.
const OPERATORS: &[(&str, Holds)] = &[
    ("eq", |outcome| outcome == Some(Ordering::Equal)),
    ("ne", |outcome| outcome != Some(Ordering::Equal)),
    ("gt", |outcome| outcome == Some(Ordering::Greater)),
    ("lt", |outcome| outcome == Some(Ordering::Less)),
    ("gte", |outcome| matches!(outcome, Some(Ordering::Greater | Ordering::Equal))),
    ("lte", |outcome| matches!(outcome, Some(Ordering::Less | Ordering::Equal))),
];

impl<'a> Cx<'a> {
    /// The tests that a condition consists of; none if it is not as plain as that or shortcuts are off.
    pub(crate) fn tests(&self, condition: &'a Plan, arena: &Arena) -> Vec<Test<'a>> {
        let mut tests = Vec::new();
        let is_plain =
            self.shortcuts && std::ptr::eq(arena, self.document) && collect(condition, self.document, &mut tests);
        if is_plain { tests } else { Vec::new() }
    }

    /// Whether an item passes all tests; nothing where the evaluator has to look, as it has to without tests.
    ///
    /// Hot: once per item. Goes from cell to cell and builds no value.
    pub(crate) fn passes(&mut self, tests: &[Test<'a>], item: Cell) -> Option<bool> {
        for test in tests {
            let field = self.field_cell(test.path, item)?;
            if !(test.holds)(test.constant.compare(self.document, field)) {
                return Some(false);
            }
        }
        (!tests.is_empty()).then_some(true)
    }

    /// The cell at a path of objects, null where a part is missing; nothing where a part is not an object.
    pub(super) fn field_cell(&mut self, path: &Path, item: Cell) -> Option<Cell> {
        let mut cell = item;
        for (at, key) in path.keys.iter().enumerate() {
            let id = match cell.kind() {
                Kind::Object(id) => id,
                Kind::Null => return Some(Cell::NULL),
                _ => return None,
            };
            let container = self.document.container(id);
            let slot = self.caches[path.first + at].slot(self.document, container.extent, &key.name);
            let Some(slot) = slot else { return Some(Cell::NULL) };
            cell = self.document.cell(container.first + slot);
        }
        Some(cell)
    }
}

/// The texts of one field of a list's items, where they are stored once; and the group that each text was given.
pub(crate) struct FieldSymbols<'a> {
    path: &'a Path,
    cells: &'a [Cell],
    /// The rows of `cells` that the list consists of; all of them in order where there are none.
    rows: Option<&'a [u32]>,
    groups: Vec<u32>,
}

/// With more texts than this for each item, the table of groups costs more than it saves.
const MOST_PER_ITEM: usize = 4;

/// No group yet.
const NONE: u32 = u32::MAX;

impl<'a> Cx<'a> {
    /// The texts of a field, if the list is of this document, the key is a plain path and shortcuts may be taken.
    pub(crate) fn field_symbols(&self, array: Array<'a>, key: Option<&'a Plan>) -> Option<FieldSymbols<'a>> {
        let Some(Plan::Get(path)) = key else { return None };
        let (arena, base, rows) = match array.0 {
            Items::Stored(arena, base) => (arena, base, None),
            Items::Rows(rows) => (rows.arena, rows.base, Some(rows.rows)),
            Items::Built(_) => return None,
        };
        let symbols = self.document.symbol_count();
        let is_worth_it = self.shortcuts && symbols <= MOST_PER_ITEM * array.len() && path.is_plain;
        (is_worth_it && std::ptr::eq(arena, self.document)).then(|| FieldSymbols {
            path,
            cells: arena.items(base),
            rows,
            groups: vec![NONE; symbols],
        })
    }
}

impl FieldSymbols<'_> {
    /// The text of the field of an item, if it is one that is stored once.
    pub fn symbol(&self, cx: &mut Cx<'_>, at: usize) -> Option<Symbol> {
        let row = self.rows.map_or(at, |rows| rows[at] as usize);
        match cx.field_cell(self.path, self.cells[row])?.kind() {
            Kind::Symbol(symbol) => Some(symbol),
            _ => None,
        }
    }

    /// The group of a text.
    pub fn group(&self, symbol: Symbol) -> Option<u32> {
        Some(self.groups[symbol.0 as usize]).filter(|group| *group != NONE)
    }

    pub fn set_group(&mut self, symbol: Symbol, group: u32) {
        self.groups[symbol.0 as usize] = group;
    }
}

/// Adds the tests of a condition; says whether it has nothing else.
fn collect<'a>(condition: &'a Plan, document: &'a Arena, tests: &mut Vec<Test<'a>>) -> bool {
    let Plan::Call(call) = condition else { return false };
    let Some(name) = call.function.standard_name() else { return false };
    match (name, &*call.args) {
        ("and", parts) if parts.len() > 1 => parts.iter().all(|part| collect(part, document, tests)),
        (_, [Plan::Get(path), Plan::Constant(constant)]) if path.is_plain => {
            let operator = OPERATORS.iter().find(|(operator, _)| *operator == name);
            let (Some((_, holds)), Some(constant)) = (operator, Target::of(constant, document)) else { return false };
            tests.push(Test { path, constant, holds: *holds });
            true
        }
        _ => false,
    }
}

impl<'a> Target<'a> {
    fn of(constant: &'a Constant, document: &Arena) -> Option<Target<'a>> {
        match constant {
            Constant::Number(value) if !value.is_nan() => Some(Target::Number(*value)),
            Constant::Text(text) => Some(Target::Text(text, document.find_symbol(text))),
            _ => None,
        }
    }

    fn compare(self, document: &Arena, field: Cell) -> Outcome {
        match (self, field.kind()) {
            (Target::Number(wanted), Kind::Number(value)) => value.partial_cmp(&wanted),
            (Target::Number(wanted), Kind::Lexeme(index)) => document.lexeme(index).0.partial_cmp(&wanted),
            (Target::Text(_, Some(wanted)), Kind::Symbol(symbol)) if symbol == wanted => Some(Ordering::Equal),
            (Target::Text(wanted, _), Kind::Symbol(_) | Kind::Source(..) | Kind::Text(_)) => {
                Some(compare::text_order(document.string(field), wanted))
            }
            _ => None,
        }
    }
}
