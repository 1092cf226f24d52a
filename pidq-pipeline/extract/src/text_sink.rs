//! Text sink: collects the text that a format reader writes, with its limit, pages, line ends as LF and no NULs.

use std::ops::Range;

use super::attachment::{self, AttachmentLimits, AttachmentSink};
use super::word_boxes::{MAX_ENCODED_SIZE, PageRect, PageSize, PageWords};
use super::{ErrorCode, ExtractError, Extracted, Format, Page};

/// Maximum number of warnings of a document; further ones are only counted.
const MAX_WARNINGS: usize = 100;
/// Maximum length of a warning or a title, in characters.
const MAX_LINE_LENGTH: usize = 300;

/// Collector of text, pages, title and warnings.
pub struct TextSink {
    text: String,
    characters: usize,
    limit: usize,
    pages: Vec<Page>,
    /// Size of the open page.
    page_size: Option<PageSize>,
    /// Ranges in bytes and boxes of the words of the open page.
    words: Vec<(Range<usize>, PageRect)>,
    /// Encoded words of the pages that have ended; empty for a page without a size.
    page_words: Vec<Vec<u8>>,
    /// Bytes that they may still take.
    page_words_budget: usize,
    after_return: bool,
    title: Option<String>,
    warnings: Vec<String>,
    more_warnings: usize,
    attachments: AttachmentSink,
    /// Number of characters of invisible text, without white space.
    omitted: usize,
    /// Media type, if it is not the first one of the format.
    media_type: Option<&'static str>,
    /// Advice that is appended to the error for a document without text.
    hint: &'static str,
}

impl TextSink {
    pub fn new(limit: usize) -> Self {
        TextSink {
            text: String::new(),
            characters: 0,
            limit,
            pages: Vec::new(),
            page_size: None,
            words: Vec::new(),
            page_words: Vec::new(),
            page_words_budget: MAX_ENCODED_SIZE,
            after_return: false,
            title: None,
            warnings: Vec::new(),
            more_warnings: 0,
            attachments: AttachmentSink::default(),
            omitted: 0,
            media_type: None,
            hint: "",
        }
    }

    /// Sets the limits of attachments; without them, attachments are only named in warnings.
    #[must_use]
    pub fn with_attachments(self, limits: Option<AttachmentLimits>) -> Self {
        TextSink { attachments: AttachmentSink::new(limits), ..self }
    }

    /// Adds an attachment, or the warning that it is not read.
    pub fn attach(
        &mut self,
        name: Option<String>,
        media_type: Option<String>,
        size: u64,
        bytes: impl FnOnce() -> Result<Vec<u8>, ExtractError>,
    ) -> Result<(), ExtractError> {
        if let Some(warning) = self.attachments.add(name, media_type, size, bytes)? {
            self.warn(warning);
        }
        Ok(())
    }

    /// Adds the warning that an attachment is not read.
    pub fn refuse_attachment(&mut self, name: Option<&str>, size: u64, reason: &str) {
        self.warn(attachment::warning(name, size, reason));
    }

    /// Counts an image that is part of the text of a mail.
    pub fn add_inline_image(&mut self) {
        self.attachments.add_inline_image();
    }

    /// Adds text.
    pub fn push(&mut self, text: &str) -> Result<(), ExtractError> {
        self.characters += text.chars().count();
        if self.characters > self.limit {
            return Err(ExtractError::too_large(format!("the text has more than {} characters", self.limit)));
        }
        if !self.after_return && !text.bytes().any(|byte| matches!(byte, b'\r' | 0)) {
            self.text.push_str(text);
        } else {
            text.chars().for_each(|c| self.character(c));
        }
        Ok(())
    }

    /// Adds a word with its box on the open page, whose size must be set before the page ends.
    pub fn push_word(&mut self, text: &str, rect: PageRect) -> Result<(), ExtractError> {
        let start = self.text.len();
        self.push(text)?;
        self.words.push((start..self.text.len(), rect));
        Ok(())
    }

    fn character(&mut self, c: char) {
        let is_after_return = std::mem::replace(&mut self.after_return, c == '\r') && c == '\n';
        match c {
            '\0' => {}
            '\n' if is_after_return => {}
            '\r' => self.text.push('\n'),
            c => self.text.push(c),
        }
    }

    /// Ends the line, unless the page is empty or at the start of a line.
    pub fn end_line(&mut self) -> Result<(), ExtractError> {
        if self.page_text().is_empty() || self.text.ends_with('\n') {
            return Ok(());
        }
        self.push("\n")
    }

    /// Writes an empty line, unless there is one or the page is empty.
    pub fn end_paragraph(&mut self) -> Result<(), ExtractError> {
        self.end_line()?;
        if self.page_text().is_empty() || self.text.ends_with("\n\n") {
            return Ok(());
        }
        self.push("\n")
    }

    /// Removes the last character of the open page, such as a hyphen at the end of a line.
    pub fn remove_last_character(&mut self) {
        if !self.page_text().is_empty() {
            self.text.pop();
            self.characters -= 1;
            self.cut_words();
        }
    }

    /// Shortens the boxes' ranges to the text that is left.
    fn cut_words(&mut self) {
        let end = self.text.len();
        while let Some((range, _)) = self.words.last_mut().filter(|(range, _)| range.end > end) {
            range.end = end;
            if range.start < end {
                break;
            }
            self.words.pop();
        }
    }

    /// Returns the text of the open page.
    pub fn page_text(&self) -> &str {
        let start = self.pages.last().map_or(0, |page| page.start);
        &self.text[start..]
    }

    /// Joins the page's text from an offset into one line, unless it has more than `max_size` bytes. Returns whether it was
    /// joined.
    pub fn join_lines(&mut self, offset: usize, max_size: usize) -> bool {
        let start = self.pages.last().map_or(0, |page| page.start) + offset;
        let Some(text) = self.text.get(start..).filter(|text| text.trim().len() <= max_size) else {
            return false;
        };
        let joined = text.split(['\n', '\t']).map(str::trim).filter(|part| !part.is_empty());
        let joined = joined.collect::<Vec<_>>().join(" ");
        self.text.truncate(start);
        self.cut_words();
        self.text.push_str(&joined);
        true
    }

    /// Starts a page.
    pub fn begin_page(&mut self, label: impl Into<String>) -> Result<(), ExtractError> {
        self.end_page();
        if !self.text.is_empty() {
            self.push("\n\n")?;
        }
        self.pages.push(Page { start: self.text.len(), end: self.text.len(), label: label.into(), confidence: None });
        Ok(())
    }

    /// Sets the size of the open page, whose words then keep their boxes.
    pub fn set_page_size(&mut self, size: PageSize) {
        self.page_size = Some(size);
    }

    /// Marks the open page as recognized, with a confidence in percent.
    pub fn set_confidence(&mut self, confidence: u8) {
        if let Some(page) = self.pages.last_mut() {
            page.confidence = Some(confidence);
        }
    }

    /// Trims white space from the end of the page, so that all pages are separated alike.
    fn end_page(&mut self) {
        self.after_return = false;
        let Some(page) = self.pages.last_mut() else { return };
        let end = self.text.trim_end().len().max(page.start);
        self.text.truncate(end);
        page.end = end;
        self.cut_words();
        let encoded = self.encoded_words();
        self.page_words.push(encoded);
    }

    /// Encodes the words of the open page; empty for a page without a size.
    fn encoded_words(&mut self) -> Vec<u8> {
        let start = self.pages.last().map_or(0, |page| page.start);
        let words = std::mem::take(&mut self.words).into_iter();
        let words: Vec<_> = words.map(|(range, rect)| (range.start - start..range.end - start, rect)).collect();
        let page = self.page_size.take().and_then(|size| PageWords::new(size, &self.text[start..], &words));
        let encoded = page.and_then(|page| page.encode().ok());
        let encoded = encoded.filter(|encoded| encoded.len() <= self.page_words_budget).unwrap_or_default();
        self.page_words_budget -= encoded.len();
        encoded
    }

    /// Sets the title. Only the first title that is not blank counts.
    pub fn set_title(&mut self, title: &str) {
        let title = truncate_to_line(title);
        if self.title.is_none() && !title.is_empty() {
            self.title = Some(title);
        }
    }

    /// Adds a warning.
    pub fn warn(&mut self, warning: impl AsRef<str>) {
        if self.warnings.len() == MAX_WARNINGS {
            self.more_warnings += 1;
        } else {
            self.warnings.push(truncate_to_line(warning.as_ref()));
        }
    }

    /// Counts text that is in the file but not visible in the document, and is therefore left out.
    pub fn omit(&mut self, text: &str) {
        self.omitted += text.chars().filter(|c| !c.is_whitespace()).count();
    }

    /// Sets the media type, if it is not the first one of the format.
    pub fn set_media_type(&mut self, media_type: &'static str) {
        self.media_type = Some(media_type);
    }

    /// Sets the advice that is appended to the error for a document without text.
    pub fn set_hint(&mut self, hint: &'static str) {
        self.hint = hint;
    }

    pub fn finish(mut self, format: &Format) -> Result<Extracted, ExtractError> {
        let (attachments, inline_images) = std::mem::take(&mut self.attachments).finish();
        inline_images.iter().for_each(|warning| self.warn(warning));
        if self.omitted > 0 {
            self.warn(format!("{} characters of invisible text were left out", self.omitted));
        }
        if self.text.trim().is_empty() {
            return Err(ExtractError::new(ErrorCode::EmptyText, format!("the document contains no text{}", self.hint)));
        }
        if self.pages.is_empty() {
            self.pages.push(Page { start: 0, end: self.text.len(), label: "1".into(), confidence: None });
        } else {
            self.end_page();
        }
        if self.more_warnings > 0 {
            self.warnings.push(format!("and {} more", self.more_warnings));
        }
        if self.page_words.iter().all(Vec::is_empty) {
            self.page_words.clear();
        }
        Ok(Extracted {
            text: self.text,
            pages: self.pages,
            page_words: self.page_words,
            attachments,
            title: self.title,
            warnings: self.warnings,
            media_type: self.media_type.unwrap_or(format.media_types[0]).to_owned(),
            format: format.name.to_owned(),
        })
    }
}

/// Returns a text as one line of limited length.
fn truncate_to_line(text: &str) -> String {
    let one_line = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let joined = one_line.take(MAX_LINE_LENGTH).collect::<Vec<_>>().join(" ");
    joined.chars().take(MAX_LINE_LENGTH).collect()
}

/// Returns the text of a cell as one line, so that a row is one line.
pub(crate) fn one_line(text: &str) -> String {
    text.trim().replace("\r\n", " ").replace(['\r', '\n', '\t'], " ")
}
