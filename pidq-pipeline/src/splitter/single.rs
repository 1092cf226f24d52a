//! Splitting at one separator.

use super::cut::{self, Keep, Separator};
use super::merge::{CHUNK_OVERLAP, CHUNK_SIZE, Join, LENGTH, STRIP, Size, merge};
use super::parameters::{Kind, Parameter, Parameters};
use super::room::Chunks;
use super::{Chunk, Embed, Refusal, Split, Splitter};

/// The row.
pub const CHARACTER: Splitter = Splitter {
    name: "character",
    summary: "at one separator only; a piece that is too long stays",
    parameters: &[
        CHUNK_SIZE,
        CHUNK_OVERLAP,
        LENGTH,
        Parameter { name: "separator", kind: Kind::Text, default: r#""\n\n""#, summary: "what separates" },
        Parameter {
            name: "is_separator_regex",
            kind: Kind::Flag,
            default: "false",
            summary: "whether it is a regular expression",
        },
        Parameter {
            name: "keep_separator",
            kind: Kind::Keep,
            default: "false",
            summary: "whether a piece begins (true, \"start\") or ends (\"end\") with its separator, or loses it",
        },
        STRIP,
    ],
    build: |parameters| Ok(Box::new(Single::new(parameters)?)),
};

struct Single {
    source: String,
    separator: Separator,
    keep: Keep,
    size: Size,
}

impl Single {
    fn new(parameters: &Parameters) -> Result<Self, Refusal> {
        let source = parameters.text("separator").to_owned();
        let separator = Separator::new("separator", &source, parameters.flag("is_separator_regex"))?;
        Ok(Single { source, separator, keep: Keep::of(parameters), size: Size::of(parameters)? })
    }

    fn join(&self) -> Join<'_> {
        match (self.keep, &self.separator) {
            (Keep::No, Separator::Pattern(_, true)) => Join::Nothing,
            (Keep::No, _) => Join::Text(&self.source),
            _ => Join::Nothing,
        }
    }
}

impl Split for Single {
    fn split<'t>(&self, text: &'t str, _: &Embed<'_>) -> Result<Vec<Chunk<'t>>, Refusal> {
        let size = Size { length: self.size.length.for_text(text), ..self.size };
        let pieces = match self.separator {
            Separator::Nothing => cut::characters(text, 0..text.len()),
            _ => cut::pieces(0..text.len(), &self.separator.places(text)?, self.keep),
        };
        let mut chunks = Chunks::of(text);
        merge(text, &pieces, self.join(), size, &mut chunks)?;
        Ok(chunks.into_list())
    }
}
