//! Names that engineers give things: letters and digits, chained by hyphens, or apart by a blank.

use super::{numbers, words};

/// A word and what stands between it and the word before.
#[derive(Clone, Copy, Debug)]
pub struct Piece<'t> {
    pub gap: &'t str,
    pub text: &'t str,
}

/// The longest name that is put together: no identifier has more words, and a hostile text might.
const CHAIN: usize = 8;
/// The words that stand before a number without being the letters of a tag.
const NOT_LETTERS: &[&str] =
    &["a", "an", "and", "are", "at", "by", "for", "from", "in", "is", "no", "of", "on", "or", "the", "to", "was"];

/// The first words of `pieces` that hyphens make one: at least one word.
pub fn chain<'p, 't>(pieces: &'p [Piece<'t>]) -> &'p [Piece<'t>] {
    let joined = |pair: &&[Piece<'t>]| joins(pair[0].text, pair[1]);
    let more = pieces.windows(2).take(CHAIN - 1).take_while(joined).count();
    &pieces[..1 + more]
}

/// `20-PR-0107`, `6"-PL-1001`, `psv_2015`; a slash only as in `p-101a/b`, for there are also `m3/h` and `and/or`.
fn joins(before: &str, piece: Piece<'_>) -> bool {
    match piece.gap {
        "-" | "_" | "\"-" => true,
        "/" => is_letter(piece.text) && (ends_as_one_of_many(before) || is_letter(before)),
        _ => false,
    }
}

/// `101a`: digits and one letter.
fn ends_as_one_of_many(word: &str) -> bool {
    let mut last = word.bytes().rev();
    last.next().is_some_and(|b| b.is_ascii_lowercase()) && last.next().is_some_and(|b| b.is_ascii_digit())
}

/// The terms of several words that are one name: itself, joined, and its parts.
pub fn chained(chain: &[Piece<'_>], terms: &mut Vec<String>) {
    for part in chain {
        words::alone(part, terms);
    }
    let (name, others) = alternatives(chain);
    let joined: String = name.iter().map(|piece| piece.text).collect();
    if is_mixed(&joined) {
        terms.extend([hyphenated(&joined), joined.clone()]);
        terms.extend(others.iter().map(|other| with_last_letter(&joined, other.text)));
        terms.extend(inner(name));
    } else if name.len() > 1 {
        terms.push(words::stem(&joined));
    }
}

/// Makes a name that a part of the thing follows, as in `P-101A N1`, the name of the part.
pub fn with_part(chain: &[Piece<'_>], next: Option<&Piece<'_>>, terms: &mut Vec<String>) {
    let Some(part) = next.filter(|next| next.gap == " " && is_part(next.text)) else { return };
    let joined: String = chain.iter().map(|piece| piece.text).collect();
    let whole = hyphenated(&joined);
    if is_mixed(&joined) && terms.contains(&whole) {
        terms.retain(|term| *term != whole);
        terms.push(format!("{whole}-{}", part.text));
    }
}

/// `n1`, `m12`: what nozzles and their like are called, one letter and a number.
fn is_part(word: &str) -> bool {
    let mut bytes = word.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_lowercase())
        && (2..=3).contains(&word.len())
        && bytes.all(|b| b.is_ascii_digit())
}

/// The tags inside a longer name: `pr0107` of `20-pr-0107-a1`.
fn inner<'p>(name: &'p [Piece<'_>]) -> impl Iterator<Item = String> + 'p {
    let pairs = name.windows(2).filter(|_| name.len() > 2);
    let tags = pairs.filter(|pair| is_prefix(pair[0].text) && is_tag_number(pair[1].text));
    tags.map(|pair| format!("{}{}", pair[0].text, pair[1].text))
}

/// The chain before its first slash, and what stands after each slash: `P-101A/B/C` names three pumps.
fn alternatives<'p, 't>(chain: &'p [Piece<'t>]) -> (&'p [Piece<'t>], &'p [Piece<'t>]) {
    let slash = chain[1..].iter().position(|piece| piece.gap == "/").map_or(chain.len(), |at| at + 1);
    let (name, others) = chain.split_at(slash);
    let letters = others.iter().all(|other| other.text.len() == 1);
    (name, if letters { others } else { &[] })
}

fn with_last_letter(joined: &str, letter: &str) -> String {
    format!("{}{letter}", joined.trim_end_matches(|c: char| c.is_ascii_lowercase()))
}

/// The joined form of letters, a blank and a number: `psv 2015 a` asks for `psv2015a`.
pub fn spaced(pieces: &[Piece<'_>], terms: &mut Vec<String>) {
    let [letters, number, after @ ..] = pieces else { return };
    if number.gap != " " || !is_prefix(letters.text) || !is_tag_number(number.text) {
        return;
    }
    let suffix = after.first().filter(|piece| matches!(piece.gap, " " | "-") && is_letter(piece.text));
    let bare = number.text.bytes().all(|b| b.is_ascii_digit());
    let joined = format!("{}{}", letters.text, number.text);
    if let Some(suffix) = suffix.filter(|_| bare) {
        let joined = format!("{joined}{}", suffix.text);
        terms.extend([hyphenated(&joined), joined]);
    }
    terms.extend([hyphenated(&joined), joined]);
}

fn is_prefix(word: &str) -> bool {
    word.len() <= 5 && word.bytes().all(|b| b.is_ascii_lowercase()) && !NOT_LETTERS.contains(&word)
}

fn is_tag_number(word: &str) -> bool {
    let digits = word.bytes().take_while(u8::is_ascii_digit).count();
    (2..=6).contains(&digits)
        && (word.len() == digits || word.len() == digits + 1)
        && word.is_ascii()
        && !word.ends_with(|c: char| !c.is_ascii_alphanumeric())
}

fn is_letter(word: &str) -> bool {
    word.len() == 1 && word.bytes().all(|b| b.is_ascii_lowercase())
}

/// Whether a word has letters as well as digits.
pub fn is_mixed(word: &str) -> bool {
    word.chars().any(char::is_alphabetic) && word.bytes().any(|b| b.is_ascii_digit())
}

/// The terms of a word of letters and digits: itself, hyphenated, and its parts.
pub fn mixed(word: &str, terms: &mut Vec<String>) {
    let hyphenated = hyphenated(word);
    let number = hyphenated.rsplit('-').next().unwrap_or(word);
    let digits = number.trim_end_matches(|c: char| c.is_ascii_lowercase());
    let parts = hyphenated.split('-').filter(|part| part.len() > 1 && *part != word);
    terms.extend(parts.map(str::to_owned));
    if digits != number && digits != word && !digits.is_empty() {
        terms.push(numbers::plain(digits));
    }
    if hyphenated != word {
        terms.push(hyphenated);
    }
    terms.push(word.to_owned());
}

/// A hyphen wherever digits follow letters or letters that are not the last follow digits: `psv2015a` is `psv-2015a`.
pub fn hyphenated(joined: &str) -> String {
    let chars: Vec<char> = joined.chars().collect();
    let mut out = String::with_capacity(joined.len() + 2);
    for (at, &c) in chars.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| chars[before]);
        let to_digits = before.is_some_and(char::is_alphabetic) && c.is_ascii_digit();
        let to_letters = before.is_some_and(|b| b.is_ascii_digit()) && c.is_alphabetic() && at + 1 < chars.len();
        if to_digits || to_letters {
            out.push('-');
        }
        out.push(c);
    }
    out
}
