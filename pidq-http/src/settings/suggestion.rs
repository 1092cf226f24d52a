//! Suggestions for misspelled names of settings.

/// Returns `: did you mean …?` if a known name is similar.
pub(super) fn suggestion(name: &str, known: impl Iterator<Item = String>) -> String {
    let nearest = known.map(|k| (levenshtein(name, &k), k)).min();
    let similar = nearest.filter(|(distance, _)| *distance <= 1 + name.len() / 5);
    similar.map(|(_, known)| format!(": did you mean `{known}`?")).unwrap_or_default()
}

/// Returns the Levenshtein distance of two strings, in bytes.
fn levenshtein(one: &str, other: &str) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.bytes().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, b) in other.bytes().enumerate() {
            let change = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = change.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_letters() {
        assert_eq!(levenshtein("", "abc"), 3);
        assert_eq!(levenshtein("listen", "lisen"), 1);
        assert_eq!(levenshtein("same", "same"), 0);
    }
}
