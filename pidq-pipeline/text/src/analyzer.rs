//! Text analyzer: the index terms of a text (words of any script, equipment tags, line numbers, quantities).
//!
//! Documents and queries use the same analyzer, so that PSV 2015 A, PSV2015A and psv-2015-a produce the same terms.

mod identifiers;
mod mixed_words;
mod normalize;
mod quantities;
mod stopwords;
mod tags;
mod tokenize;
mod word;

pub(crate) use normalize::{hyphen, is_invisible};
pub use tags::{Tag, tags};
use word::Word;

/// Version of the analyzer. Increase it when the terms of any text change: stored indexes of other versions are rebuilt.
pub const VERSION: u32 = 4;

/// Returns the terms of a text, each as often as it occurs.
///
/// An identifier produces itself (`psv-2015a`), its joined form (`psv2015a`) and its parts; other words produce their stem.
pub fn terms(text: &str) -> Vec<String> {
    analyze(text, |_, _, _| {})
}

/// Returns the terms under which a text is indexed: a nozzle does not match as the pump it belongs to.
///
/// Like [`terms`], but `P-101A N1` does not produce `p-101a`, which is reserved for text about the pump itself.
pub fn index_terms(text: &str) -> Vec<String> {
    analyze(text, identifiers::qualify_with_part)
}

/// Returns the terms of a query: full tag names count twice, their parts once.
pub fn query_terms(text: &str) -> Vec<String> {
    let mut terms = index_terms(text);
    let names = tags(text).into_iter().map(|tag| full_name(&tag.name)).filter(|name| terms.contains(name));
    let names: Vec<String> = names.collect();
    terms.extend(names);
    terms
}

/// Returns the distinct index terms of the tags in a query, such as `psv-2015a` for PSV 2015 A. A tag that is followed by
/// a part, as in `P-101A N1`, is left out: the question is about the part.
pub fn query_tags(text: &str) -> Vec<String> {
    let terms = index_terms(text);
    let names = tags(&uppercase_names(text)).into_iter().map(|tag| tag.name).chain(tags::short_spaced_tags(text));
    let mut names: Vec<String> = names.map(|name| full_name(&name)).filter(|name| terms.contains(name)).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Returns a query with the words that contain a digit in upper case: queries are often typed in lower case.
fn uppercase_names(text: &str) -> String {
    let uppercase =
        |word: &str| if word.bytes().any(|b| b.is_ascii_digit()) { word.to_uppercase() } else { word.to_owned() };
    text.split_whitespace().map(uppercase).collect::<Vec<_>>().join(" ")
}

/// Returns the index term of a tag in its canonical spelling.
fn full_name(name: &str) -> String {
    mixed_words::hyphenated(&name.to_lowercase().replace('-', ""))
}

/// Returns the terms of a text. `qualify` receives each name, the word after it, and the terms of the name.
fn analyze(text: &str, qualify: impl Fn(&[Word<'_>], Option<&Word<'_>>, &mut Vec<String>)) -> Vec<String> {
    let normalized = normalize::normalize(text);
    let words = tokenize::tokenize(&normalized);
    let mut terms = Vec::with_capacity(words.len());
    let mut remaining = &words[..];
    while let Some(first) = remaining.first() {
        let chain = identifiers::chain(remaining);
        let mut name_terms = Vec::new();
        match chain {
            [_] => tokenize::word_terms(first, &mut name_terms),
            _ => identifiers::chain_terms(chain, &mut name_terms),
        }
        qualify(chain, remaining.get(chain.len()), &mut name_terms);
        terms.append(&mut name_terms);
        identifiers::spaced_tag_terms(remaining, &mut terms);
        remaining = &remaining[chain.len()..];
    }
    tokenize::bigrams(&words, &mut terms);
    terms.retain(|term| !stopwords::is_stop_word(term));
    terms
}
