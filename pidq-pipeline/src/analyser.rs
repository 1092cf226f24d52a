//! The terms of a text, by which it is found: words of any script, tags of equipment, line numbers, quantities.
//!
//! Texts and questions go through the same door, so that PSV 2015 A, PSV2015A and psv-2015-a meet.

mod fold;
mod identifiers;
mod numbers;
mod stop;
mod tags;
mod words;

use identifiers::Piece;
pub use tags::{Tag, tags};

/// Grows when the terms of some text change: indexes that were written before are then built anew.
pub const VERSION: u32 = 4;

/// The terms of a text, each as often as it stands there.
///
/// An identifier gives itself (`psv-2015a`), its joined form (`psv2015a`) and its parts; other words give their stem.
pub fn terms(text: &str) -> Vec<String> {
    analysed(text, |_, _, _| {})
}

/// The terms by which a text is found among others: a nozzle is not the pump that it is of.
///
/// As [`terms`], but that `P-101A N1` does not give `p-101a`, which stays for what is said of the pump itself.
pub fn index_terms(text: &str) -> Vec<String> {
    analysed(text, identifiers::with_part)
}

/// The terms of a question: the whole names of things count twice, their parts once.
pub fn question_terms(text: &str) -> Vec<String> {
    let mut terms = index_terms(text);
    let whole = |tag: Tag| identifiers::hyphenated(&tag.name.to_lowercase().replace('-', ""));
    let names = tags(text).into_iter().map(whole).filter(|name| terms.contains(name));
    let names: Vec<String> = names.collect();
    terms.extend(names);
    terms
}

/// The terms of a text. `part` sees each name, what follows it, and the terms that it gave.
fn analysed(text: &str, part: impl Fn(&[Piece<'_>], Option<&Piece<'_>>, &mut Vec<String>)) -> Vec<String> {
    let folded = fold::fold(text);
    let pieces = words::pieces(&folded);
    let mut terms = Vec::with_capacity(pieces.len());
    let mut rest = &pieces[..];
    while let Some(first) = rest.first() {
        let chain = identifiers::chain(rest);
        let mut own = Vec::new();
        match chain {
            [_] => words::alone(first, &mut own),
            _ => identifiers::chained(chain, &mut own),
        }
        part(chain, rest.get(chain.len()), &mut own);
        terms.append(&mut own);
        identifiers::spaced(rest, &mut terms);
        rest = &rest[chain.len()..];
    }
    words::runs(&pieces, &mut terms);
    terms.retain(|term| !stop::is_stop_word(term));
    terms
}
