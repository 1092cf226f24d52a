//! Splitting at the coarsest separator that occurs, and within what is still too long at the next finer one.

use std::ops::Range;

use super::cut::{self, Keep, Separator};
use super::languages::{self, LANGUAGES};
use super::merge::{CHUNK_OVERLAP, CHUNK_SIZE, Join, LENGTH, STRIP, Size, merge, push_exact};
use super::parameters::{Kind, Parameter, Parameters};
use super::room::Chunks;
use super::{Chunk, Embed, Refusal, Split, Splitter};

/// The most separators; one level of recursion each.
const MOST: usize = 64;

const SEPARATORS: Parameter = Parameter {
    name: "separators",
    kind: Kind::Texts,
    default: r#"["\n\n", "\n", " ", ""]"#,
    summary: "what separates, the coarsest first; an empty list is the default",
};
const PATTERNS: Parameter = Parameter {
    name: "is_separator_regex",
    kind: Kind::Flag,
    default: "false",
    summary: "whether separators are regular expressions",
};
const KEEP: Parameter = Parameter {
    name: "keep_separator",
    kind: Kind::Keep,
    default: "true",
    summary: "whether a piece begins (true, \"start\") or ends (\"end\") with its separator, or loses it",
};
const LANGUAGE: Parameter = Parameter {
    name: "language",
    kind: Kind::OneOf(languages::NAMES),
    default: "\"python\"",
    summary: "the programming language",
};
/// A language brings separators; others may still be given.
const OWN_SEPARATORS: Parameter = Parameter {
    name: "separators",
    kind: Kind::Texts,
    default: "[]",
    summary: "separators in place of the language's",
};
const OWN_PATTERNS: Parameter = Parameter {
    name: "is_separator_regex",
    kind: Kind::Flag,
    default: "true",
    summary: "whether separators are regular expressions",
};

const PLAIN: &[Parameter] = &[CHUNK_SIZE, CHUNK_OVERLAP, LENGTH, SEPARATORS, PATTERNS, KEEP, STRIP];
const LITERAL: &[Parameter] = &[CHUNK_SIZE, CHUNK_OVERLAP, LENGTH, OWN_SEPARATORS, PATTERNS, KEEP, STRIP];
const IN_LANGUAGE: &[Parameter] =
    &[CHUNK_SIZE, CHUNK_OVERLAP, LENGTH, OWN_SEPARATORS, OWN_PATTERNS, KEEP, STRIP, LANGUAGE];

/// The default of pipelines.
pub const RECURSIVE_CHARACTER: Splitter = Splitter {
    name: "recursive_character",
    summary: "paragraphs, then lines, then words, then characters: the coarsest that keeps chunks short enough",
    parameters: PLAIN,
    build: |parameters| boxed(parameters, parameters.texts("separators"), &["\n\n", "\n", " ", ""]),
};

/// Markdown, by patterns.
pub const MARKDOWN: Splitter = Splitter {
    name: "markdown",
    summary: "headings, code blocks and rules of Markdown, then as recursive_character",
    parameters: IN_LANGUAGE,
    build: |parameters| in_language(parameters, "markdown"),
};

/// Markdown, by the same separators taken literally.
pub const MARKDOWN_LITERAL: Splitter = Splitter {
    name: "markdown_literal",
    summary: "as markdown, but with its patterns taken literally, as the class MarkdownTextSplitter does",
    parameters: LITERAL,
    build: |parameters| boxed(parameters, parameters.texts("separators"), languages::separators("markdown")),
};

/// HTML source.
pub const HTML: Splitter = Splitter {
    name: "html",
    summary: "tags of HTML, on the source",
    parameters: IN_LANGUAGE,
    build: |parameters| in_language(parameters, "html"),
};

/// Programs.
pub const CODE: Splitter = Splitter {
    name: "code",
    summary: "what begins definitions and statements in a programming language",
    parameters: IN_LANGUAGE,
    build: |parameters| in_language(parameters, parameters.text("language")),
};

fn in_language(parameters: &Parameters, language: &str) -> Result<Box<dyn Split>, Refusal> {
    debug_assert!(LANGUAGES.iter().any(|(name, _)| *name == language));
    boxed(parameters, parameters.texts("separators"), languages::separators(language))
}

fn boxed(parameters: &Parameters, given: Vec<String>, default: &[&str]) -> Result<Box<dyn Split>, Refusal> {
    let given = if given.is_empty() { default.iter().map(|&text| text.to_owned()).collect() } else { given };
    Ok(Box::new(Recursive::new(parameters, given)?))
}

/// A list of separators with the size of chunks.
#[derive(Debug)]
pub struct Recursive {
    separators: Vec<(String, Separator)>,
    keep: Keep,
    size: Size,
}

impl Recursive {
    /// Reads the parameters.
    ///
    /// # Errors
    /// If a separator is no pattern, or there are too many.
    pub fn new(parameters: &Parameters, separators: Vec<String>) -> Result<Self, Refusal> {
        if separators.len() > MOST {
            return Err(Refusal::of("separators", format!("at most {MOST}")));
        }
        let is_pattern = parameters.flag("is_separator_regex");
        let read = |text: String| Separator::new("separators", &text, is_pattern).map(|separator| (text, separator));
        Ok(Recursive {
            separators: separators.into_iter().map(read).collect::<Result<_, _>>()?,
            keep: Keep::of(parameters),
            size: Size::of(parameters)?,
        })
    }
}

impl Split for Recursive {
    fn split<'t>(&self, text: &'t str, _: &Embed<'_>) -> Result<Vec<Chunk<'t>>, Refusal> {
        let size = Size { length: self.size.length.for_text(text), ..self.size };
        let mut run = Run { text, keep: self.keep, size, chunks: Chunks::of(text) };
        run.split(0..text.len(), &self.separators)?;
        Ok(run.chunks.into_list())
    }
}

/// One text being split.
struct Run<'t> {
    text: &'t str,
    keep: Keep,
    size: Size,
    chunks: Chunks<'t>,
}

impl Run<'_> {
    fn split(&mut self, whole: Range<usize>, separators: &[(String, Separator)]) -> Result<(), Refusal> {
        let (join, pieces, finer) = self.cut(whole, separators)?;
        let mut from = 0;
        for (at, piece) in pieces.iter().enumerate() {
            if self.size.length.of_part(self.text, piece) < self.size.chunk {
                continue;
            }
            merge(self.text, &pieces[from..at], join, self.size, &mut self.chunks)?;
            from = at + 1;
            match finer {
                [] => push_exact(self.text, piece.clone(), false, &mut self.chunks)?,
                finer => self.split(piece.clone(), finer)?,
            }
        }
        merge(self.text, &pieces[from..], join, self.size, &mut self.chunks)
    }

    /// Cuts at the first separator that occurs, or at the last. Says how pieces are joined and what is finer.
    fn cut<'s>(&self, whole: Range<usize>, separators: &'s [(String, Separator)]) -> Result<Cut<'s>, Refusal> {
        let text = &self.text[whole.clone()];
        for (at, (source, separator)) in separators.iter().enumerate() {
            if let Separator::Nothing = separator {
                return Ok((Join::Nothing, cut::characters(self.text, whole), &[]));
            }
            let places = separator.places(text)?;
            if !places.is_empty() {
                let finer = &separators[at + 1..];
                let join = if self.keep == Keep::No { Join::Text(source) } else { Join::Nothing };
                return Ok((join, cut::pieces(whole, &places, self.keep), finer));
            }
        }
        Ok((Join::Nothing, if whole.is_empty() { Vec::new() } else { vec![whole] }, &[]))
    }
}

/// How pieces are joined, where they are, and the separators that are left for them.
type Cut<'s> = (Join<'s>, Vec<Range<usize>>, &'s [(String, Separator)]);
