//! BM25 as Lucene has it: how much the words that a text shares with a question say about it.
//!
//! S. Robertson, H. Zaragoza: The Probabilistic Relevance Framework: BM25 and Beyond, 2009; with Lucene's inverse
//! document frequency, which is never negative, and without the constant factor `k1 + 1`.

use std::collections::HashMap;

/// How much repetition and length count.
#[derive(Clone, Copy, Debug, PartialEq)]
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
    words: HashMap<String, Word>,
    /// The number of words of each text.
    lengths: Vec<u32>,
    /// The texts that were removed; words may still name them.
    removed: Vec<bool>,
    texts: usize,
    total: u64,
}

/// The texts that have a word.
#[derive(Debug, Default)]
struct Word {
    /// Invariant: strictly increasing by text.
    postings: Vec<Posting>,
    /// How many of the postings are of removed texts.
    stale: usize,
}

/// A text that has a word.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Posting {
    /// Its number.
    pub text: u32,
    /// How often it has the word.
    pub times: u32,
}

/// The scores of texts, and how much a text could score that says nothing but the question, over and over.
#[derive(Clone, Debug, PartialEq)]
pub struct Scores {
    /// By text number; 0 where no word is shared.
    pub of: Vec<f64>,
    /// The bound that no score reaches.
    pub bound: f64,
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
        self.push(length);
        text
    }

    fn push(&mut self, length: u32) {
        self.lengths.push(length);
        self.removed.push(false);
        self.texts += 1;
        self.total += u64::from(length);
    }

    fn count(&mut self, word: &str, text: u32) {
        let word = match self.words.get_mut(word) {
            Some(word) => word,
            None => self.words.entry(word.to_owned()).or_default(),
        };
        match word.postings.last_mut() {
            Some(last) if last.text == text => last.times += 1,
            _ => word.postings.push(Posting { text, times: 1 }),
        }
    }

    /// Takes out a text with these words. Its number is not given again.
    pub fn remove<'w>(&mut self, text: u32, words: impl IntoIterator<Item = &'w str>) {
        if self.removed.get(text as usize).is_none_or(|removed| *removed) {
            return;
        }
        self.removed[text as usize] = true;
        self.texts -= 1;
        self.total -= u64::from(self.lengths[text as usize]);
        let mut words: Vec<&str> = words.into_iter().collect();
        words.sort_unstable();
        words.dedup();
        words.into_iter().for_each(|word| self.forget(word));
    }

    /// Counts a posting as stale, and clears them away when they are the greater part: each is moved but a few times.
    fn forget(&mut self, name: &str) {
        let Some(word) = self.words.get_mut(name) else { return };
        word.stale += 1;
        if word.stale * 2 > word.postings.len() {
            word.postings.retain(|posting| !self.removed[posting.text as usize]);
            word.stale = 0;
        }
        if word.postings.is_empty() {
            self.words.remove(name);
        }
    }

    /// How many bytes they take, about.
    pub fn bytes(&self) -> usize {
        let word = |(name, word): (&String, &Word)| {
            name.capacity() + size_of::<(String, Word)>() + word.postings.capacity() * size_of::<Posting>()
        };
        let lengths = self.lengths.capacity() * size_of::<u32>() + self.removed.capacity();
        self.words.iter().map(word).sum::<usize>() + lengths
    }

    /// How many texts there are.
    pub fn texts(&self) -> usize {
        self.texts
    }

    /// The score of every text number; 0 where no word is shared. A word that is asked twice counts twice.
    pub fn scores<'w>(&self, question: impl IntoIterator<Item = &'w str>, weights: Weights) -> Scores {
        let mut scores = Scores { of: vec![0.0; self.lengths.len()], bound: 0.0 };
        let mut asked: Vec<&str> = question.into_iter().collect();
        asked.sort_unstable();
        // A question that says one word a thousand times reads its postings once.
        for same in asked.chunk_by(|a, b| a == b) {
            let none = Word::default();
            let word = self.words.get(same[0]).unwrap_or(&none);
            let weight = self.rarity(word.postings.len() - word.stale) * same.len() as f64;
            scores.bound += weight;
            self.score(word, weight, weights, &mut scores.of);
        }
        scores
    }

    // Hot: runs once per text that has the word. Removed texts are scored as well, since asking costs more than that;
    // they are wiped at the end of a word that has any.
    fn score(&self, word: &Word, weight: f64, weights: Weights, scores: &mut [f64]) {
        let average = self.total as f64 / self.texts as f64;
        let fixed = weights.k1 * (1.0 - weights.b);
        let long = weights.k1 * weights.b / average;
        for posting in &word.postings {
            let text = posting.text as usize;
            let times = f64::from(posting.times);
            scores[text] += weight * times / (times + fixed + long * f64::from(self.lengths[text]));
        }
        if word.stale > 0 {
            let stale = word.postings.iter().filter(|posting| self.removed[posting.text as usize]);
            stale.for_each(|posting| scores[posting.text as usize] = 0.0);
        }
    }

    /// The inverse document frequency of a word that so many texts have.
    fn rarity(&self, having: usize) -> f64 {
        let (all, having) = (self.texts as f64, having as f64);
        (1.0 + (all - having + 0.5) / (having + 0.5)).ln()
    }

    /// Every word in order, with the texts that have it.
    pub fn words(&self) -> impl Iterator<Item = (&str, impl Iterator<Item = Posting> + '_)> {
        let mut words: Vec<_> = self.words.iter().collect();
        words.sort_unstable_by_key(|(name, _)| name.as_str());
        let alive = |posting: &Posting| !self.removed[posting.text as usize];
        words.into_iter().map(move |(name, word)| (name.as_str(), word.postings.iter().copied().filter(alive)))
    }

    /// The postings of so many texts from their words; none if a word names a text that is not there, twice, or never.
    pub fn from_words(texts: u32, words: impl IntoIterator<Item = (String, Vec<Posting>)>) -> Option<Self> {
        let mut lengths = vec![0u32; texts as usize];
        let mut known = HashMap::new();
        for (name, postings) in words {
            let increasing = postings.windows(2).all(|pair| pair[0].text < pair[1].text);
            for posting in &postings {
                let length = lengths.get_mut(posting.text as usize).filter(|_| posting.times > 0)?;
                *length = length.checked_add(posting.times)?;
            }
            let new = known.insert(name, Word { postings, stale: 0 }).is_none();
            (increasing && new).then_some(())?;
        }
        let mut postings = Postings { words: known, ..Postings::default() };
        lengths.into_iter().for_each(|length| postings.push(length));
        Some(postings)
    }
}
