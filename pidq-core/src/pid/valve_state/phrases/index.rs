//! Index of a table of phrases: finds those that stand in a clause.

use hashbrown::HashMap;

use crate::graph::vocabulary::has_any;

/// A phrase in a clause: its first word, and the number of its words.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::pid::valve_state) struct Phrase<M> {
    pub meaning: M,
    pub at: usize,
    pub words: usize,
}

/// Phrases by their first word, the longest first: their words, and what each means.
#[derive(Debug)]
pub(in crate::pid::valve_state) struct PhraseIndex<M> {
    rows: HashMap<&'static str, Vec<(Vec<&'static str>, M)>>,
}

impl<M: Copy> PhraseIndex<M> {
    /// Indexes phrases in lower case, without punctuation. Behind the first word, `#` is a number, `*` any word, and `$` the end
    /// of a clause.
    pub fn new(phrases: impl Iterator<Item = (&'static str, M)>) -> PhraseIndex<M> {
        let mut rows: HashMap<&'static str, Vec<(Vec<&'static str>, M)>> = HashMap::new();
        for (phrase, meaning) in phrases {
            let words: Vec<&str> = phrase.split(' ').collect();
            rows.entry(words[0]).or_default().push((words, meaning));
        }
        rows.values_mut().for_each(|rows| rows.sort_by_key(|(words, _)| std::cmp::Reverse(words.len())));
        PhraseIndex { rows }
    }

    /// Returns the phrases in a clause that do not overlap: the longest at each word.
    pub fn longest_in(&self, clause: &[String]) -> Vec<Phrase<M>> {
        let mut found = Vec::new();
        let mut at = 0;
        while at < clause.len() {
            let longest = self.at(clause, at).next();
            at += longest.as_ref().map_or(1, |phrase| phrase.words);
            found.extend(longest);
        }
        found
    }

    /// Returns all phrases in a clause.
    pub fn all_in<'a>(&'a self, clause: &'a [String]) -> impl Iterator<Item = Phrase<M>> + 'a {
        (0..clause.len()).flat_map(|at| self.at(clause, at))
    }

    /// Returns the phrases that begin at a word of a clause, the longest first.
    fn at<'a>(&'a self, clause: &'a [String], at: usize) -> impl Iterator<Item = Phrase<M>> + 'a {
        let words = &clause[at..];
        let rows = self.rows.get(words[0].as_str()).map_or(&[][..], Vec::as_slice);
        let is_same = |(known, word): (&&str, &String)| is_same(known, word);
        rows.iter().filter_map(move |(known, meaning)| {
            let (is_end, known) = match known.split_last() {
                Some((&"$", known)) => (true, known),
                _ => (false, known.as_slice()),
            };
            let fits = if is_end { known.len() == words.len() } else { known.len() <= words.len() };
            let is_phrase = fits && known.iter().zip(words).all(is_same);
            is_phrase.then_some(Phrase { meaning: *meaning, at, words: known.len() })
        })
    }
}

/// Returns whether a word is one of a phrase: `#` is any number, `*` any word.
pub(super) fn is_same(known: &str, word: &str) -> bool {
    match known {
        "#" => word.chars().all(char::is_numeric),
        "*" => true,
        known => known == word,
    }
}

/// Returns whether one of the last words before a phrase denies it.
pub(in crate::pid::valve_state) fn is_denied(before: &[String], denials: &[&str], max_distance: usize) -> bool {
    has_any(&before[before.len().saturating_sub(max_distance)..], denials)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn the_longest_phrase_covers_those_in_it() {
        let index =
            PhraseIndex::new([("a b", 1), ("a", 2), ("b", 3), ("c # mm", 4), ("b $", 5), ("a * c", 6)].into_iter());
        let meanings =
            |text: &str| -> Vec<i32> { index.longest_in(&words(text)).iter().map(|phrase| phrase.meaning).collect() };
        let all = |text: &str| -> Vec<i32> { index.all_in(&words(text)).map(|phrase| phrase.meaning).collect() };
        assert_eq!(meanings("a b x"), [1]);
        assert_eq!(all("a b x"), [1, 2, 3]);
        assert_eq!(meanings("a x c 25 mm"), [6]);
        assert_eq!(meanings("x c 25 mm"), [4]);
        assert_eq!(meanings("x b"), [5]);
        assert_eq!(all("x b"), [5, 3]);
    }
}
