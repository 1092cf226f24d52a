//! The `character` splitter: splits at one separator.

use super::merge::{CHUNK_OVERLAP, CHUNK_SIZE, ChunkSize, Join, LENGTH, STRIP, merge};
use super::parameters::{Parameter, ParameterKind, Parameters};
use super::separators::{self, KeepSeparator, Separator};
use super::size_limit::ChunkList;
use super::{Chunk, Embed, Split, SplitError, Splitter};

/// The `character` splitter.
pub const CHARACTER: Splitter = Splitter {
    name: "character",
    summary: "splits at one separator only; pieces longer than chunk_size are not split further",
    parameters: &[
        CHUNK_SIZE,
        CHUNK_OVERLAP,
        LENGTH,
        Parameter { name: "separator", kind: ParameterKind::Text, default: r#""\n\n""#, summary: "the separator" },
        Parameter {
            name: "is_separator_regex",
            kind: ParameterKind::Flag,
            default: "false",
            summary: "whether the separator is a regular expression",
        },
        Parameter {
            name: "keep_separator",
            kind: ParameterKind::Keep,
            default: "false",
            summary: "whether separators are kept at the start (true, \"start\") or end (\"end\") of a piece, or removed (false)",
        },
        STRIP,
    ],
    build: |parameters| Ok(Box::new(CharacterSplitter::new(parameters)?)),
};

struct CharacterSplitter {
    source: String,
    separator: Separator,
    keep: KeepSeparator,
    size: ChunkSize,
}

impl CharacterSplitter {
    fn new(parameters: &Parameters) -> Result<Self, SplitError> {
        let source = parameters.text("separator").to_owned();
        let separator = Separator::new("separator", &source, parameters.flag("is_separator_regex"))?;
        Ok(CharacterSplitter {
            source,
            separator,
            keep: KeepSeparator::from_parameters(parameters),
            size: ChunkSize::from_parameters(parameters)?,
        })
    }

    fn join(&self) -> Join<'_> {
        match (self.keep, &self.separator) {
            (KeepSeparator::No, Separator::Pattern(_, true)) => Join::Nothing,
            (KeepSeparator::No, _) => Join::Text(&self.source),
            _ => Join::Nothing,
        }
    }
}

impl Split for CharacterSplitter {
    fn split<'t>(&self, text: &'t str, _: &Embed<'_>) -> Result<Vec<Chunk<'t>>, SplitError> {
        let size = ChunkSize { length: self.size.length.for_text(text), ..self.size };
        let pieces = match self.separator {
            Separator::EveryChar => separators::characters(text, 0..text.len()),
            _ => separators::split_at(0..text.len(), &self.separator.find_all(text)?, self.keep),
        };
        let mut chunks = ChunkList::for_text(text);
        merge(text, &pieces, self.join(), size, &mut chunks)?;
        Ok(chunks.into_vec())
    }
}
