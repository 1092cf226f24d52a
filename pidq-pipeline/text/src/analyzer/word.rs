//! Word of a text, with the text before it.

/// A word, with the text between it and the previous word.
#[derive(Clone, Copy, Debug)]
pub struct Word<'t> {
    pub gap: &'t str,
    pub text: &'t str,
}
