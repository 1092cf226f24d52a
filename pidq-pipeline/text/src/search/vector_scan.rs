//! Nearest-vector scan: scores all vectors quantized to bytes, then rescores the best ones exactly.
//!
//! An exact scan is limited by memory bandwidth; bytes need a quarter of it.

use std::cmp::Ordering;

use super::top_k::TopK;

/// Ratio of rescored to returned vectors, so that quantization loses none of the best.
const RESCORE_FACTOR: usize = 5;
const MIN_RESCORED: usize = 64;

/// Vectors of one length by slot, exact and quantized.
#[derive(Debug, Default)]
pub struct VectorTable {
    dimensions: usize,
    exact: Vec<f32>,
    /// Quantized numbers plus 128, so that widening needs no sign extension.
    quantized: Vec<u8>,
    /// Quantization step of each vector.
    steps: Vec<f32>,
    /// Sums of the vectors that are not removed, in steps of [`SUM_STEP`]. Integers, because the sum must not depend on
    /// the order of changes.
    sums: Vec<i64>,
    /// Number of vectors that are not removed.
    count: usize,
}

/// Precision of the sums of vectors.
const SUM_STEP: f64 = 1e-9;

impl VectorTable {
    pub fn new(dimensions: usize) -> Self {
        VectorTable { dimensions, sums: vec![0; dimensions], ..VectorTable::default() }
    }

    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Returns the memory use in bytes.
    pub fn bytes(&self) -> usize {
        let sums = self.sums.capacity() * size_of::<i64>();
        (self.exact.capacity() + self.steps.capacity()) * size_of::<f32>() + self.quantized.capacity() + sums
    }

    /// Adds a vector, which must have the right length.
    pub fn push(&mut self, vector: &[f32]) {
        let step = max_abs(vector) / 127.0;
        let quantize = |x: &f32| if step > 0.0 { ((x / step).round() + 128.0) as u8 } else { 128 };
        self.quantized.extend(vector.iter().map(quantize));
        self.exact.extend_from_slice(vector);
        self.steps.push(step);
        self.sums.iter_mut().zip(vector).for_each(|(sum, x)| *sum = sum.saturating_add(sum_steps(*x)));
        self.count += 1;
    }

    /// Removes a vector from the mean. Its slot keeps it.
    pub fn remove(&mut self, slot: u32) {
        let start = slot as usize * self.dimensions;
        let vector = &self.exact[start..start + self.dimensions];
        self.sums.iter_mut().zip(vector).for_each(|(sum, x)| *sum = sum.saturating_sub(sum_steps(*x)));
        self.count -= 1;
    }

    /// Returns the mean dot product of a vector and those that are not removed.
    pub fn mean_similarity(&self, vector: &[f32]) -> f64 {
        let sum: f64 = self.sums.iter().zip(vector).map(|(sum, x)| *sum as f64 * f64::from(*x)).sum();
        sum * SUM_STEP / self.count.max(1) as f64
    }

    /// Returns the vector of a slot.
    pub fn get(&self, slot: u32) -> &[f32] {
        let start = slot as usize * self.dimensions;
        &self.exact[start..start + self.dimensions]
    }

    /// Returns the dot product of a vector and that of a slot: their cosine, if both have length 1.
    pub fn similarity(&self, slot: u32, vector: &[f32]) -> f64 {
        f64::from(dot(self.get(slot), vector))
    }

    /// Returns the nearest accepted slots, best first.
    pub fn nearest(
        &self,
        vector: &[f32],
        limit: usize,
        accepts: impl Fn(u32) -> bool,
        tie_break: impl Fn(u32, u32) -> Ordering,
    ) -> Vec<(f64, u32)> {
        if self.dimensions == 0 || vector.len() != self.dimensions {
            return Vec::new();
        }
        let mut exact = TopK::new(limit, &tie_break);
        for (_, slot) in
            self.nearest_quantized(vector, limit.saturating_mul(RESCORE_FACTOR).max(MIN_RESCORED), accepts, &tie_break)
        {
            exact.offer(self.similarity(slot, vector), slot);
        }
        exact.sorted()
    }

    fn nearest_quantized(
        &self,
        vector: &[f32],
        limit: usize,
        accepts: impl Fn(u32) -> bool,
        tie_break: impl Fn(u32, u32) -> Ordering,
    ) -> Vec<(f64, u32)> {
        let query = quantize_query(vector);
        let shift = 128 * query.iter().map(|&x| i32::from(x)).sum::<i32>();
        let mut best = TopK::new(limit, tie_break);
        for ((bytes, step), slot) in self.quantized.chunks_exact(self.dimensions).zip(&self.steps).zip(0..) {
            let score = (quantized_dot(bytes, &query) - shift) as f32 * step;
            if accepts(slot) {
                best.offer(f64::from(score), slot);
            }
        }
        best.sorted()
    }
}

fn sum_steps(x: f32) -> i64 {
    (f64::from(x) / SUM_STEP) as i64
}

fn max_abs(vector: &[f32]) -> f32 {
    vector.iter().fold(0.0, |max_abs: f32, x| max_abs.max(x.abs()))
}

/// Quantizes a query as finely as 32-bit sums of products with bytes allow.
fn quantize_query(vector: &[f32]) -> Vec<i16> {
    let max_steps = (i32::MAX as usize / (256 * vector.len().max(1))).clamp(1, 4095) as f32;
    let step = max_abs(vector) / max_steps;
    vector.iter().map(|x| if step > 0.0 { (x / step).round() as i16 } else { 0 }).collect()
}

// Hot: runs once per chunk; written so that it compiles to multiply-and-add of 16-bit integers.
fn quantized_dot(bytes: &[u8], query: &[i16]) -> i32 {
    bytes.iter().zip(query).map(|(&byte, &x)| i32::from(i16::from(byte)) * i32::from(x)).sum()
}

/// Returns the dot product, in sixteen independent sums for parallelism. The order is fixed, so the result is
/// reproducible bit for bit.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let (a, tail_a) = a.as_chunks::<16>();
    let (b, tail_b) = b.as_chunks::<16>();
    let mut sums = [0.0f32; 16];
    for (a, b) in a.iter().zip(b) {
        for i in 0..16 {
            sums[i] += a[i] * b[i];
        }
    }
    sums.iter().sum::<f32>() + tail_a.iter().zip(tail_b).map(|(a, b)| a * b).sum::<f32>()
}
