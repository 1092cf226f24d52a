//! Extraction with small limits, and the checks that every extracted document satisfies.

use pidq_extract::{ExtractError, Extracted, Options, PageWords, Upload, extract_in_process};

/// Limits that keep an input from taking seconds.
pub fn options() -> Options {
    Options { max_characters: 1 << 20, max_unpacked_size: 8 << 20, max_entries: 1000, ..Options::default() }
}

/// Extracts a document twice and checks the result. Panics if a reader panics or a check fails.
pub fn extract(bytes: &[u8], name: Option<&str>, options: &Options) -> Result<Extracted, ExtractError> {
    let upload = Upload { bytes, name, media_type: None };
    let result = extract_in_process(&upload, options);
    assert_eq!(result, extract_in_process(&upload, options), "the same file has the same text");
    match &result {
        Ok(extracted) => assert_valid(extracted, options),
        // A panic of a reader is reported as a corrupt document.
        Err(error) => assert!(!error.detail.contains("panicked"), "{error}"),
    }
    result
}

fn assert_valid(extracted: &Extracted, options: &Options) {
    let text = &extracted.text;
    assert!(!text.contains(['\r', '\0']) && !text.trim().is_empty(), "{text:?}");
    assert!(text.chars().count() <= options.max_characters, "the text is too long");
    assert!(!extracted.pages.is_empty(), "a document has a page");
    let mut end = 0;
    for page in &extracted.pages {
        assert!(page.start >= end && text.get(page.start..page.end).is_some(), "{page:?} after {end}");
        end = page.end;
    }
    assert!([0, extracted.pages.len()].contains(&extracted.page_words.len()), "each page has boxes, or none has");
    for (page, words) in extracted.pages.iter().zip(&extracted.page_words) {
        let characters = text[page.start..page.end].chars().count();
        assert!(words.is_empty() || PageWords::decode(words, characters).is_ok(), "{page:?}");
    }
}
