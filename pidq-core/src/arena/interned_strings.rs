//! Interned strings, compared by number.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::Text;

/// Number of an interned string.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) struct Symbol(pub u32);

/// The interned strings of a document: keys and repeated values. The hash is seeded because the input may be untrusted.
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

    /// Returns the symbol of `text`; `resolve` returns the string of a symbol.
    pub fn find<'t>(&self, text: &str, resolve: impl Fn(Symbol) -> &'t str) -> Option<Symbol> {
        let hash = self.hasher.hash_one(text);
        self.table.find(hash, |id| resolve(Symbol(*id)) == text).map(|id| Symbol(*id))
    }

    /// Interns `text`: returns its symbol, and true if it is new. `resolve` returns the value of a stored string.
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

/// Cache of recent short strings: most lookups end here, with one comparison and without hashing.
///
/// The key is the bytes of the string, padded with zeros: JSON strings contain no zero byte. The index is a weak hash;
/// collisions, even deliberate ones, only cost the lookup in the table.
#[derive(Debug)]
pub(super) struct SymbolCache(Vec<(u128, Symbol)>);

impl SymbolCache {
    const LEN: usize = 256;

    pub fn new() -> SymbolCache {
        SymbolCache(vec![(u128::MAX, Symbol(u32::MAX)); SymbolCache::LEN])
    }

    #[inline(always)]
    pub fn find(&self, text: u128) -> Option<Symbol> {
        let (known, symbol) = self.0[SymbolCache::index(text)];
        (known == text).then_some(symbol)
    }

    pub fn insert(&mut self, text: u128, symbol: Symbol) {
        self.0[SymbolCache::index(text)] = (text, symbol);
    }

    fn index(text: u128) -> usize {
        let (low, high) = (text as u64, (text >> 64) as u64);
        let mixed = low.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ high.wrapping_mul(0xC2B2_AE3D_27D4_EB4F);
        (mixed >> 56) as usize
    }
}
