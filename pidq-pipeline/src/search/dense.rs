//! Vectors near a vector: all are looked at coarsely, in bytes, and the best again exactly.
//!
//! A byte a number is a quarter of what must be read from memory, which is what an exact scan waits for.

use std::cmp::Ordering;

use super::best::Best;

/// How many more are looked at exactly than are wanted, so that a coarse look loses none of them.
const SPARE: usize = 5;
const AT_LEAST: usize = 64;

/// Vectors of one length, by slot.
#[derive(Debug, Default)]
pub struct Vectors {
    dimensions: usize,
    exact: Vec<f32>,
    /// 128 more than the number in steps, so that widening needs no sign.
    coarse: Vec<u8>,
    /// How great a step of each vector is.
    steps: Vec<f32>,
}

impl Vectors {
    pub fn new(dimensions: usize) -> Self {
        Vectors { dimensions, ..Vectors::default() }
    }

    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// How many bytes they take.
    pub fn bytes(&self) -> usize {
        (self.exact.capacity() + self.steps.capacity()) * size_of::<f32>() + self.coarse.capacity()
    }

    /// Adds a vector of the right length.
    pub fn push(&mut self, vector: &[f32]) {
        let step = greatest(vector) / 127.0;
        let coarse = |x: &f32| if step > 0.0 { ((x / step).round() + 128.0) as u8 } else { 128 };
        self.coarse.extend(vector.iter().map(coarse));
        self.exact.extend_from_slice(vector);
        self.steps.push(step);
    }

    /// The vector of a slot.
    pub fn get(&self, slot: u32) -> &[f32] {
        let start = slot as usize * self.dimensions;
        &self.exact[start..start + self.dimensions]
    }

    /// How near a vector is to that of a slot: their cosine, if both have length 1.
    pub fn nearness(&self, slot: u32, vector: &[f32]) -> f64 {
        f64::from(dot(self.get(slot), vector))
    }

    /// The nearest of the slots that are wanted, best first.
    pub fn nearest(
        &self,
        vector: &[f32],
        most: usize,
        wanted: impl Fn(u32) -> bool,
        tie: impl Fn(u32, u32) -> Ordering,
    ) -> Vec<(f64, u32)> {
        if self.dimensions == 0 || vector.len() != self.dimensions {
            return Vec::new();
        }
        let mut exact = Best::new(most, &tie);
        for (_, slot) in self.coarsely_nearest(vector, most.saturating_mul(SPARE).max(AT_LEAST), wanted, &tie) {
            exact.offer(self.nearness(slot, vector), slot);
        }
        exact.sorted()
    }

    fn coarsely_nearest(
        &self,
        vector: &[f32],
        most: usize,
        wanted: impl Fn(u32) -> bool,
        tie: impl Fn(u32, u32) -> Ordering,
    ) -> Vec<(f64, u32)> {
        let question = coarse(vector);
        let shift = 128 * question.iter().map(|&x| i32::from(x)).sum::<i32>();
        let mut best = Best::new(most, tie);
        for ((bytes, step), slot) in self.coarse.chunks_exact(self.dimensions).zip(&self.steps).zip(0..) {
            let score = (coarse_dot(bytes, &question) - shift) as f32 * step;
            if wanted(slot) {
                best.offer(f64::from(score), slot);
            }
        }
        best.sorted()
    }
}

fn greatest(vector: &[f32]) -> f32 {
    vector.iter().fold(0.0, |greatest: f32, x| greatest.max(x.abs()))
}

/// A question in as many steps as sums of products with bytes have room for.
fn coarse(vector: &[f32]) -> Vec<i16> {
    let room = (i32::MAX as usize / (256 * vector.len().max(1))).clamp(1, 4095) as f32;
    let step = greatest(vector) / room;
    vector.iter().map(|x| if step > 0.0 { (x / step).round() as i16 } else { 0 }).collect()
}

// Hot: runs once per chunk, and is written so that it is compiled to multiply-and-add of 16-bit numbers.
fn coarse_dot(bytes: &[u8], question: &[i16]) -> i32 {
    bytes.iter().zip(question).map(|(&byte, &x)| i32::from(i16::from(byte)) * i32::from(x)).sum()
}

/// The sum of products, in sixteen sums so that no product waits for another. The order is fixed: so are the bits.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let (a, rest_of_a) = a.as_chunks::<16>();
    let (b, rest_of_b) = b.as_chunks::<16>();
    let mut sums = [0.0f32; 16];
    for (a, b) in a.iter().zip(b) {
        for at in 0..16 {
            sums[at] += a[at] * b[at];
        }
    }
    sums.iter().sum::<f32>() + rest_of_a.iter().zip(rest_of_b).map(|(a, b)| a * b).sum::<f32>()
}
