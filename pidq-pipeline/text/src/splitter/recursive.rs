//! Recursive splitters: split at the coarsest separator that occurs, and pieces that are too long at finer ones.

use std::ops::Range;

use super::languages::{self, LANGUAGES};
use super::merge::{CHUNK_OVERLAP, CHUNK_SIZE, ChunkSize, Join, LENGTH, STRIP, merge, push_exact};
use super::parameters::{Parameter, ParameterKind, Parameters};
use super::separators::{self, KeepSeparator, Separator};
use super::size_limit::ChunkList;
use super::{Chunk, Embed, Split, SplitError, Splitter};

/// Maximum number of separators; each is one level of recursion.
const MAX_SEPARATORS: usize = 64;

const SEPARATORS: Parameter = Parameter {
    name: "separators",
    kind: ParameterKind::Strings,
    default: r#"["\n\n", "\n", " ", ""]"#,
    summary: "separators, coarsest first; an empty array means the default",
};
const IS_REGEX: Parameter = Parameter {
    name: "is_separator_regex",
    kind: ParameterKind::Flag,
    default: "false",
    summary: "whether separators are regular expressions",
};
const KEEP: Parameter = Parameter {
    name: "keep_separator",
    kind: ParameterKind::Keep,
    default: "true",
    summary: "whether separators are kept at the start (true, \"start\") or end (\"end\") of a piece, or removed (false)",
};
const LANGUAGE: Parameter = Parameter {
    name: "language",
    kind: ParameterKind::OneOf(languages::NAMES),
    default: "\"python\"",
    summary: "the programming language",
};
/// Parameter for replacing the separators of a language.
const SEPARATOR_OVERRIDE: Parameter = Parameter {
    name: "separators",
    kind: ParameterKind::Strings,
    default: "[]",
    summary: "separators that replace those of the language",
};
const OVERRIDE_IS_REGEX: Parameter = Parameter {
    name: "is_separator_regex",
    kind: ParameterKind::Flag,
    default: "true",
    summary: "whether separators are regular expressions",
};

const CHARACTER_PARAMETERS: &[Parameter] = &[CHUNK_SIZE, CHUNK_OVERLAP, LENGTH, SEPARATORS, IS_REGEX, KEEP, STRIP];
const LITERAL_PARAMETERS: &[Parameter] =
    &[CHUNK_SIZE, CHUNK_OVERLAP, LENGTH, SEPARATOR_OVERRIDE, IS_REGEX, KEEP, STRIP];
const LANGUAGE_PARAMETERS: &[Parameter] =
    &[CHUNK_SIZE, CHUNK_OVERLAP, LENGTH, SEPARATOR_OVERRIDE, OVERRIDE_IS_REGEX, KEEP, STRIP, LANGUAGE];

/// The default splitter of pipelines.
pub const RECURSIVE_CHARACTER: Splitter = Splitter {
    name: "recursive_character",
    summary: "splits at paragraphs, then lines, then words, then characters: at the coarsest separator that keeps chunks short enough",
    parameters: CHARACTER_PARAMETERS,
    build: |parameters| build_recursive(parameters, parameters.strings("separators"), &["\n\n", "\n", " ", ""]),
};

/// Splitter for Markdown, with patterns.
pub const MARKDOWN: Splitter = Splitter {
    name: "markdown",
    summary: "splits at headings, code blocks and horizontal rules of Markdown, then like recursive_character",
    parameters: LANGUAGE_PARAMETERS,
    build: |parameters| build_for_language(parameters, "markdown"),
};

/// Splitter for Markdown, with the same separators taken literally.
pub const MARKDOWN_LITERAL: Splitter = Splitter {
    name: "markdown_literal",
    summary: "like markdown, but with its patterns taken literally, as in the LangChain class MarkdownTextSplitter",
    parameters: LITERAL_PARAMETERS,
    build: |parameters| {
        build_recursive(parameters, parameters.strings("separators"), languages::separators("markdown"))
    },
};

/// Splitter for HTML source.
pub const HTML: Splitter = Splitter {
    name: "html",
    summary: "splits at the tags of HTML source",
    parameters: LANGUAGE_PARAMETERS,
    build: |parameters| build_for_language(parameters, "html"),
};

/// Splitter for program source.
pub const CODE: Splitter = Splitter {
    name: "code",
    summary: "splits at the starts of definitions and statements of a programming language",
    parameters: LANGUAGE_PARAMETERS,
    build: |parameters| build_for_language(parameters, parameters.text("language")),
};

fn build_for_language(parameters: &Parameters, language: &str) -> Result<Box<dyn Split>, SplitError> {
    debug_assert!(LANGUAGES.iter().any(|(name, _)| *name == language));
    build_recursive(parameters, parameters.strings("separators"), languages::separators(language))
}

fn build_recursive(
    parameters: &Parameters,
    separators: Vec<String>,
    default: &[&str],
) -> Result<Box<dyn Split>, SplitError> {
    let separators =
        if separators.is_empty() { default.iter().map(|&text| text.to_owned()).collect() } else { separators };
    Ok(Box::new(Recursive::new(parameters, separators)?))
}

/// A recursive splitter: separators and chunk size.
#[derive(Debug)]
pub struct Recursive {
    separators: Vec<(String, Separator)>,
    keep: KeepSeparator,
    size: ChunkSize,
}

impl Recursive {
    /// Reads the parameters.
    ///
    /// # Errors
    /// Fails if a separator is not a valid pattern, or there are too many.
    pub fn new(parameters: &Parameters, separators: Vec<String>) -> Result<Self, SplitError> {
        if separators.len() > MAX_SEPARATORS {
            return Err(SplitError::parameter("separators", format!("must not have more than {MAX_SEPARATORS} items")));
        }
        let is_pattern = parameters.flag("is_separator_regex");
        let parse = |text: String| Separator::new("separators", &text, is_pattern).map(|separator| (text, separator));
        Ok(Recursive {
            separators: separators.into_iter().map(parse).collect::<Result<_, _>>()?,
            keep: KeepSeparator::from_parameters(parameters),
            size: ChunkSize::from_parameters(parameters)?,
        })
    }
}

impl Split for Recursive {
    fn split<'t>(&self, text: &'t str, _: &Embed<'_>) -> Result<Vec<Chunk<'t>>, SplitError> {
        let size = ChunkSize { length: self.size.length.for_text(text), ..self.size };
        let mut state = SplitState { text, keep: self.keep, size, chunks: ChunkList::for_text(text) };
        state.split(0..text.len(), &self.separators)?;
        Ok(state.chunks.into_vec())
    }
}

/// State of splitting one text.
struct SplitState<'t> {
    text: &'t str,
    keep: KeepSeparator,
    size: ChunkSize,
    chunks: ChunkList<'t>,
}

impl SplitState<'_> {
    fn split(&mut self, range: Range<usize>, separators: &[(String, Separator)]) -> Result<(), SplitError> {
        let (join, pieces, finer) = self.split_at_coarsest(range, separators)?;
        let mut start = 0;
        for (index, piece) in pieces.iter().enumerate() {
            if self.size.length.measure_part(self.text, piece) < self.size.chunk {
                continue;
            }
            merge(self.text, &pieces[start..index], join, self.size, &mut self.chunks)?;
            start = index + 1;
            match finer {
                [] => push_exact(self.text, piece.clone(), false, &mut self.chunks)?,
                finer => self.split(piece.clone(), finer)?,
            }
        }
        merge(self.text, &pieces[start..], join, self.size, &mut self.chunks)
    }

    /// Splits at the first separator that occurs, or at the last. Returns the joining, the pieces and the finer separators.
    fn split_at_coarsest<'s>(
        &self,
        range: Range<usize>,
        separators: &'s [(String, Separator)],
    ) -> Result<SplitOutcome<'s>, SplitError> {
        let text = &self.text[range.clone()];
        for (index, (source, separator)) in separators.iter().enumerate() {
            if let Separator::EveryChar = separator {
                return Ok((Join::Nothing, separators::characters(self.text, range), &[]));
            }
            let matches = separator.find_all(text)?;
            if !matches.is_empty() {
                let finer = &separators[index + 1..];
                let join = if self.keep == KeepSeparator::No { Join::Text(source) } else { Join::Nothing };
                return Ok((join, separators::split_at(range, &matches, self.keep), finer));
            }
        }
        Ok((Join::Nothing, if range.is_empty() { Vec::new() } else { vec![range] }, &[]))
    }
}

/// Joining of the pieces, the pieces, and the remaining separators.
type SplitOutcome<'s> = (Join<'s>, Vec<Range<usize>>, &'s [(String, Separator)]);
