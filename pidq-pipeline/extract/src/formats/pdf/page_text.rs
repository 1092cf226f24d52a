//! Text of PDF pages: writes the words of each page in reading order.
//!
//! A page is written when the pages after it are known, since running headers and footers are found by their repetition.

use std::collections::{BTreeSet, VecDeque};

use super::layout::{PageEdges, Placed, Rect, Separator, Word, reading_order, running_lines};
use super::page::{Page, Painted};
use super::scan::{RecognizedText, Scan, ScanReader};
use crate::ExtractError;
use crate::page_warnings::{Finding, PageWarnings};
use crate::text_sink::TextSink;

/// Number of pages before and after a page on which its headers and footers may be repeated: left and right pages differ.
const REACH: usize = 2;

/// Writer of pages, which are kept until the pages around them are known.
pub struct PageWriter<'s> {
    /// Up to `REACH` pages that were written, and those that wait.
    pages: VecDeque<(Page, PageEdges)>,
    written: usize,
    scans: ScanReader<'s>,
    warnings: PageWarnings,
}

impl<'s> PageWriter<'s> {
    pub fn new(scans: ScanReader<'s>) -> Self {
        PageWriter { pages: VecDeque::new(), written: 0, scans, warnings: PageWarnings::default() }
    }

    /// Adds the next page.
    pub fn add(&mut self, page: Page, sink: &mut TextSink) -> Result<(), ExtractError> {
        let edges = PageEdges::new(&page.words, page.height);
        self.pages.push_back((page, edges));
        match self.pages.len() > self.written + REACH {
            true => self.write_next(sink),
            false => Ok(()),
        }
    }

    /// Writes the remaining pages.
    pub fn finish(mut self, sink: &mut TextSink) -> Result<(), ExtractError> {
        while self.written < self.pages.len() {
            self.write_next(sink)?;
        }
        self.warnings.finish(sink);
        Ok(())
    }

    fn write_next(&mut self, sink: &mut TextSink) -> Result<(), ExtractError> {
        let index = self.written;
        let around =
            self.pages.iter().enumerate().filter(|(other, _)| *other != index && other.abs_diff(index) <= REACH);
        let around: Vec<&PageEdges> = around.map(|(_, (_, edges))| edges).collect();
        let (page, edges) = &self.pages[index];
        let parts = PageParts::new(page, &running_lines(edges, &around));
        let scan = match parts.has_text {
            true => Scan::Off,
            false if page.painted == Painted::Nothing => Scan::Off,
            false => self.scans.read(page)?,
        };
        sink.begin_page(page.number.to_string())?;
        sink.set_page_size(page.size());
        write_page(page, &parts, &scan, sink)?;
        if let Some(finding) = finding(page, &parts, &scan) {
            self.warnings.add(page.number, finding, sink);
        }
        self.written += 1;
        if self.written > REACH {
            self.pages.pop_front();
            self.written -= 1;
        }
        Ok(())
    }
}

/// Returns the finding about a page: it has no text, or the text was recognized.
fn finding(page: &Page, parts: &PageParts, scan: &Scan) -> Option<Finding> {
    let without_text = page.painted.without_text();
    match scan {
        Scan::Text(text) => Some(Finding::Recognized { confidence: text.confidence, is_reduced: text.is_reduced }),
        Scan::NoText(reason) => Some(Finding::NoText(format!("{without_text}; {reason}"))),
        Scan::Off if parts.has_text => None,
        Scan::Off => Some(Finding::NoText(format!("{without_text}{}", page.painted.advice()))),
    }
}

/// Words of a page by their part: running headers, the text between them, and running footers.
struct PageParts {
    headers: Vec<usize>,
    body: Vec<usize>,
    footers: Vec<usize>,
    /// `true` if the page has text: headers and footers beside an image are none.
    has_text: bool,
}

impl PageParts {
    fn new(page: &Page, (headers, footers): &(Vec<usize>, Vec<usize>)) -> Self {
        let running: BTreeSet<usize> = headers.iter().chain(footers).copied().collect();
        let body: Vec<usize> = (0..page.words.len()).filter(|index| !running.contains(index)).collect();
        let is_visible = |word: &Word| !word.text.trim().is_empty();
        let has_body = body.iter().any(|&index| is_visible(&page.words[index])) || page.comments.iter().any(is_visible);
        let has_words = has_body || page.words.iter().any(is_visible);
        let has_text = has_body || has_words && page.painted == Painted::Nothing;
        PageParts { headers: headers.clone(), body, footers: footers.clone(), has_text }
    }
}

/// Writes a page: running headers, the text, running footers, and comments. Recognized text follows the text.
fn write_page(page: &Page, parts: &PageParts, scan: &Scan, sink: &mut TextSink) -> Result<(), ExtractError> {
    for part in [&parts.headers, &parts.body] {
        write_part(page, part, sink)?;
    }
    if let Scan::Text(RecognizedText { words, order, confidence, .. }) = scan {
        write_words(words, order, sink)?;
        sink.set_confidence(*confidence);
    }
    write_part(page, &parts.footers, sink)?;
    write_words(&page.comments, &comments_order(&page.comments), sink)
}

fn write_part(page: &Page, part: &[usize], sink: &mut TextSink) -> Result<(), ExtractError> {
    let words: Vec<Word> = part.iter().map(|&index| page.words[index].clone()).collect();
    write_words(&words, &reading_order(&words), sink)
}

/// Returns comments in the order of the file, each in a line of its own.
fn comments_order(comments: &[Word]) -> Vec<Placed> {
    let separator = |index: usize| match index > 0 && comments[index - 1].rect == comments[index].rect {
        true => Separator::Space,
        false => Separator::Line,
    };
    (0..comments.len()).map(|word| Placed { word, separator: separator(word) }).collect()
}

/// Writes words. The rest of a word that was divided by a hyphen moves to the line in which the word starts.
fn write_words(words: &[Word], order: &[Placed], sink: &mut TextSink) -> Result<(), ExtractError> {
    let mut line_end = None;
    for (index, placed) in order.iter().enumerate() {
        let text = words[placed.word].text.as_str();
        let separator = if index == 0 { Separator::Paragraph } else { placed.separator };
        match Hyphen::between(sink.page_text(), separator, text) {
            Hyphen::None => {
                let moved = match separator {
                    Separator::Nothing => None,
                    _ => line_end.take().filter(|_| separator == Separator::Space),
                };
                write_separator(moved.unwrap_or(separator), sink)?;
            }
            hyphen => {
                if hyphen == Hyphen::Removed {
                    sink.remove_last_character();
                }
                line_end = Some(separator);
            }
        }
        let Rect { left, top, right, bottom } = words[placed.word].rect;
        sink.push_word(text, [left, top, right, bottom])?;
    }
    Ok(())
}

fn write_separator(separator: Separator, sink: &mut TextSink) -> Result<(), ExtractError> {
    match separator {
        _ if sink.page_text().is_empty() => Ok(()),
        Separator::Nothing => Ok(()),
        Separator::Space | Separator::CellLine => sink.push(" "),
        Separator::Cell => sink.push("\t"),
        Separator::Line => sink.end_line(),
        Separator::Column if ends_sentence(sink.page_text()) => sink.end_paragraph(),
        Separator::Column => sink.end_line(),
        Separator::Paragraph => sink.end_paragraph(),
    }
}

fn ends_sentence(text: &str) -> bool {
    text.trim_end_matches(['"', '\'', ')', '”', '’', ']']).ends_with(['.', '!', '?', ':', '。'])
}

/// A hyphen at the end of a line.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Hyphen {
    /// There is none, or the line ends with a dash.
    None,
    /// The hyphen of a tag or of a compound, which remains.
    Kept,
    /// The hyphen of a word that was divided.
    Removed,
}

impl Hyphen {
    /// Returns how the last word of a text is joined with the first word of the next line.
    fn between(text: &str, separator: Separator, next: &str) -> Hyphen {
        let is_divided = matches!(separator, Separator::Line | Separator::CellLine | Separator::Column);
        let Some((stem, hyphen)) = text.char_indices().next_back().map(|(index, last)| (&text[..index], last)) else {
            return Hyphen::None;
        };
        let (Some(before), Some(after)) = (stem.chars().next_back(), next.chars().next()) else { return Hyphen::None };
        match hyphen {
            _ if !is_divided || !before.is_alphanumeric() || !after.is_alphanumeric() => Hyphen::None,
            '\u{AD}' => Hyphen::Removed,
            '-' | '\u{2010}' if before.is_lowercase() && after.is_lowercase() => Hyphen::Removed,
            '-' | '\u{2010}' => Hyphen::Kept,
            _ => Hyphen::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divided_words_are_joined_and_the_hyphens_of_tags_remain() {
        for (text, separator, next, joined) in [
            ("pres-", Separator::Line, "sure", Hyphen::Removed),
            ("pres\u{2010}", Separator::Column, "sure", Hyphen::Removed),
            ("pres\u{AD}", Separator::CellLine, "sure", Hyphen::Removed),
            ("PSV-", Separator::Line, "2015A", Hyphen::Kept),
            ("Navier-", Separator::Line, "Stokes", Hyphen::Kept),
            ("pres-", Separator::Paragraph, "sure", Hyphen::None),
            ("pres-", Separator::Space, "sure", Hyphen::None),
            ("range 1 -", Separator::Line, "5", Hyphen::None),
            ("-", Separator::Line, "item", Hyphen::None),
            ("", Separator::Line, "item", Hyphen::None),
        ] {
            assert_eq!(Hyphen::between(text, separator, next), joined, "{text} {next}");
        }
    }
}
