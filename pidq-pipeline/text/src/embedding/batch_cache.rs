//! Embedder with batching, validation and a cache of recent vectors.

use std::sync::Arc;

use quick_cache::sync::Cache;

use super::{Embedder, Error};

/// Maximum number of texts per call of the model.
const BATCH_SIZE: usize = 64;

/// An embedding model with a cache of recent vectors.
///
/// Use one per partition: response times reveal whether a text is cached.
pub struct CachingEmbedder {
    model: Arc<dyn Embedder>,
    cache: Option<Cache<String, Vec<f32>>>,
}

impl CachingEmbedder {
    /// Creates an embedder that caches the vectors of `capacity` texts; 0 disables the cache.
    pub fn new(model: Arc<dyn Embedder>, capacity: usize) -> Self {
        CachingEmbedder { model, cache: (capacity > 0).then(|| Cache::new(capacity)) }
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
        let mut vectors: Vec<Option<Vec<f32>>> = texts.iter().map(|text| self.cache.as_ref()?.get(text)).collect();
        let missing: Vec<usize> = (0..texts.len()).filter(|&index| vectors[index].is_none()).collect();
        for batch in missing.chunks(BATCH_SIZE) {
            let batch_texts: Vec<String> = batch.iter().map(|&index| texts[index].clone()).collect();
            let batch_vectors = self.embed_batch(&batch_texts)?;
            for ((&index, text), vector) in batch.iter().zip(batch_texts).zip(batch_vectors) {
                if let Some(cache) = &self.cache {
                    cache.insert(text, vector.clone());
                }
                vectors[index] = Some(vector);
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
        let are_finite = vectors.iter().flatten().all(|x| x.is_finite());
        if are_finite { Ok(vectors) } else { Err(Error::unavailable("the model returned a number that is not finite")) }
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
        let (_, embedder) = counting(2, 0);
        let vectors = embedder.embed(&texts(0..200))?;
        assert!(vectors.iter().enumerate().all(|(index, vector)| vector[0] == index as f32));
        Ok(())
    }

    #[test]
    fn recent_texts_are_not_embedded_again() -> Result<(), Error> {
        let (model, embedder) = counting(2, 2);
        for (range, expected) in [(0..1, 1), (1..2, 2), (0..1, 2), (2..3, 3), (0..1, 3), (1..2, 4)] {
            embedder.embed(&texts(range))?;
            assert_eq!(model.embedded.load(Ordering::Relaxed), expected);
        }
        Ok(())
    }

    #[test]
    fn a_wrong_vector_length_is_an_error() {
        let (_, embedder) = counting(3, 2);
        assert_eq!(embedder.embed(&texts(0..1)), Err(Error::Dimensions { expected: 2, found: 3 }));
    }
}
