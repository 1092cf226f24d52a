//! Warnings about pages: one for consecutive pages with the same finding.

use crate::text_sink::TextSink;

/// Mean confidence in percent below which a reader is asked to compare the text with the page.
const LOW_CONFIDENCE: u8 = 80;

/// Finding about a page.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Finding {
    /// It has no text, for the given reason.
    NoText(String),
    /// Its text was recognized.
    Recognized { confidence: u8, is_reduced: bool },
}

/// Consecutive pages, whose warning is written when they end.
#[derive(Default)]
pub struct PageWarnings {
    run: Option<Run>,
}

struct Run {
    first: usize,
    last: usize,
    finding: Finding,
    /// Maximum confidence; the finding has the minimum.
    highest: u8,
}

impl PageWarnings {
    /// Adds a page to those before it, or warns of these.
    pub fn add(&mut self, number: usize, finding: Finding, sink: &mut TextSink) {
        if self.run.as_mut().is_some_and(|run| run.extend(number, &finding)) {
            return;
        }
        self.finish(sink);
        let highest = if let Finding::Recognized { confidence, .. } = finding { confidence } else { 0 };
        self.run = Some(Run { first: number, last: number, finding, highest });
    }

    /// Writes the warning of the last pages.
    pub fn finish(&mut self, sink: &mut TextSink) {
        if let Some(run) = self.run.take() {
            sink.warn(run.text());
        }
    }
}

impl Run {
    /// Adds the next page if its finding is the same.
    fn extend(&mut self, number: usize, next: &Finding) -> bool {
        if self.last + 1 != number {
            return false;
        }
        let is_same = match (&mut self.finding, next) {
            (
                Finding::Recognized { confidence, is_reduced },
                Finding::Recognized { confidence: next, is_reduced: next_reduced },
            ) => {
                let is_same = is_reduced == next_reduced && (*confidence < LOW_CONFIDENCE) == (*next < LOW_CONFIDENCE);
                if is_same {
                    (*confidence, self.highest) = ((*confidence).min(*next), self.highest.max(*next));
                }
                is_same
            }
            (finding, next) => finding == next,
        };
        if is_same {
            self.last = number;
        }
        is_same
    }

    fn text(&self) -> String {
        let pages = match self.first == self.last {
            true => format!("page {}", self.first),
            false => format!("pages {} to {}", self.first, self.last),
        };
        match &self.finding {
            Finding::NoText(reason) => format!("{pages}: {reason}"),
            Finding::Recognized { confidence, is_reduced } => {
                let range = match *confidence == self.highest {
                    true => format!("{confidence} %"),
                    false => format!("{confidence} to {} %", self.highest),
                };
                let reduced = if *is_reduced { ", at a reduced resolution" } else { "" };
                let advice = if *confidence < LOW_CONFIDENCE { "; compare the text with the page" } else { "" };
                format!("{pages}: text recognized with a confidence of {range}{reduced}{advice}")
            }
        }
    }
}
