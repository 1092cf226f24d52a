//! The built-in model: words and pieces of words, hashed into 512 numbers.
//!
//! K. Weinberger and others: Feature Hashing for Large Scale Multitask Learning, 2009. It is lexical: it knows that
//! `isolate` and `isolation` share letters, and not that a pump is a machine. It needs no file and gives the same
//! numbers on every machine and in every version: they are stored.

use std::sync::Arc;

use super::{Embedder, Error, Model, normalize};
use crate::analyser;

const DIMENSIONS: usize = 512;

/// The row.
pub const HASH_512: Model = Model {
    name: "hash-512",
    dimensions: Some(DIMENSIONS),
    summary: "built in: words and their pieces hashed into 512 numbers; compares spelling, not meaning",
    weight: 0.3,
    open: |_| Ok(Arc::new(Hash)),
};

/// How much a piece of three or four letters counts beside its word.
const PIECE: f64 = 0.5;

struct Hash;

impl Embedder for Hash {
    fn dimensions(&self) -> usize {
        DIMENSIONS
    }

    fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, Error> {
        Ok(texts.iter().map(|text| embed(text)).collect())
    }
}

fn embed(text: &str) -> Vec<f32> {
    let mut terms = analyser::terms(text);
    // In order, so that sums of rounded numbers are the same every time.
    terms.sort_unstable();
    let (mut pieces, mut sums) = (Pieces::default(), [0.0f64; DIMENSIONS]);
    for same in terms.chunk_by(|a, b| a == b) {
        // A word that comes often says more, but not so many times more.
        let weight = (same.len() as f64).sqrt();
        add(b'w', &same[0], weight, &mut sums);
        pieces.of(&same[0], |piece| add(b'p', piece, weight * PIECE, &mut sums));
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

/// FNV-1a, stirred at the end (MurmurHash3's finish), since FNV's low bits alone are weak.
fn hash(kind: u8, feature: &str) -> u64 {
    let fnv = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = [kind].iter().chain(feature.as_bytes()).fold(0xcbf2_9ce4_8422_2325, |hash, byte| fnv(hash, *byte));
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}

/// Three and four characters of a word each, with its ends marked. Keeps its room from word to word.
#[derive(Default)]
struct Pieces {
    marked: String,
    starts: Vec<usize>,
}

impl Pieces {
    fn of(&mut self, term: &str, mut take: impl FnMut(&str)) {
        self.marked.clear();
        self.marked.extend(["<", term, ">"]);
        self.starts.clear();
        self.starts.extend(self.marked.char_indices().map(|(at, _)| at).chain([self.marked.len()]));
        for length in [3, 4] {
            self.starts.windows(length + 1).for_each(|window| take(&self.marked[window[0]..window[length]]));
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
    fn numbers_never_change() {
        let vector = embed("PSV-2015A is set at 38.5 barg");
        let places: Vec<usize> = (0..DIMENSIONS).filter(|&at| vector[at].abs() > 0.2).collect();
        assert_eq!(format!("{places:?}"), PLACES);
    }

    const PLACES: &str = "[37, 39, 82, 132, 142, 289, 294, 304, 311, 330, 347]";

    #[test]
    fn vectors_have_length_one_and_nothing_has_none() {
        let square = |text: &str| embed(text).iter().map(|x| x * x).sum::<f32>();
        assert!((square("relief valve") - 1.0).abs() < 1e-5);
        assert_eq!((square(""), square("of the")), (0.0, 0.0));
    }

    #[test]
    fn like_spelling_is_near() {
        assert!(cosine("isolate the pump", "isolation of pumps") > 0.4);
        assert!(cosine("isolate the pump", "wind speed at night") < 0.2);
        assert!((cosine("PSV-2015A", "PSV 2015 A") - 1.0).abs() < 0.2);
    }
}
