//! Images of pages, whose text is recognized.

use crate::page_warnings::{Finding, PageWarnings};
use crate::recognition::{RecognitionError, RecognizedWord, Recognizer, mean_confidence};
use crate::sniff::{Confidence, Content};
use crate::text_sink::TextSink;
use crate::word_boxes::{PageSize, PageUnit};
use crate::{ExtractError, Format, Source};

/// The `png` format.
pub const PNG: Format = Format {
    name: "png",
    media_types: &["image/png"],
    extensions: &["png"],
    summary: "PNG image, with text recognition only",
    sniff: |content| Confidence::certain_if(content.starts_with(b"\x89PNG\r\n\x1a\n")),
    read,
};

/// The `jpeg` format.
pub const JPEG: Format = Format {
    name: "jpeg",
    media_types: &["image/jpeg"],
    extensions: &["jpg", "jpeg"],
    summary: "JPEG image, with text recognition only",
    sniff: |content| Confidence::certain_if(content.starts_with(b"\xFF\xD8\xFF")),
    read,
};

/// The `tiff` format.
pub const TIFF: Format = Format {
    name: "tiff",
    media_types: &["image/tiff"],
    extensions: &["tif", "tiff"],
    summary: "TIFF images, one page each, with text recognition only",
    sniff: |content: &Content<'_>| {
        Confidence::certain_if(content.starts_with(b"II*\0") || content.starts_with(b"MM\0*"))
    },
    read,
};

fn read(source: &Source<'_>, sink: &mut TextSink) -> Result<(), ExtractError> {
    let Some(options) = &source.options.recognition else {
        return Err(ExtractError::unsupported("the content is an image, and text recognition (OCR) is off"));
    };
    sink.set_hint(", and text recognition found none");
    let image = Recognizer::new(options).file_words(source.content.bytes).map_err(document_error)?;
    let mut warnings = PageWarnings::default();
    for (number, (width, height)) in (1..).zip(image.sizes) {
        let words: Vec<&RecognizedWord> = image.words.iter().filter(|word| word.page == number).collect();
        sink.begin_page(number.to_string())?;
        sink.set_page_size(PageSize { width, height, unit: PageUnit::Pixel, rotation: 0 });
        write_words(&words, sink)?;
        let finding = match mean_confidence(words) {
            Some(confidence) => {
                sink.set_confidence(confidence);
                Finding::Recognized { confidence, is_reduced: false }
            }
            None => Finding::NoText("text recognition found no text".into()),
        };
        warnings.add(number, finding, sink);
    }
    warnings.finish(sink);
    Ok(())
}

/// Converts the error of an image, which has no other page that could be read.
fn document_error(error: RecognitionError) -> ExtractError {
    use crate::program::ProgramError::TimedOut;

    match error {
        RecognitionError::Installation(error) => error,
        RecognitionError::OutOfTime | RecognitionError::NotRecognized(TimedOut(_)) => {
            ExtractError::too_large(error.to_string())
        }
        error => ExtractError::corrupt(error.to_string()),
    }
}

/// Writes the words of a page in lines and paragraphs.
fn write_words(words: &[&RecognizedWord], sink: &mut TextSink) -> Result<(), ExtractError> {
    let mut previous: Option<&RecognizedWord> = None;
    for word in words {
        match previous {
            None => {}
            Some(last) if (last.block, last.paragraph) != (word.block, word.paragraph) => sink.end_paragraph()?,
            Some(last) if last.line != word.line => sink.end_line()?,
            Some(_) => sink.push(" ")?,
        }
        sink.push_word(&word.text, word.place)?;
        previous = Some(word);
    }
    Ok(())
}
