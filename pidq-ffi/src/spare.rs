//! Memory of earlier results for later ones: touching fresh memory takes several times as long as writing to it.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Memory that waits to be used again.
pub struct Spare<T>(Mutex<Vec<Vec<T>>>);

/// Truth values of columns, and bits of them.
pub static BOOLS: Spare<bool> = Spare::new();
/// Texts of columns.
pub static BYTES: Spare<u8> = Spare::new();
/// Where texts begin.
pub static OFFSETS: Spare<i32> = Spare::new();
/// Whole numbers.
pub static INTEGERS: Spare<i64> = Spare::new();
/// Numbers.
pub static REALS: Spare<f64> = Spare::new();

/// So many pieces of memory wait.
const PIECES: usize = 16;

/// All pieces of a kind together are no larger than this.
const MOST: usize = 32 << 20;

/// Smaller pieces are fresh as fast.
const LEAST: usize = 64 << 10;

impl<T> Spare<T> {
    /// Nothing yet.
    pub const fn new() -> Spare<T> {
        Spare(Mutex::new(Vec::new()))
    }

    fn pieces(&self) -> MutexGuard<'_, Vec<Vec<T>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Room for so many items, if memory waits that is neither too small nor much too large. What was in it is still
    /// there.
    pub fn take(&self, room: usize) -> Vec<T> {
        if room * size_of::<T>() >= LEAST {
            let mut pieces = self.pieces();
            let fits = |piece: &Vec<T>| (room..=4 * room).contains(&piece.capacity());
            if let Some(at) = pieces.iter().position(fits) {
                return pieces.remove(at);
            }
        }
        Vec::with_capacity(room)
    }

    /// Keeps memory for later. Where there is no room for it, what has waited longest goes.
    pub fn put_back(&self, piece: Vec<T>) {
        let size = |piece: &Vec<T>| piece.capacity() * size_of::<T>();
        if !(LEAST..=MOST).contains(&size(&piece)) {
            return;
        }
        let mut pieces = self.pieces();
        pieces.push(piece);
        while pieces.len() > PIECES || pieces.iter().map(size).sum::<usize>() > MOST {
            drop(pieces.remove(0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_comes_back_within_bounds() {
        let spare: Spare<u64> = Spare::new();
        spare.put_back(Vec::with_capacity(100_000));
        assert_eq!(spare.take(500_000).capacity(), 500_000);
        assert_eq!(spare.take(5).capacity(), 5);
        assert_eq!(spare.take(50_000).capacity(), 100_000);
        (0..40).for_each(|_| spare.put_back(Vec::with_capacity(10_000)));
        spare.put_back(Vec::with_capacity(MOST));
        assert_eq!(spare.pieces().len(), PIECES);
    }
}
