//! Working memory of runs.

use bumpalo::Bump;
use hashbrown::DefaultHashBuilder;

/// Working memory of runs: an arena for everything that a run builds, freed at once.
///
/// Reuse one for many runs ([`Scratch::reset`]): touching fresh memory costs more than filling it.
#[derive(Default)]
pub struct Scratch {
    bump: Bump,
    hasher: DefaultHashBuilder,
}

impl Scratch {
    /// Creates an empty scratch. Allocates memory on first use.
    pub fn new() -> Scratch {
        Scratch::default()
    }

    /// Frees everything that earlier runs built, and keeps the memory for the next one.
    pub fn reset(&mut self) {
        self.bump.reset();
    }

    /// Returns the number of bytes allocated.
    pub fn size(&self) -> usize {
        self.bump.allocated_bytes()
    }

    /// The hasher of the key indexes stored here.
    pub(crate) fn hasher(&self) -> &DefaultHashBuilder {
        &self.hasher
    }

    /// Limits the size of the scratch to `bytes`. Memory already allocated stays.
    pub(crate) fn limit(&self, bytes: usize) {
        self.bump.set_allocation_limit(Some(bytes));
    }

    #[inline]
    pub(crate) fn alloc_slice<T: Copy>(&self, items: &[T]) -> Option<&[T]> {
        if items.is_empty() {
            return Some(&[]);
        }
        self.bump.try_alloc_slice_copy(items).ok().map(|items| &*items)
    }

    /// Allocates `len` values, each computed from its index.
    pub(crate) fn alloc_slice_from_fn<T: Copy>(&self, len: usize, make: impl FnMut(usize) -> T) -> Option<&[T]> {
        self.bump.try_alloc_slice_fill_with(len, make).ok().map(|items| &*items)
    }

    /// Allocates `count` copies of a value, to be overwritten.
    pub(crate) fn alloc_slice_filled<T: Copy>(&self, count: usize, start: T) -> Option<&mut [T]> {
        self.bump.try_alloc_slice_fill_copy(count, start).ok()
    }

    pub(crate) fn alloc_str(&self, text: &str) -> Option<&str> {
        self.bump.try_alloc_str(text).ok().map(|text| &*text)
    }

    #[inline]
    pub(crate) fn alloc<T: Copy>(&self, value: T) -> Option<&T> {
        self.bump.try_alloc(value).ok().map(|value| &*value)
    }
}

impl std::fmt::Debug for Scratch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Scratch({} bytes)", self.size())
    }
}
