//! Ways to read a drawing, which the load group compares.

use crate::Result;
use crate::digest::Digest;
use crate::measure::{Contestant, timed};
use crate::memory::{Memory, measure_allocations};

/// Method to read a drawing. Its input is prepared beforehand; freeing is not measured.
pub struct Reader<'a> {
    pub name: &'static str,
    measure_time: Box<dyn Fn() -> Result<f64> + 'a>,
    measure_memory: Box<dyn Fn() -> Result<Memory> + 'a>,
}

impl<'a> Reader<'a> {
    pub fn new<I, T>(
        name: &'static str,
        prepare: impl Fn() -> I + Copy + 'a,
        read: impl Fn(I) -> Result<T> + Copy + 'a,
    ) -> Self {
        let measure_time = move || {
            let input = prepare();
            let (value, seconds) = timed(|| read(input));
            value.map(|_| seconds)
        };
        let measure_memory = move || {
            let input = prepare();
            let (value, memory) = measure_allocations(|| read(input));
            value.map(|_| memory)
        };
        Self { name, measure_time: Box::new(measure_time), measure_memory: Box::new(measure_memory) }
    }

    /// Returns the memory that one reading takes.
    pub fn memory(&self) -> Result<Memory> {
        (self.measure_memory)()
    }
}

impl Contestant for Reader<'_> {
    fn name(&self) -> &str {
        self.name
    }

    fn digest(&mut self) -> Result<Digest> {
        Digest::of(b"1")
    }

    fn run(&mut self, times: u32) -> Result<f64> {
        (0..times).map(|_| (self.measure_time)()).sum()
    }
}
