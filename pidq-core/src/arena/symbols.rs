//! Texts that are stored once and compared by number.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::Text;

/// The number of a text.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) struct Symbol(pub u32);

/// The texts of a document that are keys or repeat. The hash is seeded: the input may come from a stranger.
#[derive(Debug, Default)]
pub(super) struct Symbols {
    texts: Vec<Text>,
    table: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Symbols {
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    pub fn text(&self, symbol: Symbol) -> Text {
        self.texts[symbol.0 as usize]
    }

    /// The symbol of `text`; `resolve` gives the text of a symbol.
    pub fn find<'t>(&self, text: &str, resolve: impl Fn(Symbol) -> &'t str) -> Option<Symbol> {
        let hash = self.hasher.hash_one(text);
        self.table.find(hash, |id| resolve(Symbol(*id)) == text).map(|id| Symbol(*id))
    }

    /// The symbol of `text`, and whether it is new. `resolve` gives the text of a stored one.
    pub fn intern<'t>(&mut self, text: &str, stored: Text, resolve: impl Fn(Text) -> &'t str) -> (Symbol, bool) {
        let hash = self.hasher.hash_one(text);
        let Symbols { texts, table, hasher } = self;
        if let Some(id) = table.find(hash, |id| resolve(texts[*id as usize]) == text) {
            return (Symbol(*id), false);
        }
        let id = texts.len() as u32;
        texts.push(stored);
        table.insert_unique(hash, id, |id| hasher.hash_one(resolve(texts[*id as usize])));
        (Symbol(id), true)
    }

    pub fn shrink(&mut self) {
        self.texts.shrink_to_fit();
    }

    pub fn size(&self) -> usize {
        size_of_val(self.texts.as_slice()) + self.table.capacity() * (size_of::<u32>() + 1)
    }
}

/// The short texts that were met lately: most look-ups end here, with one compare and without hashing.
///
/// A text is known by its bytes, filled up with zeros: JSON has no zero in a text. A place is chosen by a weak hash,
/// which a stranger may make collide; that costs the detour over the table and no more.
#[derive(Debug)]
pub(super) struct Recent(Vec<(u128, Symbol)>);

impl Recent {
    const LEN: usize = 256;

    pub fn new() -> Recent {
        Recent(vec![(u128::MAX, Symbol(u32::MAX)); Recent::LEN])
    }

    #[inline(always)]
    pub fn find(&self, text: u128) -> Option<Symbol> {
        let (known, symbol) = self.0[Recent::place(text)];
        (known == text).then_some(symbol)
    }

    pub fn remember(&mut self, text: u128, symbol: Symbol) {
        self.0[Recent::place(text)] = (text, symbol);
    }

    fn place(text: u128) -> usize {
        let (low, high) = (text as u64, (text >> 64) as u64);
        let mixed = low.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ high.wrapping_mul(0xC2B2_AE3D_27D4_EB4F);
        (mixed >> 56) as usize
    }
}
