//! Old Office documents, which are converted and then read like new ones.

use super::{docx, pptx};
use crate::conversion::convert;
use crate::sniff::{Confidence, Content};
use crate::text_sink::TextSink;
use crate::{ExtractError, Format, Source, Upload};

/// The `doc` format.
pub const DOC: Format = Format {
    name: "doc",
    media_types: &["application/msword"],
    extensions: &["doc", "dot"],
    summary: "Word 97 to 2003, with LibreOffice only: as `docx`",
    sniff: |content| Confidence::certain_if(content.has_stream("WordDocument")),
    read: |source, sink| read(source, sink, "doc", &docx::DOCX),
};

/// The `ppt` format.
pub const PPT: Format = Format {
    name: "ppt",
    media_types: &["application/vnd.ms-powerpoint"],
    extensions: &["ppt", "pps", "pot"],
    summary: "PowerPoint 97 to 2003, with LibreOffice only: as `pptx`",
    sniff: |content| Confidence::certain_if(content.has_stream("PowerPoint Document")),
    read: |source, sink| read(source, sink, "ppt", &pptx::PPTX),
};

fn read(source: &Source<'_>, sink: &mut TextSink, from: &str, target: &Format) -> Result<(), ExtractError> {
    let Some(soffice) = &source.options.soffice else {
        return Err(ExtractError::unsupported("the content is in a legacy Office format, and no converter is set"));
    };
    let converted = convert(soffice, source.content.bytes, from, target.name)?;
    let upload = Upload { bytes: &converted, ..Upload::default() };
    let content = Content::new(&upload, source.options);
    (target.read)(&Source { content: &content, options: source.options }, sink)
}
