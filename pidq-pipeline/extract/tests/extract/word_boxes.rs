//! Boxes of words: their ranges are those of the words in the text, and their places those of the words on the page.

use std::path::Path;
use std::process::Command;

use pidq_extract::{Extracted, PageUnit, PageWords, Upload, extract_in_process};

use super::hostile::{raw_pdf, stream};
use super::recognition::{options as recognition_options, program, scan};
use super::{extract_named, folder, sample};

/// A word with its page, from 0, and its box in units of the page.
#[derive(Debug)]
struct FoundWord<'t> {
    text: &'t str,
    page: usize,
    place: [f64; 4],
}

fn decoded(extracted: &Extracted, page: usize) -> PageWords {
    let text = &extracted.text[extracted.pages[page].start..extracted.pages[page].end];
    PageWords::decode(&extracted.page_words[page], text.chars().count()).unwrap()
}

/// Returns the words of all pages as the ranges of the boxes cut them from the text.
fn found_words(extracted: &Extracted) -> Vec<FoundWord<'_>> {
    let mut found = Vec::new();
    for (index, page) in extracted.pages.iter().enumerate() {
        let text = &extracted.text[page.start..page.end];
        let starts: Vec<usize> = text.char_indices().map(|(byte, _)| byte).chain([text.len()]).collect();
        for word in decoded(extracted, index).words {
            let range = starts[word.characters.start]..starts[word.characters.end];
            found.push(FoundWord {
                text: &text[range],
                page: index,
                place: word.place.map(|edge| f64::from(edge) / 10.0),
            });
        }
    }
    found
}

#[track_caller]
fn assert_places(extracted: &Extracted, expected: &[(&str, [f64; 4])]) {
    let found = found_words(extracted);
    let texts: Vec<&str> = found.iter().map(|word| word.text).collect();
    assert_eq!(texts, expected.iter().map(|(text, _)| *text).collect::<Vec<_>>());
    for (word, (_, place)) in found.iter().zip(expected) {
        assert!(word.place.iter().zip(place).all(|(a, b)| (a - b).abs() < 0.11), "{word:?}, expected {place:?}");
    }
}

/// Generates a page of 600 by 800 points with a turn.
fn page(rotation: u32, content: &str) -> Extracted {
    let page = format!(
        "<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Rotate {rotation} /MediaBox [0 0 800 1000] \
         /CropBox [100 100 700 900] /Resources << /Font << /F 5 0 R >> >> >>"
    );
    // Each letter is half as wide as the font is high.
    let widths = "500 ".repeat(224);
    let font = format!(
        "<< /Type /Font /Subtype /Type1 /BaseFont /A /Encoding /WinAnsiEncoding /FirstChar 32 /LastChar 255 /Widths [{widths}] >>"
    );
    let objects = ["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>", &page];
    let mut objects: Vec<Vec<u8>> = objects.map(|object| object.as_bytes().to_vec()).into();
    objects.extend([stream("", content.as_bytes()), font.into_bytes()]);
    extract_named("a.pdf", &raw_pdf(&objects)).unwrap()
}

#[test]
fn boxes_are_on_the_page_as_displayed() {
    // The word begins 20 points from the left edge of the displayed page and its base line is 100 points below the top.
    let turned = [
        (0, "1 0 0 1 120 800", [600.0, 800.0]),
        (90, "0 1 -1 0 200 120", [800.0, 600.0]),
        (180, "-1 0 0 -1 680 200", [600.0, 800.0]),
        (270, "0 -1 1 0 600 880", [800.0, 600.0]),
    ];
    for (rotation, matrix, [width, height]) in turned {
        let extracted = page(rotation, &format!("BT /F 10 Tf {matrix} Tm (P-101A runs) Tj ET"));
        assert_eq!(extracted.text, "P-101A runs", "{rotation}");
        let words = decoded(&extracted, 0);
        assert_eq!((words.unit, u32::from(words.rotation)), (PageUnit::Point, rotation));
        assert_eq!([words.width, words.height].map(f64::from), [width * 10.0, height * 10.0], "{rotation}");
        assert_places(&extracted, &[("P-101A", [20.0, 92.2, 50.0, 102.2]), ("runs", [55.0, 92.2, 75.0, 102.2])]);
    }
}

#[test]
fn the_parts_of_a_divided_word_have_a_box_each() {
    let lines = "BT /F 10 Tf 1 0 0 1 120 800 Tm (the pres-) Tj 1 0 0 1 120 788 Tm (sure of PSV-) Tj 1 0 0 1 120 776 Tm (2015A) Tj ET";
    let extracted = page(0, lines);
    assert_eq!(extracted.text, "the pressure\nof PSV-2015A");
    let texts: Vec<&str> = found_words(&extracted).iter().map(|word| word.text).collect();
    assert_eq!(texts, ["the", "pres", "sure", "of", "PSV-", "2015A"]);
}

#[test]
fn words_outside_of_the_page_are_text_without_a_box() {
    let extracted = page(0, "BT /F 10 Tf 1 0 0 1 120 800 Tm (inside) Tj 1 0 0 1 120 50 Tm (below) Tj ET");
    assert_eq!(extracted.text.split_whitespace().collect::<Vec<_>>(), ["inside", "below"]);
    assert_eq!(found_words(&extracted).iter().map(|word| word.text).collect::<Vec<_>>(), ["inside"]);
}

#[test]
fn every_letter_of_the_sample_pdfs_is_in_a_box() {
    let mut count = 0;
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.extension().is_none_or(|extension| extension != "pdf") || ["secret.pdf", "scan.pdf"].contains(&&*name) {
            continue;
        }
        let extracted = extract_named(&name, &sample(&name)).unwrap();
        let boxed: String = found_words(&extracted).iter().flat_map(|word| word.text.split_whitespace()).collect();
        assert_eq!(boxed, extracted.text.split_whitespace().collect::<String>(), "{name}");
        count += 1;
    }
    assert!(count > 2, "only {count} PDFs");
}

#[test]
fn formats_without_positions_have_no_boxes() {
    for name in ["manual.docx", "lists.xlsx", "talk.pptx", "question.eml"] {
        assert!(extract_named(name, &sample(name)).unwrap().page_words.is_empty(), "{name}");
    }
}

/// Compares the places with those that another program finds.
#[test]
fn boxes_are_where_poppler_finds_the_words() {
    let Some(pdftotext) = program("pdftotext") else {
        eprintln!("SKIPPED: the comparison needs the package poppler-utils");
        return;
    };
    let extracted = extract_named("manual.pdf", &sample("manual.pdf")).unwrap();
    let found = found_words(&extracted);
    let others = poppler_words(&pdftotext, &folder().join("manual.pdf"));
    let is_found = |(other, page, [left, top, right, bottom]): &(String, usize, [f64; 4])| {
        let (x, y) = ((left + right) / 2.0, (top + bottom) / 2.0);
        found.iter().any(|word| {
            let contains = word.place[0] <= x && x <= word.place[2] && word.place[1] <= y && y <= word.place[3];
            // The widths of the standard fonts are not in the file, and ours are approximate for superscripts.
            let is_alike = (word.place[0] - left).abs() < 3.0 && (word.place[2] - right).abs() < 3.0;
            word.page == *page && word.text == other && contains && is_alike
        })
    };
    let missed: Vec<_> = others.iter().filter(|other| !is_found(other)).collect();
    assert!(others.len() > 20 && missed.is_empty(), "{missed:?}");
}

/// Returns the words of a PDF with their pages and boxes.
fn poppler_words(pdftotext: &Path, pdf: &Path) -> Vec<(String, usize, [f64; 4])> {
    let output = Command::new(pdftotext).args(["-bbox"]).arg(pdf).arg("-").output().unwrap();
    let html = String::from_utf8(output.stdout).unwrap();
    let mut page = 0;
    let mut words = Vec::new();
    for line in html.lines().map(str::trim) {
        page += usize::from(line.starts_with("<page"));
        let Some(rest) = line.strip_prefix("<word ") else { continue };
        let field = |name: &str| -> f64 {
            rest.split(&format!("{name}=\"")).nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
        };
        let place = ["xMin", "yMin", "xMax", "yMax"].map(field);
        let text = rest.split('>').nth(1).unwrap().split('<').next().unwrap();
        let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
        words.push((text, page - 1, place));
    }
    words
}

#[test]
fn recognized_words_have_the_places_that_tesseract_reports() {
    let Some(options) = recognition_options() else { return };
    let (bytes, _) = scan("page.png");
    let upload = Upload { bytes: &bytes, name: Some("page.png"), media_type: None };
    let extracted = extract_in_process(&upload, &options).unwrap();
    let image = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/scans/page.png");
    let output = Command::new("tesseract")
        .env("OMP_THREAD_LIMIT", "1")
        .arg(&image)
        .args(["-", "--psm", "3", "tsv"])
        .output()
        .unwrap();
    let table = String::from_utf8(output.stdout).unwrap();
    let rows = table.lines().map(|row| row.split('\t').collect::<Vec<_>>());
    let expected: Vec<(String, [f64; 4])> = rows
        .filter(|row| row[0] == "5" && !row[11].trim().is_empty())
        .map(|row| {
            let [left, top, width, height] = [6, 7, 8, 9].map(|column: usize| row[column].parse::<f64>().unwrap());
            (row[11].trim().to_owned(), [left, top, left + width, top + height])
        })
        .collect();
    assert!(expected.len() > 20, "{} words", expected.len());
    assert_places(&extracted, &expected.iter().map(|(text, place)| (text.as_str(), *place)).collect::<Vec<_>>());
    // The size of the image is in its header.
    let size = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap()) * 10;
    let words = decoded(&extracted, 0);
    assert_eq!((words.unit, words.width, words.height), (PageUnit::Pixel, size(16), size(20)));
}

#[test]
fn recognized_words_of_a_scan_are_on_the_page_of_the_pdf() {
    let Some(options) = recognition_options() else { return };
    let (bytes, _) = scan("drawing.pdf");
    let upload = Upload { bytes: &bytes, name: Some("drawing.pdf"), media_type: None };
    let extracted = extract_in_process(&upload, &options).unwrap();
    let words = decoded(&extracted, 0);
    assert_eq!(words.unit, PageUnit::Point);
    let found = found_words(&extracted);
    let boxed: String = found.iter().map(|word| word.text).collect();
    assert_eq!(boxed, extracted.text.split_whitespace().collect::<String>());
    // The places are those of the page in points, not of its image in pixels.
    let right = found.iter().map(|word| word.place[2]).fold(0.0, f64::max);
    assert!(right <= f64::from(words.width) / 10.0 && right > f64::from(words.width) / 20.0, "{right}");
}

/// Size of the boxes beside that of the text: below a limit that a change of the encoding may not exceed.
#[test]
fn boxes_take_about_as_much_space_as_the_text() {
    let extracted = extract_named("manual.pdf", &sample("manual.pdf")).unwrap();
    let (boxes, words) = (extracted.page_words.iter().map(Vec::len).sum::<usize>(), found_words(&extracted).len());
    let text = extracted.text.len();
    eprintln!("{boxes} bytes of boxes, {text} bytes of text, {words} words, {} pages", extracted.pages.len());
    assert!(boxes < 2 * text, "{boxes} bytes of boxes, {text} bytes of text");
}
