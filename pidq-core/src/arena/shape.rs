//! Key lists shared by objects (hidden classes).
//!
//! While a document is loaded, keys are transitions of a tree: each key of an object follows one transition from the
//! root. Most objects repeat the path of an earlier one, so the next key is predicted and compared in place. At the end
//! of an object its last transition becomes a shape: the keys in JavaScript's order, without duplicates.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashMap, HashTable};

use super::interned_strings::Symbol;

/// Number of a shape.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) struct ShapeId(pub u32);

/// A key list: a range of `keys`, and for long lists a sorted range of `sorted` for binary search.
#[derive(Clone, Copy, Debug)]
struct Shape {
    first: u32,
    len: u32,
    sorted: u32,
}

/// Up to this number of keys a linear search is faster.
const LINEAR_SEARCH_LIMIT: u32 = 12;

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
        if shape.len <= LINEAR_SEARCH_LIMIT {
            return self.keys(id).iter().position(|k| *k == key).map(|slot| slot as u32);
        }
        let sorted = &self.sorted[shape.sorted as usize..(shape.sorted + shape.len) as usize];
        sorted.binary_search_by_key(&key, |(symbol, _)| *symbol).ok().map(|at| sorted[at].1)
    }

    /// Returns the symbols that are keys, in the order of their numbers.
    pub fn all_keys(&self, symbols: usize) -> Vec<Symbol> {
        let mut is_key = vec![false; symbols];
        for key in &self.keys {
            is_key[key.0 as usize] = true;
        }
        (0..symbols as u32).map(Symbol).filter(|symbol| is_key[symbol.0 as usize]).collect()
    }

    /// Adds a key list without duplicates.
    fn add(&mut self, keys: impl Iterator<Item = Symbol>) -> ShapeId {
        let (first, sorted) = (self.keys.len() as u32, self.sorted.len() as u32);
        self.keys.extend(keys);
        let len = self.keys.len() as u32 - first;
        if len > LINEAR_SEARCH_LIMIT {
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

/// No transition, no shape, no symbol.
const NONE: u32 = u32::MAX;

/// A key after a sequence of keys.
#[derive(Clone, Copy, Debug)]
struct Transition {
    symbol: Symbol,
    /// The token: `NONE` before the first use, 0 before the second.
    token: u32,
    /// The token of the key that followed most recently.
    next: u32,
    /// The token of the first key of the most recent object in the value.
    inner: u32,
    /// The intern policy of the string values of this key, if it had any.
    policy: u32,
    /// The shape of objects that end here, if any; `REORDERED` is set if its order is not the written one.
    shape: u32,
    parent: u32,
    depth: u32,
}

/// Flag in a shape number. There are fewer shapes, since each takes more than two bytes of the input.
const REORDERED: u32 = 1 << 31;

impl Transition {
    fn new(symbol: Symbol, parent: u32, depth: u32) -> Transition {
        Transition { symbol, token: NONE, next: 0, inner: 0, policy: NONE, shape: NONE, parent, depth }
    }
}

/// The bytes from the quote of a key to its colon, such as `"tag":`, for comparison in place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    /// The first sixteen bytes, masked to those that belong to the token.
    head: u128,
    mask: u128,
    /// The last sixteen bytes of a longer token.
    tail: u128,
    len: u32,
    /// The transition of the key.
    transition: u32,
    /// The token that it replaced as the prediction.
    previous: u32,
}

impl Token {
    /// Matches nothing: no UTF-8 has these bytes.
    const NEVER: Token =
        Token { head: u128::MAX, mask: u128::MAX, tail: 0, len: 0, transition: Transitions::ROOT, previous: 0 };

    /// Limit of the token length: longer keys are parsed and looked up each time.
    const MAX_LEN: usize = 32;

    /// Returns the token of a key from its bytes in the input.
    fn new(key: &[u8], transition: u32) -> Option<Token> {
        let len = key.len() + 3;
        if len > Token::MAX_LEN {
            return None;
        }
        let mut bytes = [0; Token::MAX_LEN];
        bytes[0] = b'"';
        bytes[1..len - 2].copy_from_slice(key);
        bytes[len - 2..len].copy_from_slice(b"\":");
        let at = |from: usize| block(&bytes, from).map_or(0, u128::from_le_bytes);
        let mask = if len < 16 { (1 << (8 * len)) - 1 } else { u128::MAX };
        Some(Token { head: at(0), mask, tail: at(len.saturating_sub(16)), len: len as u32, transition, previous: 0 })
    }

    /// Returns the position after the token if the token is at `at`.
    ///
    /// Hot: once per key.
    #[inline(always)]
    pub fn match_end(&self, bytes: &[u8], at: usize) -> Option<usize> {
        let head = u128::from_le_bytes(block(bytes, at)?);
        let end = at + self.len as usize;
        let is_match = (head ^ self.head) & self.mask == 0
            && (self.len <= 16 || block(bytes, end - 16).map(u128::from_le_bytes) == Some(self.tail));
        is_match.then_some(end)
    }
}

/// Position of a key.
#[derive(Clone, Copy)]
pub(super) enum KeyPosition {
    /// After the key of a transition.
    After(u32),
    /// First key of an object that is the value of a transition, or an item of an array there.
    First(u32),
}

/// Policy that decides whether the string values of a key are interned. Reviewed repeatedly: interning costs a lookup,
/// and memory if the string is unique.
#[derive(Clone, Copy, Debug)]
pub(super) struct InternPolicy {
    is_interning: bool,
    /// Strings until the next review.
    until_review: u32,
    /// New strings since the last review.
    new_strings: u32,
    /// Strings to skip after the next negative review.
    backoff: u32,
}

impl InternPolicy {
    /// Strings between two reviews.
    const TRIAL_LEN: u32 = 64;

    /// With more new strings than this between two reviews, the values are considered unique, such as ids or
    /// remarks.
    const MAX_NEW: u32 = 48;

    const NEW: InternPolicy = InternPolicy {
        is_interning: true,
        until_review: InternPolicy::TRIAL_LEN,
        new_strings: 0,
        backoff: 16 * InternPolicy::TRIAL_LEN,
    };

    /// Returns true if the next string should be interned.
    #[inline(always)]
    pub fn should_intern(&mut self) -> bool {
        if self.until_review == 0 {
            self.review();
        }
        self.until_review -= 1;
        self.is_interning
    }

    /// Counts a string that was not interned before.
    pub fn count_new(&mut self) {
        self.new_strings += 1;
    }

    #[inline(never)]
    fn review(&mut self) {
        self.is_interning = !self.is_interning || self.new_strings <= InternPolicy::MAX_NEW;
        self.new_strings = 0;
        self.until_review = InternPolicy::TRIAL_LEN;
        if !self.is_interning {
            self.until_review = self.backoff;
            self.backoff = self.backoff.saturating_mul(2);
        }
    }
}

/// The tree of transitions while a document is loaded.
#[derive(Debug)]
pub(super) struct Transitions {
    transitions: Vec<Transition>,
    /// By parent and symbol.
    table: HashTable<u32>,
    tokens: Vec<Token>,
    policies: Vec<InternPolicy>,
    /// The policy of a key: shared by all transitions with this key, so that rare shapes have no reviews of their own.
    policy_of_key: HashMap<u32, u32>,
    hasher: DefaultHashBuilder,
    /// By shape: the position of its values in the object as written; `NONE` if in the written order.
    orders: Vec<Option<Box<[u32]>>>,
}

impl Transitions {
    /// The root, before the first key.
    pub const ROOT: u32 = 0;

    pub fn new() -> Transitions {
        Transitions {
            transitions: vec![Transition::new(Symbol(NONE), NONE, 0)],
            table: HashTable::new(),
            tokens: vec![Token::NEVER],
            policies: Vec::new(),
            policy_of_key: HashMap::default(),
            hasher: DefaultHashBuilder::default(),
            orders: Vec::new(),
        }
    }

    /// Returns the token predicted at a position.
    #[inline(always)]
    fn predicted(&mut self, position: KeyPosition) -> &mut u32 {
        match position {
            KeyPosition::After(transition) => &mut self.transitions[transition as usize].next,
            KeyPosition::First(transition) => &mut self.transitions[transition as usize].inner,
        }
    }

    /// Matches the predicted key at a position. Returns its transition and the position after its colon.
    #[inline(always)]
    pub fn match_predicted(&mut self, position: KeyPosition, bytes: &[u8], at: usize) -> Option<(u32, usize)> {
        let predicted = *self.predicted(position);
        let token = &self.tokens[predicted as usize];
        token.match_end(bytes, at).map(|end| (token.transition, end))
    }

    /// As `match_predicted`, for the prediction before the current one.
    pub fn match_previous(&mut self, position: KeyPosition, bytes: &[u8], at: usize) -> Option<(u32, usize)> {
        let predicted = *self.predicted(position);
        let previous = self.tokens[predicted as usize].previous;
        let token = &mut self.tokens[previous as usize];
        let end = token.match_end(bytes, at)?;
        token.previous = predicted;
        let matched = (token.transition, end);
        *self.predicted(position) = previous;
        Some(matched)
    }

    /// Returns the intern policy of a transition.
    #[inline(always)]
    pub fn policy(&mut self, transition: u32) -> &mut InternPolicy {
        let mut policy = self.transitions[transition as usize].policy;
        if policy == NONE {
            policy = self.find_policy(transition);
        }
        &mut self.policies[policy as usize]
    }

    #[inline(never)]
    fn find_policy(&mut self, transition: u32) -> u32 {
        let transition = &mut self.transitions[transition as usize];
        transition.policy = *self.policy_of_key.entry(transition.symbol.0).or_insert(self.policies.len() as u32);
        if transition.policy as usize == self.policies.len() {
            self.policies.push(InternPolicy::NEW);
        }
        transition.policy
    }

    /// Returns the order of the values of a shape if it is not the written one.
    pub fn order(&self, shape: ShapeId) -> Option<&[u32]> {
        self.orders[shape.0 as usize].as_deref()
    }

    /// Returns the transition of `symbol` after `parent`.
    pub fn find_or_add(&mut self, parent: u32, symbol: Symbol) -> u32 {
        let Transitions { transitions, table, hasher, .. } = self;
        let hash = hasher.hash_one((parent, symbol.0));
        let same = |id: &u32| transitions[*id as usize].parent == parent && transitions[*id as usize].symbol == symbol;
        table.find(hash, same).copied().unwrap_or_else(|| self.add(parent, symbol, hash))
    }

    /// Predicts a key at a position from its transition and its bytes. A key gets a token on its second use.
    pub fn predict(&mut self, position: KeyPosition, transition: u32, key: &[u8]) {
        let known = &mut self.transitions[transition as usize].token;
        match *known {
            NONE => *known = 0,
            0 => {
                let Some(token) = Token::new(key, transition) else { return };
                *known = self.tokens.len() as u32;
                self.tokens.push(token);
            }
            _ => {}
        }
        // The token `NEVER` is shared by all positions: its `previous` must stay unset.
        let token = *known;
        if token != 0 {
            let replaced = std::mem::replace(self.predicted(position), token);
            self.tokens[token as usize].previous = replaced;
        }
    }

    fn add(&mut self, parent: u32, symbol: Symbol, hash: u64) -> u32 {
        let Transitions { transitions, table, hasher, .. } = self;
        let id = transitions.len() as u32;
        transitions.push(Transition::new(symbol, parent, transitions[parent as usize].depth + 1));
        let key = |id: &u32| hasher.hash_one((transitions[*id as usize].parent, transitions[*id as usize].symbol.0));
        table.insert_unique(hash, id, key);
        id
    }

    /// Returns the shape of objects that end at a transition, if it is known and its values are in the written order.
    #[inline(always)]
    pub fn shape_in_written_order(&self, transition: u32) -> Option<ShapeId> {
        let shape = self.transitions[transition as usize].shape;
        (shape < REORDERED).then_some(ShapeId(shape))
    }

    /// Returns the shape of objects that end at a transition, and creates it on first use. `index` parses an
    /// array-index key.
    pub fn shape(&mut self, transition: u32, shapes: &mut Shapes, index: impl Fn(Symbol) -> Option<u32>) -> ShapeId {
        let known = self.transitions[transition as usize].shape;
        if known != NONE {
            return ShapeId(known & !REORDERED);
        }
        let written = self.keys(transition);
        let order = canonical_order(&written, index);
        let id = match &order {
            None => shapes.add(written.iter().copied()),
            Some(order) => shapes.add(order.iter().map(|at| written[*at as usize])),
        };
        self.transitions[transition as usize].shape = id.0 | if order.is_some() { REORDERED } else { 0 };
        self.orders.push(order);
        id
    }

    /// Returns the number of keys from the root to a transition.
    pub fn depth(&self, transition: u32) -> usize {
        self.transitions[transition as usize].depth as usize
    }

    /// Returns the last key of a transition other than the root.
    pub fn symbol(&self, transition: u32) -> Symbol {
        self.transitions[transition as usize].symbol
    }

    /// Returns the keys from the root to a transition, as written.
    fn keys(&self, transition: u32) -> Vec<Symbol> {
        let mut keys = Vec::with_capacity(self.transitions[transition as usize].depth as usize);
        let mut at = transition;
        while at != Transitions::ROOT {
            keys.push(self.transitions[at as usize].symbol);
            at = self.transitions[at as usize].parent;
        }
        keys.reverse();
        keys
    }
}

/// Returns the written position of each key in JavaScript's order, or `None` if that is the written order.
///
/// Array-index keys come first, ascending; a duplicate key keeps its first position and its last value.
fn canonical_order(written: &[Symbol], index: impl Fn(Symbol) -> Option<u32>) -> Option<Box<[u32]>> {
    let mut by_key: Vec<(Symbol, u32)> = written.iter().copied().zip(0..).collect();
    by_key.sort_unstable();
    // (rank of array-index keys or none, first position, last position) per distinct key
    let mut order: Vec<(Option<u32>, u32, u32)> = Vec::with_capacity(written.len());
    for group in by_key.chunk_by(|a, b| a.0 == b.0) {
        order.push((index(group[0].0), group[0].1, group[group.len() - 1].1));
    }
    order.sort_unstable_by_key(|(rank, first, _)| (rank.is_none(), *rank, *first));
    let in_order = order.len() == written.len() && order.iter().zip(0..).all(|((_, first, _), at)| *first == at);
    (!in_order).then(|| order.iter().map(|(_, _, last)| *last).collect())
}

/// Returns the sixteen bytes from a position on.
#[inline(always)]
pub(super) fn block(bytes: &[u8], at: usize) -> Option<[u8; 16]> {
    bytes.get(at..)?.first_chunk().copied()
}
