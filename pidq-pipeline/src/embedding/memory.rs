//! A model asked in batches, checked, and not asked twice for what it said a moment ago.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use super::{Embedder, Error};

/// How many texts a model is given at once.
const BATCH: usize = 64;

/// A model that remembers its latest answers.
///
/// Keep one for each partition: how fast it answers tells whether a text was asked before.
pub struct Encoder {
    model: Arc<dyn Embedder>,
    latest: Mutex<Latest>,
}

impl Encoder {
    /// A model that remembers the vectors of so many texts.
    pub fn new(model: Arc<dyn Embedder>, remembered: usize) -> Self {
        Encoder { model, latest: Mutex::new(Latest { most: remembered, ..Latest::default() }) }
    }

    /// The length of every vector.
    pub fn dimensions(&self) -> usize {
        self.model.dimensions()
    }

    /// A vector for each text, in order.
    ///
    /// # Errors
    /// As the model, and if it gives another number of vectors, another length or what is not a number.
    pub fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, Error> {
        let mut vectors: Vec<Option<Vec<f32>>> = texts.iter().map(|text| self.latest().get(text)).collect();
        let unknown: Vec<usize> = (0..texts.len()).filter(|&at| vectors[at].is_none()).collect();
        for batch in unknown.chunks(BATCH) {
            let asked: Vec<String> = batch.iter().map(|&at| texts[at].clone()).collect();
            for ((&at, text), vector) in batch.iter().zip(&asked).zip(self.ask(&asked)?) {
                self.latest().put(text, &vector);
                vectors[at] = Some(vector);
            }
        }
        Ok(vectors.into_iter().flatten().collect())
    }

    fn ask(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, Error> {
        let vectors = self.model.embed(texts)?;
        if vectors.len() != texts.len() {
            let detail = format!("the model gave {} vectors for {} texts", vectors.len(), texts.len());
            return Err(Error::unavailable(detail));
        }
        let expected = self.dimensions();
        if let Some(vector) = vectors.iter().find(|vector| vector.len() != expected) {
            return Err(Error::Dimensions { expected, found: vector.len() });
        }
        let finite = vectors.iter().flatten().all(|x| x.is_finite());
        if finite { Ok(vectors) } else { Err(Error::unavailable("the model gave what is not a number")) }
    }

    fn latest(&self) -> std::sync::MutexGuard<'_, Latest> {
        // What a thread that failed left behind is whole: every change is one call.
        self.latest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The vectors that were asked for last.
#[derive(Default)]
struct Latest {
    most: usize,
    clock: u64,
    vectors: HashMap<String, (u64, Vec<f32>)>,
    /// The texts by when they were last asked for.
    times: BTreeMap<u64, String>,
}

impl Latest {
    fn get(&mut self, text: &str) -> Option<Vec<f32>> {
        let (time, vector) = self.vectors.get_mut(text)?;
        let name = self.times.remove(time)?;
        self.clock += 1;
        *time = self.clock;
        self.times.insert(self.clock, name);
        Some(vector.clone())
    }

    fn put(&mut self, text: &str, vector: &[f32]) {
        if self.most == 0 || self.vectors.contains_key(text) {
            return;
        }
        if self.vectors.len() >= self.most
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

    /// Gives vectors of the length it was told, and counts the texts it was asked.
    struct Counting {
        length: usize,
        asked: AtomicUsize,
    }

    impl Embedder for Counting {
        fn dimensions(&self) -> usize {
            2
        }

        fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, Error> {
            assert!(texts.len() <= BATCH);
            self.asked.fetch_add(texts.len(), Ordering::Relaxed);
            Ok(texts.iter().map(|text| vec![text.len() as f32; self.length]).collect())
        }
    }

    fn counting(length: usize, remembered: usize) -> (Arc<Counting>, Encoder) {
        let model = Arc::new(Counting { length, asked: AtomicUsize::new(0) });
        (Arc::clone(&model), Encoder::new(model, remembered))
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
    fn the_latest_texts_are_not_asked_again() -> Result<(), Error> {
        let (model, encoder) = counting(2, 2);
        for (range, asked) in [(0..1, 1), (1..2, 2), (0..1, 2), (2..3, 3), (0..1, 3), (1..2, 4)] {
            encoder.embed(&texts(range))?;
            assert_eq!(model.asked.load(Ordering::Relaxed), asked);
        }
        Ok(())
    }

    #[test]
    fn another_length_is_refused() {
        let (_, encoder) = counting(3, 2);
        assert_eq!(encoder.embed(&texts(0..1)), Err(Error::Dimensions { expected: 2, found: 3 }));
    }
}
