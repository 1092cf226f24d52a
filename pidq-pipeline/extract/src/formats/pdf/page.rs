//! Content of a PDF page: its words, and what it shows besides them.

use super::layout::Word;
use crate::word_boxes::{PageSize, PageUnit};

/// A page that was read.
pub struct Page {
    pub number: usize,
    /// Width and height as displayed, in points.
    pub width: f32,
    pub height: f32,
    /// Clockwise turn in degrees by which it is displayed.
    pub rotation: u16,
    pub words: Vec<Word>,
    /// Words that are not part of the page itself: comments.
    pub comments: Vec<Word>,
    pub painted: Painted,
}

/// Content of a page besides text.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Painted {
    Nothing,
    Lines,
    Image,
    /// Its content is damaged.
    Unreadable,
}

impl Painted {
    /// Returns the finding about a page without text.
    pub fn without_text(self) -> &'static str {
        match self {
            Painted::Nothing => "blank",
            Painted::Lines => "no text, only lines",
            Painted::Image => "no text, only images",
            Painted::Unreadable => "no text; the content is damaged",
        }
    }

    /// Returns the advice on a page without text where text recognition is off.
    pub fn advice(self) -> &'static str {
        match self {
            Painted::Lines => "; letters that are drawn as lines need OCR",
            Painted::Image => "; text in images needs OCR",
            Painted::Nothing | Painted::Unreadable => "",
        }
    }
}

impl Page {
    /// Returns the size of the page as displayed.
    pub fn size(&self) -> PageSize {
        PageSize { width: self.width, height: self.height, unit: PageUnit::Point, rotation: self.rotation }
    }

    /// Returns whether the page shows an image, such as that of a scanner.
    pub fn is_scan(&self) -> bool {
        self.painted == Painted::Image
    }
}
