//! Pages of quotes: a chunk may span pages, and its own page is the one on which it starts.

use pidq_extract::Page;

use crate::generation::rag::{Answer, Citation};
use crate::platform::Platform;

/// Sets the pages of the quotes of an answer, and the page of each citation to that of its first quote. A failure of the
/// store leaves the pages of the chunks.
pub(super) async fn set_pages(platform: &Platform, answer: &mut Answer) {
    for citation in &mut answer.citations {
        if let Some(pages) = page_starts(platform, citation).await {
            pages.apply(citation);
        }
    }
}

/// Starts of the pages of a document, in bytes and with the text to which they refer.
struct PageStarts {
    text: String,
    starts: Vec<usize>,
}

/// Reads the pages of a cited document; none if it has a single one, or the citation has no quotes with a place.
async fn page_starts(platform: &Platform, citation: &Citation) -> Option<PageStarts> {
    let document = citation.context.document_id.as_deref()?;
    let revision = i64::try_from(citation.context.revision).ok()?;
    citation.quotes.iter().find_map(|quote| quote.start)?;
    let pages = platform.store.pages(document, revision).await.ok()??;
    let pages: Vec<Page> = serde_json::from_str(&pages).ok()?;
    if pages.len() < 2 {
        return None;
    }
    // The pages may have changed since: both are read together.
    let (text, pages) = platform.store.extracted(document, revision).await.ok()??;
    let pages: Vec<Page> = serde_json::from_str(&pages).ok()?;
    Some(PageStarts { text, starts: pages.into_iter().map(|page| page.start).collect() })
}

impl PageStarts {
    fn apply(&self, citation: &mut Citation) {
        for quote in &mut citation.quotes {
            quote.page = quote.start.and_then(|start| self.page_at(start)).or(quote.page);
        }
        if let Some(page) = citation.quotes.first().and_then(|quote| quote.page) {
            citation.context.page = Some(page);
        }
    }

    /// Returns the page, from 1, of a code point of the text. Separators belong to the page before them.
    fn page_at(&self, code_point: usize) -> Option<u32> {
        let byte = self.text.char_indices().nth(code_point)?.0;
        u32::try_from(self.starts.partition_point(|start| *start <= byte).max(1)).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generation::rag::{Context, Quote};

    #[test]
    fn a_citation_has_the_page_of_its_first_quote() {
        let text = "Übersicht\n\nP-1 läuft.\n\nP-2 steht.".to_owned();
        let starts = ["Übersicht", "P-1", "P-2"].map(|words| text.find(words).expect("a page")).to_vec();
        let pages = PageStarts { text, starts };
        let quote = |start: Option<usize>| Quote { start, end: None, page: Some(1), text: String::new() };
        let check = |quotes: &[Option<usize>], expected: &[u32], page: u32| {
            let mut citation = Citation {
                quotes: quotes.iter().copied().map(quote).collect(),
                context: Context { page: Some(1), ..Context::default() },
                ..Citation::default()
            };
            pages.apply(&mut citation);
            let found: Vec<u32> = citation.quotes.iter().filter_map(|quote| quote.page).collect();
            assert_eq!((found.as_slice(), citation.context.page), (expected, Some(page)), "{quotes:?}");
        };
        check(&[Some(0)], &[1], 1);
        check(&[Some(8), Some(11)], &[1, 2], 1);
        check(&[Some(11), Some(23)], &[2, 3], 2);
        check(&[Some(10)], &[1], 1);
        check(&[None], &[1], 1);
        check(&[Some(1000)], &[1], 1);
        check(&[], &[], 1);
    }
}
