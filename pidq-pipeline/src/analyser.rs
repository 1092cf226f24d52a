//! The terms of a text, by which it is found: words of any script, tags of equipment, line numbers, quantities.
//!
//! Texts and questions go through the same door, so that PSV 2015 A, PSV2015A and psv-2015-a meet.

mod fold;
mod identifiers;
mod numbers;
mod stop;
mod tags;
mod words;

pub use tags::{Tag, tags};

/// Grows when the terms of some text change: indexes that were written before are then built anew.
pub const VERSION: u32 = 1;

/// The terms of a text, each as often as it stands there.
///
/// An identifier gives itself (`psv-2015a`), its joined form (`psv2015a`) and its parts; other words give their stem.
pub fn terms(text: &str) -> Vec<String> {
    let folded = fold::fold(text);
    let pieces = words::pieces(&folded);
    let mut terms = Vec::with_capacity(pieces.len());
    let mut rest = &pieces[..];
    while let Some(first) = rest.first() {
        let chain = identifiers::chain(rest);
        match chain {
            [_] => words::alone(first, &mut terms),
            _ => identifiers::chained(chain, &mut terms),
        }
        identifiers::spaced(rest, &mut terms);
        rest = &rest[chain.len()..];
    }
    words::runs(&pieces, &mut terms);
    terms.retain(|term| !stop::is_stop_word(term));
    terms
}
