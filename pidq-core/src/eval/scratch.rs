//! The memory of a run.

use bumpalo::Bump;
use hashbrown::DefaultHashBuilder;

/// The working memory of runs. What a run builds lives here and is freed at once.
///
/// Reuse one for many runs ([`Scratch::reset`]): touching fresh memory costs more than filling it.
#[derive(Default)]
pub struct Scratch {
    bump: Bump,
    hasher: DefaultHashBuilder,
}

impl Scratch {
    /// An empty scratch. Takes memory when it is first used.
    pub fn new() -> Scratch {
        Scratch::default()
    }

    /// Frees what earlier runs have built, and keeps the memory for the next.
    pub fn reset(&mut self) {
        self.bump.reset();
    }

    /// Bytes taken from the system.
    pub fn size(&self) -> usize {
        self.bump.allocated_bytes()
    }

    /// The hash of the keys that live here.
    pub(crate) fn hasher(&self) -> &DefaultHashBuilder {
        &self.hasher
    }

    /// Lets the scratch grow to `bytes` at most; it keeps what it has.
    pub(crate) fn limit(&self, bytes: usize) {
        self.bump.set_allocation_limit(Some(bytes));
    }

    #[inline]
    pub(crate) fn slice<T: Copy>(&self, items: &[T]) -> Option<&[T]> {
        if items.is_empty() {
            return Some(&[]);
        }
        self.bump.try_alloc_slice_copy(items).ok().map(|items| &*items)
    }

    /// So many values, each made from its place.
    pub(crate) fn slice_by<T: Copy>(&self, len: usize, make: impl FnMut(usize) -> T) -> Option<&[T]> {
        self.bump.try_alloc_slice_fill_with(len, make).ok().map(|items| &*items)
    }

    /// Room for `count` items, to be written.
    pub(crate) fn slots<T: Copy>(&self, count: usize, start: T) -> Option<&mut [T]> {
        self.bump.try_alloc_slice_fill_copy(count, start).ok()
    }

    pub(crate) fn text(&self, text: &str) -> Option<&str> {
        self.bump.try_alloc_str(text).ok().map(|text| &*text)
    }

    #[inline]
    pub(crate) fn one<T: Copy>(&self, value: T) -> Option<&T> {
        self.bump.try_alloc(value).ok().map(|value| &*value)
    }
}

impl std::fmt::Debug for Scratch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Scratch({} bytes)", self.size())
    }
}
