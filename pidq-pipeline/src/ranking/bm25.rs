//! BM25 as Lucene has it: how much the words that a text shares with a question say about it.
//!
//! S. Robertson, H. Zaragoza: The Probabilistic Relevance Framework: BM25 and Beyond, 2009; with Lucene's inverse
//! document frequency, which is never negative, and without the constant factor `k1 + 1`.

use std::collections::HashMap;

/// How much repetition and length count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights {
    /// How soon repeating a word stops to help.
    pub k1: f64,
    /// How much longer texts are held back, from 0 to 1.
    pub b: f64,
}

impl Default for Weights {
    fn default() -> Self {
        Weights { k1: 0.9, b: 0.4 }
    }
}

/// The words of some texts, and which texts have them.
#[derive(Debug, Default)]
pub struct Postings {
    words: HashMap<String, Vec<Posting>>,
    /// The number of words of each text; none if it was removed.
    lengths: Vec<Option<u32>>,
    texts: usize,
    total: u64,
}

/// A text that has a word.
#[derive(Debug, Clone, Copy)]
struct Posting {
    text: u32,
    times: u32,
}

impl Postings {
    /// Adds a text and gives its number.
    pub fn add<'w>(&mut self, words: impl IntoIterator<Item = &'w str>) -> u32 {
        let text = self.lengths.len() as u32;
        let mut length = 0;
        for word in words {
            length += 1;
            self.count(word, text);
        }
        self.lengths.push(Some(length));
        self.texts += 1;
        self.total += u64::from(length);
        text
    }

    fn count(&mut self, word: &str, text: u32) {
        let postings = match self.words.get_mut(word) {
            Some(postings) => postings,
            None => self.words.entry(word.to_owned()).or_default(),
        };
        match postings.last_mut() {
            Some(last) if last.text == text => last.times += 1,
            _ => postings.push(Posting { text, times: 1 }),
        }
    }

    /// Takes a text out. Its number is not given again.
    pub fn remove<'w>(&mut self, text: u32, words: impl IntoIterator<Item = &'w str>) {
        let Some(length) = self.lengths.get_mut(text as usize).and_then(Option::take) else { return };
        self.texts -= 1;
        self.total -= u64::from(length);
        for word in words {
            if let Some(postings) = self.words.get_mut(word) {
                postings.retain(|posting| posting.text != text);
                if postings.is_empty() {
                    self.words.remove(word);
                }
            }
        }
    }

    /// How many texts there are.
    pub fn texts(&self) -> usize {
        self.texts
    }

    /// The score of every text number; 0 where no word is shared. A word that is asked twice counts twice.
    pub fn scores<'w>(&self, question: impl IntoIterator<Item = &'w str>, weights: Weights) -> Vec<f64> {
        let mut scores = vec![0.0; self.lengths.len()];
        for word in question {
            let postings = self.words.get(word).map_or(&[][..], Vec::as_slice);
            let rarity = self.rarity(postings.len());
            for posting in postings {
                scores[posting.text as usize] += rarity * self.saturation(*posting, weights);
            }
        }
        scores
    }

    /// The inverse document frequency of a word that so many texts have.
    fn rarity(&self, having: usize) -> f64 {
        let (all, having) = (self.texts as f64, having as f64);
        (1.0 + (all - having + 0.5) / (having + 0.5)).ln()
    }

    fn saturation(&self, posting: Posting, weights: Weights) -> f64 {
        let length = f64::from(self.lengths[posting.text as usize].unwrap_or(0));
        let average = self.total as f64 / self.texts as f64;
        let times = f64::from(posting.times);
        times / (times + weights.k1 * (1.0 - weights.b + weights.b * length / average))
    }
}
