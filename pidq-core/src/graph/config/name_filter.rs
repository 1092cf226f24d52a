//! Filter for names of fields and attributes: excludes most names by their first letters, without a conversion.

use crate::graph::vocabulary::letters;

/// Names that begin with one of some words, in any spelling. What follows the word may be an ending that says how a
/// source stores the value.
#[derive(Debug)]
pub(crate) struct NameFilter {
    /// By the first letter or digit: the letters of the words.
    words: [Vec<Box<[u8]>>; LETTERS],
    /// A word with other letters may be spelled in more ways than this filter knows.
    passes_all: bool,
}

const LETTERS: usize = 36;

impl NameFilter {
    pub fn new<'w>(words: impl Iterator<Item = &'w str>) -> NameFilter {
        let mut filter = NameFilter { words: [const { Vec::new() }; LETTERS], passes_all: false };
        for word in words {
            let word_letters: Box<[u8]> = letters(word).collect();
            match word_letters.first().filter(|_| word.is_ascii()) {
                Some(first) => filter.words[slot(*first)].push(word_letters),
                None => filter.passes_all = true,
            }
        }
        filter
    }

    /// Returns false only if a name is none of the words in any spelling.
    pub fn may_contain(&self, name: &str) -> bool {
        if self.passes_all || !name.is_ascii() {
            return true;
        }
        let Some(first) = letters(name).next() else { return false };
        let begins_with = |word: &[u8]| {
            let mut found = letters(name);
            word.iter().all(|letter| found.next() == Some(*letter))
        };
        self.words[slot(first)].iter().any(|word| begins_with(word))
    }
}

/// Returns the index of a lower-case letter or a digit.
fn slot(letter: u8) -> usize {
    match letter {
        b'a'..=b'z' => usize::from(letter - b'a'),
        digit => 26 + usize::from(digit.wrapping_sub(b'0') % 10),
    }
}

#[cfg(test)]
mod tests {
    use super::NameFilter;

    #[test]
    fn only_names_that_begin_with_no_word_are_excluded() {
        let filter = NameFilter::new(["life_cycle_status", "lock", "2_status"].into_iter());
        for name in
            ["LifeCycleStatus", "life cycle-status", "lock", "Lock_assignment_class", "2 Status", "Ort", "Größe"]
        {
            assert_eq!(filter.may_contain(name), name != "Ort", "{name}");
        }
        for name in ["life_cycle", "line", "from", "", "--", "1_status"] {
            assert!(!filter.may_contain(name), "{name}");
        }
        for word in ["größe", "--"] {
            assert!(NameFilter::new([word].into_iter()).may_contain("x"), "{word}");
        }
    }
}
