//! Embedder with batching, validation and a cache of recent vectors.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use super::{Embedder, Error};

/// Maximum number of texts per call of the model.
const BATCH_SIZE: usize = 64;

/// An embedding model with a cache of recent vectors.
///
/// Use one per partition: response times reveal whether a text is cached.
pub struct CachingEmbedder {
    model: Arc<dyn Embedder>,
    cache: Mutex<LruCache>,
}

impl CachingEmbedder {
    /// Creates an embedder that caches the vectors of `capacity` texts.
    pub fn new(model: Arc<dyn Embedder>, capacity: usize) -> Self {
        CachingEmbedder { model, cache: Mutex::new(LruCache { capacity, ..LruCache::default() }) }
    }

    /// Returns the length of every vector.
    pub fn dimensions(&self) -> usize {
        self.model.dimensions()
    }

    /// Returns a vector for each text, in order.
    ///
    /// # Errors
    /// As the model; also if it returns a wrong number of vectors, a wrong length, or a number that is not finite.
    pub fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, Error> {
        let mut vectors: Vec<Option<Vec<f32>>> = texts.iter().map(|text| self.cache().get(text)).collect();
        let unknown: Vec<usize> = (0..texts.len()).filter(|&at| vectors[at].is_none()).collect();
        for batch in unknown.chunks(BATCH_SIZE) {
            let missing: Vec<String> = batch.iter().map(|&at| texts[at].clone()).collect();
            for ((&at, text), vector) in batch.iter().zip(&missing).zip(self.embed_batch(&missing)?) {
                self.cache().put(text, &vector);
                vectors[at] = Some(vector);
            }
        }
        Ok(vectors.into_iter().flatten().collect())
    }

    fn embed_batch(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, Error> {
        let vectors = self.model.embed(texts)?;
        if vectors.len() != texts.len() {
            let detail = format!("the model returned {} vectors for {} texts", vectors.len(), texts.len());
            return Err(Error::unavailable(detail));
        }
        let expected = self.dimensions();
        if let Some(vector) = vectors.iter().find(|vector| vector.len() != expected) {
            return Err(Error::Dimensions { expected, found: vector.len() });
        }
        let finite = vectors.iter().flatten().all(|x| x.is_finite());
        if finite { Ok(vectors) } else { Err(Error::unavailable("the model returned a number that is not finite")) }
    }

    fn cache(&self) -> std::sync::MutexGuard<'_, LruCache> {
        // Poisoning is ignored: every change is a single call, so the cache is consistent.
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Least-recently-used cache of vectors.
#[derive(Default)]
struct LruCache {
    capacity: usize,
    clock: u64,
    vectors: HashMap<String, (u64, Vec<f32>)>,
    /// Texts by the time of their last use.
    times: BTreeMap<u64, String>,
}

impl LruCache {
    fn get(&mut self, text: &str) -> Option<Vec<f32>> {
        let (time, vector) = self.vectors.get_mut(text)?;
        let name = self.times.remove(time)?;
        self.clock += 1;
        *time = self.clock;
        self.times.insert(self.clock, name);
        Some(vector.clone())
    }

    fn put(&mut self, text: &str, vector: &[f32]) {
        if self.capacity == 0 || self.vectors.contains_key(text) {
            return;
        }
        if self.vectors.len() >= self.capacity
            && let Some((_, oldest)) = self.times.pop_first()
        {
            self.vectors.remove(&oldest);
        }
        self.clock += 1;
        self.times.insert(self.clock, text.to_owned());
        self.vectors.insert(text.to_owned(), (self.clock, vector.to_vec()));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Model that returns vectors of a fixed length and counts the texts it embeds.
    struct Counting {
        length: usize,
        embedded: AtomicUsize,
    }

    impl Embedder for Counting {
        fn dimensions(&self) -> usize {
            2
        }

        fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, Error> {
            assert!(texts.len() <= BATCH_SIZE);
            self.embedded.fetch_add(texts.len(), Ordering::Relaxed);
            Ok(texts.iter().map(|text| vec![text.len() as f32; self.length]).collect())
        }
    }

    fn counting(length: usize, capacity: usize) -> (Arc<Counting>, CachingEmbedder) {
        let model = Arc::new(Counting { length, embedded: AtomicUsize::new(0) });
        (Arc::clone(&model), CachingEmbedder::new(model, capacity))
    }

    fn texts(range: std::ops::Range<usize>) -> Vec<String> {
        range.map(|length| "x".repeat(length)).collect()
    }

    #[test]
    fn order_is_kept_over_batches() -> Result<(), Error> {
        let (_, encoder) = counting(2, 0);
        let vectors = encoder.embed(&texts(0..200))?;
        assert!(vectors.iter().enumerate().all(|(at, vector)| vector[0] == at as f32));
        Ok(())
    }

    #[test]
    fn recent_texts_are_not_embedded_again() -> Result<(), Error> {
        let (model, encoder) = counting(2, 2);
        for (range, asked) in [(0..1, 1), (1..2, 2), (0..1, 2), (2..3, 3), (0..1, 3), (1..2, 4)] {
            encoder.embed(&texts(range))?;
            assert_eq!(model.embedded.load(Ordering::Relaxed), asked);
        }
        Ok(())
    }

    #[test]
    fn a_wrong_vector_length_is_an_error() {
        let (_, encoder) = counting(3, 2);
        assert_eq!(encoder.embed(&texts(0..1)), Err(Error::Dimensions { expected: 2, found: 3 }));
    }
}
