//! The built-in model: feature hashing of terms and character n-grams into 512 numbers.
//!
//! K. Weinberger and others: Feature Hashing for Large Scale Multitask Learning, 2009. The model is lexical: `isolate` and
//! `isolation` are similar, `pump` and `machine` are not. It needs no file, and its vectors must be the same on every
//! machine and in every version, because they are stored.

use std::sync::Arc;

use super::{Calibration, Embedder, Error, Model, normalize};
use crate::analyzer;

const DIMENSIONS: usize = 512;

/// The `hash-512` model.
pub const HASH_512: Model = Model {
    name: "hash-512",
    dimensions: Some(DIMENSIONS),
    summary: "built in: terms and character n-grams hashed into 512 dimensions; compares spelling, not meaning",
    calibration: Calibration::unmeasured(0.0),
    open: |_| Ok(Arc::new(HashModel)),
};

/// Weight of an n-gram relative to its term.
const NGRAM_WEIGHT: f64 = 0.5;

struct HashModel;

impl Embedder for HashModel {
    fn dimensions(&self) -> usize {
        DIMENSIONS
    }

    fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, Error> {
        Ok(texts.iter().map(|text| embed(text)).collect())
    }
}

fn embed(text: &str) -> Vec<f32> {
    let mut terms = analyzer::terms(text);
    // Sorted, so that the floating-point sums are reproducible.
    terms.sort_unstable();
    let (mut ngrams, mut sums) = (CharNgrams::default(), [0.0f64; DIMENSIONS]);
    for group in terms.chunk_by(|a, b| a == b) {
        // The weight grows with the square root of the frequency.
        let weight = (group.len() as f64).sqrt();
        add(b'w', &group[0], weight, &mut sums);
        ngrams.for_each(&group[0], |ngram| add(b'p', ngram, weight * NGRAM_WEIGHT, &mut sums));
    }
    let mut vector: Vec<f32> = sums.iter().map(|sum| *sum as f32).collect();
    normalize(&mut vector);
    vector
}

fn add(kind: u8, feature: &str, weight: f64, sums: &mut [f64; DIMENSIONS]) {
    let hash = hash(kind, feature);
    let sign = if hash >> 63 == 0 { 1.0 } else { -1.0 };
    sums[hash as usize % DIMENSIONS] += sign * weight;
}

/// FNV-1a with the finalizer of MurmurHash3, because the low bits of FNV are weak.
fn hash(kind: u8, feature: &str) -> u64 {
    let fnv = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = [kind].iter().chain(feature.as_bytes()).fold(0xcbf2_9ce4_8422_2325, |hash, byte| fnv(hash, *byte));
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}

/// Character n-grams of length 3 and 4 of a term with marked ends. The buffers are reused between terms.
#[derive(Default)]
struct CharNgrams {
    marked: String,
    starts: Vec<usize>,
}

impl CharNgrams {
    fn for_each(&mut self, term: &str, mut action: impl FnMut(&str)) {
        self.marked.clear();
        self.marked.extend(["<", term, ">"]);
        self.starts.clear();
        self.starts.extend(self.marked.char_indices().map(|(index, _)| index).chain([self.marked.len()]));
        for length in [3, 4] {
            self.starts.windows(length + 1).for_each(|window| action(&self.marked[window[0]..window[length]]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cosine(a: &str, b: &str) -> f32 {
        embed(a).iter().zip(embed(b)).map(|(a, b)| a * b).sum()
    }

    #[test]
    fn vectors_are_stable() {
        let vector = embed("PSV-2015A is set at 38.5 barg");
        let positions: Vec<usize> = (0..DIMENSIONS).filter(|&index| vector[index].abs() > 0.2).collect();
        assert_eq!(format!("{positions:?}"), EXPECTED_POSITIONS);
    }

    const EXPECTED_POSITIONS: &str = "[37, 39, 82, 132, 142, 289, 294, 304, 311, 330, 347]";

    #[test]
    fn vectors_have_length_one_and_empty_texts_zero() {
        let square = |text: &str| embed(text).iter().map(|x| x * x).sum::<f32>();
        assert!((square("relief valve") - 1.0).abs() < 1e-5);
        assert_eq!((square(""), square("of the")), (0.0, 0.0));
    }

    #[test]
    fn similar_spellings_have_similar_vectors() {
        assert!(cosine("isolate the pump", "isolation of pumps") > 0.4);
        assert!(cosine("isolate the pump", "wind speed at night") < 0.2);
        assert!((cosine("PSV-2015A", "PSV 2015 A") - 1.0).abs() < 0.2);
    }
}
