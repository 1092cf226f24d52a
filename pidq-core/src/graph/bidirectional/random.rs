//! Pseudorandom numbers of tests: the same in every run (xorshift, G. Marsaglia, Journal of Statistical Software 8 (14),
//! 2003).

/// Generator; the seed must not be 0.
pub(crate) struct Rng(pub u64);

impl Rng {
    /// Returns a number below a bound.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }

    /// Returns an index below a length.
    pub fn index(&mut self, length: usize) -> usize {
        self.below(length as u64) as usize
    }
}
