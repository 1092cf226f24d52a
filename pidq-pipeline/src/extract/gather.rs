//! The text that a reader writes: within its limit, with its pages, its line ends made LF and its NULs left out.

use super::{Code, Extracted, Failure, Format, Page};

/// Warnings of one document; what comes after is only counted.
const MAX_WARNINGS: usize = 100;
/// Characters of a warning or a title, which quote the document.
const MAX_WORDS: usize = 300;

/// A text that grows.
pub struct Gather {
    text: String,
    characters: usize,
    limit: usize,
    pages: Vec<Page>,
    after_return: bool,
    title: Option<String>,
    warnings: Vec<String>,
    more_warnings: usize,
    /// What the document is, where that is not the first media type of its row.
    media_type: Option<&'static str>,
    /// What to do when there is no text.
    hint: &'static str,
}

impl Gather {
    pub fn new(limit: usize) -> Self {
        Gather {
            text: String::new(),
            characters: 0,
            limit,
            pages: Vec::new(),
            after_return: false,
            title: None,
            warnings: Vec::new(),
            more_warnings: 0,
            media_type: None,
            hint: "",
        }
    }

    /// Adds text.
    pub fn push(&mut self, text: &str) -> Result<(), Failure> {
        self.characters += text.chars().count();
        if self.characters > self.limit {
            return Err(Failure::large(format!("the text has more than {} characters", self.limit)));
        }
        if !self.after_return && !text.bytes().any(|byte| matches!(byte, b'\r' | 0)) {
            self.text.push_str(text);
        } else {
            text.chars().for_each(|c| self.character(c));
        }
        Ok(())
    }

    fn character(&mut self, c: char) {
        let second_half = std::mem::replace(&mut self.after_return, c == '\r') && c == '\n';
        match c {
            '\0' => {}
            '\n' if second_half => {}
            '\r' => self.text.push('\n'),
            c => self.text.push(c),
        }
    }

    /// Ends the line, unless the page is at the beginning of one.
    pub fn line(&mut self) -> Result<(), Failure> {
        if self.page_text().is_empty() || self.text.ends_with('\n') {
            return Ok(());
        }
        self.push("\n")
    }

    /// Makes an empty line, unless there is one or the page is empty.
    pub fn paragraph(&mut self) -> Result<(), Failure> {
        self.line()?;
        if self.page_text().is_empty() || self.text.ends_with("\n\n") {
            return Ok(());
        }
        self.push("\n")
    }

    /// The text of the page that is open.
    pub fn page_text(&self) -> &str {
        let start = self.pages.last().map_or(0, |page| page.start);
        &self.text[start..]
    }

    /// Puts the text of the page from a place on into one line, unless it is longer than so many bytes. Says whether it is.
    pub fn join_lines(&mut self, from: usize, longest: usize) -> bool {
        let start = self.pages.last().map_or(0, |page| page.start) + from;
        let Some(text) = self.text.get(start..).filter(|text| text.trim().len() <= longest) else {
            return false;
        };
        let joined = text.split(['\n', '\t']).map(str::trim).filter(|part| !part.is_empty());
        let joined = joined.collect::<Vec<_>>().join(" ");
        self.text.truncate(start);
        self.text.push_str(&joined);
        true
    }

    /// Begins a page.
    pub fn page(&mut self, label: impl Into<String>) -> Result<(), Failure> {
        self.end_page();
        if !self.text.is_empty() {
            self.push("\n\n")?;
        }
        self.pages.push(Page { start: self.text.len(), end: self.text.len(), label: label.into() });
        Ok(())
    }

    /// Takes the blanks from the end of the page, so that pages are separated alike.
    fn end_page(&mut self) {
        self.after_return = false;
        if let Some(page) = self.pages.last_mut() {
            let text = self.text.trim_end().len().max(page.start);
            self.text.truncate(text);
            page.end = text;
        }
    }

    /// What the document calls itself; the first that says something counts.
    pub fn title(&mut self, title: &str) {
        let title = words(title);
        if self.title.is_none() && !title.is_empty() {
            self.title = Some(title);
        }
    }

    /// Something that a reader of the text should know.
    pub fn warn(&mut self, warning: impl AsRef<str>) {
        if self.warnings.len() == MAX_WARNINGS {
            self.more_warnings += 1;
        } else {
            self.warnings.push(words(warning.as_ref()));
        }
    }

    /// Says what the document is, where that is not the first media type of its row.
    pub fn is_of(&mut self, media_type: &'static str) {
        self.media_type = Some(media_type);
    }

    /// What to do when there is no text.
    pub fn hint(&mut self, hint: &'static str) {
        self.hint = hint;
    }

    pub fn finish(mut self, format: &Format) -> Result<Extracted, Failure> {
        if self.text.trim().is_empty() {
            return Err(Failure::new(Code::EmptyText, format!("there is no text in the document{}", self.hint)));
        }
        if self.pages.is_empty() {
            self.pages.push(Page { start: 0, end: self.text.len(), label: "1".into() });
        } else {
            self.end_page();
        }
        if self.more_warnings > 0 {
            self.warnings.push(format!("and {} more", self.more_warnings));
        }
        Ok(Extracted {
            text: self.text,
            pages: self.pages,
            title: self.title,
            warnings: self.warnings,
            media_type: self.media_type.unwrap_or(format.media_types[0]).to_owned(),
            format: format.name.to_owned(),
        })
    }
}

/// A short text on one line.
fn words(text: &str) -> String {
    let one_line = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let joined = one_line.take(MAX_WORDS).collect::<Vec<_>>().join(" ");
    joined.chars().take(MAX_WORDS).collect()
}
