//! The key lists that objects share.
//!
//! While a document is read, keys are steps of a tree: an object walks from the root, one step a key, and most objects
//! walk where one before them walked, so that the next key can be guessed and compared in place. Where an object ends,
//! its step becomes a shape: the keys as JavaScript orders them, without duplicates.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashMap, HashTable};

use super::load::block;
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
const NONE: u32 = u32::MAX;

/// A key that followed other keys.
#[derive(Clone, Copy, Debug)]
struct Step {
    symbol: Symbol,
    /// Its token: `NONE` before its first use, 0 before its second.
    token: u32,
    /// The token of the key that came after it last time.
    next: u32,
    /// The token of the first key of the last object in its value.
    inner: u32,
    /// What is known of the texts that stood here, if one did.
    slot: u32,
    /// The shape of objects that end here, if one did; with a mark if its order is not the written one.
    shape: u32,
    parent: u32,
    depth: u32,
}

/// Marks a shape. There are fewer shapes than this, since each takes more than two bytes of the input.
const REORDERED: u32 = 1 << 31;

impl Step {
    fn new(symbol: Symbol, parent: u32, depth: u32) -> Step {
        Step { symbol, token: NONE, next: 0, inner: 0, slot: NONE, shape: NONE, parent, depth }
    }
}

/// The bytes from the quote of a key to its colon, such as `"tag":`, to be compared in place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    /// The first sixteen bytes, those that are its own.
    head: u128,
    mask: u128,
    /// The last sixteen bytes of a longer one.
    tail: u128,
    len: u32,
    /// The step that it leads to.
    step: u32,
    /// The token that it replaced as a guess.
    other: u32,
}

impl Token {
    /// Stands nowhere: no UTF-8 has these bytes.
    const NOWHERE: Token = Token { head: u128::MAX, mask: u128::MAX, tail: 0, len: 0, step: Steps::ROOT, other: 0 };

    /// The longest token: longer keys are read and looked up each time.
    const LONGEST: usize = 32;

    /// The token of a key by its bytes in the input.
    fn new(key: &[u8], step: u32) -> Option<Token> {
        let len = key.len() + 3;
        if len > Token::LONGEST {
            return None;
        }
        let mut bytes = [0; Token::LONGEST];
        bytes[0] = b'"';
        bytes[1..len - 2].copy_from_slice(key);
        bytes[len - 2..len].copy_from_slice(b"\":");
        let at = |from: usize| block(&bytes, from).map_or(0, u128::from_le_bytes);
        let mask = if len < 16 { (1 << (8 * len)) - 1 } else { u128::MAX };
        Some(Token { head: at(0), mask, tail: at(len.saturating_sub(16)), len: len as u32, step, other: 0 })
    }

    /// What comes after the token if it stands at a place.
    ///
    /// Hot: once a key.
    #[inline(always)]
    pub fn end(&self, bytes: &[u8], at: usize) -> Option<usize> {
        let head = u128::from_le_bytes(block(bytes, at)?);
        let end = at + self.len as usize;
        let stands_here = (head ^ self.head) & self.mask == 0
            && (self.len <= 16 || block(bytes, end - 16).map(u128::from_le_bytes) == Some(self.tail));
        stands_here.then_some(end)
    }
}

/// Where a key is read.
#[derive(Clone, Copy)]
pub(super) enum Place {
    /// After the key of a step.
    After(u32),
    /// At the start of an object that is, or is in a list that is, the value of a step.
    Inside(u32),
}

/// Whether the texts of a key repeat. Judged over and over: a text that is stored once costs a look-up, and memory if it
/// is the only one of its kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    repeats: bool,
    /// So many texts until the next verdict.
    left: u32,
    /// So many of the texts since the last verdict were new.
    fresh: u32,
    /// How long to leave the texts alone after the next bad verdict.
    rest: u32,
}

impl Slot {
    /// So many texts make a trial.
    const TRIAL: u32 = 64;

    /// With more new texts in a trial a slot is taken for one of ids or remarks.
    const TOO_FRESH: u32 = 48;

    const NEW: Slot = Slot { repeats: true, left: Slot::TRIAL, fresh: 0, rest: 16 * Slot::TRIAL };

    /// Whether the next text is worth storing once.
    #[inline(always)]
    pub fn repeats(&mut self) -> bool {
        if self.left == 0 {
            self.judge();
        }
        self.left -= 1;
        self.repeats
    }

    /// Counts a text that was met for the first time.
    pub fn count_new(&mut self) {
        self.fresh += 1;
    }

    #[inline(never)]
    fn judge(&mut self) {
        self.repeats = !self.repeats || self.fresh <= Slot::TOO_FRESH;
        self.fresh = 0;
        self.left = Slot::TRIAL;
        if !self.repeats {
            self.left = self.rest;
            self.rest = self.rest.saturating_mul(2);
        }
    }
}

/// The tree of steps while a document is read.
#[derive(Debug)]
pub(super) struct Steps {
    steps: Vec<Step>,
    /// By parent and symbol.
    table: HashTable<u32>,
    tokens: Vec<Token>,
    slots: Vec<Slot>,
    /// The slot of a key: shared by all steps with this key, so that rare shapes have no trials of their own.
    slot_of_key: HashMap<u32, u32>,
    hasher: DefaultHashBuilder,
    /// By shape: where its values stand among those of the object as it was written; `NONE` for "in order".
    orders: Vec<Option<Box<[u32]>>>,
}

impl Steps {
    /// The step of no keys.
    pub const ROOT: u32 = 0;

    pub fn new() -> Steps {
        Steps {
            steps: vec![Step::new(Symbol(NONE), NONE, 0)],
            table: HashTable::new(),
            tokens: vec![Token::NOWHERE],
            slots: Vec::new(),
            slot_of_key: HashMap::default(),
            hasher: DefaultHashBuilder::default(),
            orders: Vec::new(),
        }
    }

    /// The number of the token that stood at a place last time.
    #[inline(always)]
    fn guess(&mut self, place: Place) -> &mut u32 {
        match place {
            Place::After(step) => &mut self.steps[step as usize].next,
            Place::Inside(step) => &mut self.steps[step as usize].inner,
        }
    }

    /// Passes the key that stood at a place last time. Gives its step, and what comes after its colon.
    #[inline(always)]
    pub fn pass(&mut self, place: Place, bytes: &[u8], at: usize) -> Option<(u32, usize)> {
        let guess = *self.guess(place);
        let token = &self.tokens[guess as usize];
        token.end(bytes, at).map(|end| (token.step, end))
    }

    /// As `pass`, for the key that stood there before the last.
    pub fn pass_other(&mut self, place: Place, bytes: &[u8], at: usize) -> Option<(u32, usize)> {
        let guess = *self.guess(place);
        let other = self.tokens[guess as usize].other;
        let token = &mut self.tokens[other as usize];
        let end = token.end(bytes, at)?;
        token.other = guess;
        let passed = (token.step, end);
        *self.guess(place) = other;
        Some(passed)
    }

    /// What is known of the texts at a step.
    #[inline(always)]
    pub fn slot(&mut self, step: u32) -> &mut Slot {
        let mut slot = self.steps[step as usize].slot;
        if slot == NONE {
            slot = self.find_slot(step);
        }
        &mut self.slots[slot as usize]
    }

    #[inline(never)]
    fn find_slot(&mut self, step: u32) -> u32 {
        let step = &mut self.steps[step as usize];
        step.slot = *self.slot_of_key.entry(step.symbol.0).or_insert(self.slots.len() as u32);
        if step.slot as usize == self.slots.len() {
            self.slots.push(Slot::NEW);
        }
        step.slot
    }

    /// The order of the values of a shape, where it is not the written one.
    pub fn order(&self, shape: ShapeId) -> Option<&[u32]> {
        self.orders[shape.0 as usize].as_deref()
    }

    /// The step for `symbol` after `parent`.
    pub fn follow(&mut self, parent: u32, symbol: Symbol) -> u32 {
        let Steps { steps, table, hasher, .. } = self;
        let hash = hasher.hash_one((parent, symbol.0));
        let same = |id: &u32| steps[*id as usize].parent == parent && steps[*id as usize].symbol == symbol;
        table.find(hash, same).copied().unwrap_or_else(|| self.add(parent, symbol, hash))
    }

    /// Expects at a place what stood there: a step and the bytes of its key. Keys that come once get no token.
    pub fn expect(&mut self, place: Place, step: u32, key: &[u8]) {
        let known = &mut self.steps[step as usize].token;
        match *known {
            NONE => *known = 0,
            0 => {
                let Some(token) = Token::new(key, step) else { return };
                *known = self.tokens.len() as u32;
                self.tokens.push(token);
            }
            _ => {}
        }
        // The token that stands nowhere is shared by all places: it must not lead to another.
        let token = *known;
        if token != 0 {
            let replaced = std::mem::replace(self.guess(place), token);
            self.tokens[token as usize].other = replaced;
        }
    }

    fn add(&mut self, parent: u32, symbol: Symbol, hash: u64) -> u32 {
        let Steps { steps, table, hasher, .. } = self;
        let id = steps.len() as u32;
        steps.push(Step::new(symbol, parent, steps[parent as usize].depth + 1));
        let key = |id: &u32| hasher.hash_one((steps[*id as usize].parent, steps[*id as usize].symbol.0));
        table.insert_unique(hash, id, key);
        id
    }

    /// The shape of objects that end at a step, if it is known and their values stand in order.
    #[inline(always)]
    pub fn plain_shape(&self, step: u32) -> Option<ShapeId> {
        let shape = self.steps[step as usize].shape;
        (shape < REORDERED).then_some(ShapeId(shape))
    }

    /// The shape of objects that end at a step, made at its first use. `index` reads an array-index key.
    pub fn shape(&mut self, step: u32, shapes: &mut Shapes, index: impl Fn(Symbol) -> Option<u32>) -> ShapeId {
        let known = self.steps[step as usize].shape;
        if known != NONE {
            return ShapeId(known & !REORDERED);
        }
        let written = self.keys(step);
        let order = canonical_order(&written, index);
        let id = match &order {
            None => shapes.add(written.iter().copied()),
            Some(order) => shapes.add(order.iter().map(|at| written[*at as usize])),
        };
        self.steps[step as usize].shape = id.0 | if order.is_some() { REORDERED } else { 0 };
        self.orders.push(order);
        id
    }

    /// The number of keys from the root to a step.
    pub fn depth(&self, step: u32) -> usize {
        self.steps[step as usize].depth as usize
    }

    /// The last key of a step other than the root.
    pub fn symbol(&self, step: u32) -> Symbol {
        self.steps[step as usize].symbol
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
