//! The key lists that objects share.
//!
//! While a document is read, keys are steps of a tree: an object walks from the root, one step a key, and most objects
//! walk where one before them walked, so that the next key can be guessed and compared in place. Where an object ends,
//! its step becomes a shape: the keys as JavaScript orders them, without duplicates.

use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;

use super::symbols::Symbol;

/// The number of a shape.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) struct ShapeId(pub u32);

/// A key list: a stretch of `keys`, and for long ones a sorted stretch of `sorted` to search in.
#[derive(Clone, Copy, Debug)]
struct Shape {
    first: u32,
    len: u32,
    sorted: u32,
}

/// Up to this many keys a linear search is faster.
const LINEAR: u32 = 12;

/// The key lists of a document.
#[derive(Debug, Default)]
pub(super) struct Shapes {
    shapes: Vec<Shape>,
    keys: Vec<Symbol>,
    sorted: Vec<(Symbol, u32)>,
}

impl Shapes {
    pub fn keys(&self, id: ShapeId) -> &[Symbol] {
        let shape = self.shapes[id.0 as usize];
        &self.keys[shape.first as usize..(shape.first + shape.len) as usize]
    }

    pub fn slot(&self, id: ShapeId, key: Symbol) -> Option<u32> {
        let shape = self.shapes[id.0 as usize];
        if shape.len <= LINEAR {
            return self.keys(id).iter().position(|k| *k == key).map(|slot| slot as u32);
        }
        let sorted = &self.sorted[shape.sorted as usize..(shape.sorted + shape.len) as usize];
        sorted.binary_search_by_key(&key, |(symbol, _)| *symbol).ok().map(|at| sorted[at].1)
    }

    /// The symbols that are keys, in the order of their numbers.
    pub fn all_keys(&self, symbols: usize) -> Vec<Symbol> {
        let mut is_key = vec![false; symbols];
        for key in &self.keys {
            is_key[key.0 as usize] = true;
        }
        (0..symbols as u32).map(Symbol).filter(|symbol| is_key[symbol.0 as usize]).collect()
    }

    /// Adds a key list that has no duplicates.
    fn add(&mut self, keys: impl Iterator<Item = Symbol>) -> ShapeId {
        let (first, sorted) = (self.keys.len() as u32, self.sorted.len() as u32);
        self.keys.extend(keys);
        let len = self.keys.len() as u32 - first;
        if len > LINEAR {
            let slots = self.keys[first as usize..].iter().zip(0..);
            self.sorted.extend(slots.map(|(key, slot)| (*key, slot)));
            self.sorted[sorted as usize..].sort_unstable();
        }
        self.shapes.push(Shape { first, len, sorted });
        ShapeId(self.shapes.len() as u32 - 1)
    }

    pub fn shrink(&mut self) {
        self.shapes.shrink_to_fit();
        self.keys.shrink_to_fit();
        self.sorted.shrink_to_fit();
    }

    pub fn size(&self) -> usize {
        size_of_val(self.shapes.as_slice()) + size_of_val(self.keys.as_slice()) + size_of_val(self.sorted.as_slice())
    }
}

/// No step, no shape, no symbol.
pub(super) const NONE: u32 = u32::MAX;

/// A key that followed other keys, and what is known of the values that stood there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub symbol: Symbol,
    /// The step that followed last time.
    pub next: u32,
    /// The shape of objects that end here, if one did.
    pub shape: u32,
    /// The text that stood here last time.
    pub last: Symbol,
    parent: u32,
    depth: u32,
    seen: u16,
    fresh: u16,
}

/// After this many texts a slot is judged: does it repeat, or is it an id or a remark?
const TRIAL: u16 = 64;

impl Step {
    fn new(parent: u32, symbol: Symbol, depth: u32) -> Step {
        Step { symbol, next: NONE, shape: NONE, last: Symbol(NONE), parent, depth, seen: 0, fresh: 0 }
    }

    /// Whether texts of this slot are worth storing once.
    pub fn repeats(&self) -> bool {
        self.seen < TRIAL || self.fresh <= TRIAL / 2
    }

    /// Counts a text of this slot that is, or is not, new.
    pub fn count(&mut self, is_new: bool) {
        if self.seen < TRIAL {
            self.seen += 1;
            self.fresh += u16::from(is_new);
        }
    }
}

/// The tree of steps while a document is read.
#[derive(Debug)]
pub(super) struct Steps {
    pub steps: Vec<Step>,
    table: HashTable<u32>,
    hasher: DefaultHashBuilder,
    /// By shape: where its values stand among those of the object as it was written; `NONE` for "in order".
    pub orders: Vec<Option<Box<[u32]>>>,
}

impl Steps {
    /// The step of no keys.
    pub const ROOT: u32 = 0;

    pub fn new() -> Steps {
        let root = Step::new(NONE, Symbol(NONE), 0);
        Steps { steps: vec![root], table: HashTable::new(), hasher: DefaultHashBuilder::default(), orders: Vec::new() }
    }

    /// The step for `symbol` after `parent`.
    pub fn follow(&mut self, parent: u32, symbol: Symbol) -> u32 {
        let Steps { steps, table, hasher, .. } = self;
        let hash = hasher.hash_one((parent, symbol.0));
        let same = |id: &u32| steps[*id as usize].parent == parent && steps[*id as usize].symbol == symbol;
        let found = table.find(hash, same).copied();
        let id = found.unwrap_or_else(|| {
            let id = steps.len() as u32;
            steps.push(Step::new(parent, symbol, steps[parent as usize].depth + 1));
            let key = |id: &u32| hasher.hash_one((steps[*id as usize].parent, steps[*id as usize].symbol.0));
            table.insert_unique(hash, id, key);
            id
        });
        steps[parent as usize].next = id;
        id
    }

    /// The shape of objects that end at a step, made at its first use. `index` reads an array-index key.
    pub fn shape(&mut self, step: u32, shapes: &mut Shapes, index: impl Fn(Symbol) -> Option<u32>) -> ShapeId {
        let known = self.steps[step as usize].shape;
        if known != NONE {
            return ShapeId(known);
        }
        let written = self.keys(step);
        let order = canonical_order(&written, index);
        let id = match &order {
            None => shapes.add(written.iter().copied()),
            Some(order) => shapes.add(order.iter().map(|at| written[*at as usize])),
        };
        self.steps[step as usize].shape = id.0;
        self.orders.push(order);
        id
    }

    /// The keys from the root to a step, as they were written.
    fn keys(&self, step: u32) -> Vec<Symbol> {
        let mut keys = Vec::with_capacity(self.steps[step as usize].depth as usize);
        let mut at = step;
        while at != Steps::ROOT {
            keys.push(self.steps[at as usize].symbol);
            at = self.steps[at as usize].parent;
        }
        keys.reverse();
        keys
    }
}

/// Where each key of JavaScript's order stands among the written ones, or `None` where it is the written order.
///
/// Array-index keys come first, ascending; a key that stands twice keeps its first place and its last value.
fn canonical_order(written: &[Symbol], index: impl Fn(Symbol) -> Option<u32>) -> Option<Box<[u32]>> {
    let mut by_key: Vec<(Symbol, u32)> = written.iter().copied().zip(0..).collect();
    by_key.sort_unstable();
    // (rank of array-index keys or none, first place, last place) per distinct key
    let mut order: Vec<(Option<u32>, u32, u32)> = Vec::with_capacity(written.len());
    for group in by_key.chunk_by(|a, b| a.0 == b.0) {
        order.push((index(group[0].0), group[0].1, group[group.len() - 1].1));
    }
    order.sort_unstable_by_key(|(rank, first, _)| (rank.is_none(), *rank, *first));
    let in_order = order.len() == written.len() && order.iter().zip(0..).all(|((_, first, _), at)| *first == at);
    (!in_order).then(|| order.iter().map(|(_, _, last)| *last).collect())
}
