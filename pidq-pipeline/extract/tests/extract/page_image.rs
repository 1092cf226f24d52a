//! Images of pages with pdftoppm: the words are at their boxes, and hostile files are rejected within the limits.

use std::io::Read;
use std::path::Path;
use std::time::{Duration, Instant};

use pidq_extract::{
    ErrorCode, ExtractError, PageRendering, PageWords, SandboxOptions, StopHandle, render_page_in_sandbox,
};

use super::hostile::{deflated, raw_pdf, stream};
use super::recognition::program;
use super::{extract_named, sample};

fn sandbox() -> SandboxOptions {
    SandboxOptions::new(env!("CARGO_BIN_EXE_pidq-extract"), &[])
}

/// Renders a page with a program, without a name the installed pdftoppm; none if it is not installed.
fn render_with(
    pdftoppm: Option<&Path>,
    pdf: &[u8],
    (page, longer_side): (u32, u32),
    sandbox: &SandboxOptions,
) -> Option<Result<Option<Vec<u8>>, ExtractError>> {
    let Some(pdftoppm) = pdftoppm.map(Path::to_path_buf).or_else(|| program("pdftoppm")) else {
        eprintln!("SKIPPED: images of pages need the package poppler-utils");
        return None;
    };
    let chunks = Box::new(vec![Ok(pdf.to_vec())].into_iter());
    let rendering = PageRendering { pdftoppm, page, longer_side };
    Some(render_page_in_sandbox(chunks, &rendering, sandbox, &StopHandle::default()))
}

fn render(pdf: &[u8], page: u32, longer_side: u32) -> Option<Result<Option<Vec<u8>>, ExtractError>> {
    render_with(None, pdf, (page, longer_side), &sandbox())
}

/// Pixels of an image.
struct Pixels {
    width: usize,
    height: usize,
    /// Rows of red, green and blue.
    rows: Vec<Vec<u8>>,
}

impl Pixels {
    fn is_dark(&self, x: usize, y: usize) -> bool {
        self.rows[y][3 * x] < 128
    }
}

/// Decodes a PNG file with 8 bits for each of red, green and blue.
fn decode(png: &[u8]) -> Pixels {
    let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap()) as usize;
    let (width, height) = (number(16), number(20));
    assert_eq!(png[24..29], [8, 2, 0, 0, 0], "8 bits, RGB, not interlaced");
    let (mut compressed, mut at) = (Vec::new(), 8);
    while at < png.len() {
        let length = number(at);
        if &png[at + 4..at + 8] == b"IDAT" {
            compressed.extend_from_slice(&png[at + 8..at + 8 + length]);
        }
        at += length + 12;
    }
    let mut bytes = Vec::new();
    flate2::read::ZlibDecoder::new(&compressed[..]).read_to_end(&mut bytes).unwrap();
    let mut rows: Vec<Vec<u8>> = vec![vec![0; 3 * width]];
    for line in bytes.chunks_exact(3 * width + 1) {
        let above = rows.last().unwrap().clone();
        rows.push(unfiltered(line[0], &line[1..], &above));
    }
    rows.remove(0);
    assert_eq!(rows.len(), height);
    Pixels { width, height, rows }
}

/// Returns a row without its filter.
fn unfiltered(filter: u8, line: &[u8], above: &[u8]) -> Vec<u8> {
    let mut row: Vec<u8> = Vec::with_capacity(line.len());
    for (index, byte) in line.iter().enumerate() {
        let left = index.checked_sub(3).map_or(0, |index| row[index]);
        let corner = index.checked_sub(3).map_or(0, |index| above[index]);
        let top = above[index];
        let predicted = match filter {
            0 => 0,
            1 => left,
            2 => top,
            3 => u8::try_from(u16::midpoint(left.into(), top.into())).unwrap(),
            4 => nearest_neighbor(left, top, corner),
            other => panic!("filter {other}"),
        };
        row.push(byte.wrapping_add(predicted));
    }
    row
}

fn nearest_neighbor(left: u8, top: u8, corner: u8) -> u8 {
    let estimate = i16::from(left) + i16::from(top) - i16::from(corner);
    let distance = |byte: u8| (estimate - i16::from(byte)).abs();
    *[left, top, corner].iter().min_by_key(|byte| distance(**byte)).unwrap()
}

/// Checks that each word of a page has dark pixels in its box, and that nine of ten dark pixels are in one.
fn assert_words_are_at_their_boxes(name: &str, pdf: &[u8], page: u32) {
    let Some(image) = render(pdf, page, 800) else { return };
    let pixels = decode(&image.unwrap().unwrap());
    let extracted = extract_named("page.pdf", pdf).unwrap();
    let index = page as usize - 1;
    let range = &extracted.pages[index];
    let characters = extracted.text[range.start..range.end].chars().count();
    let words = PageWords::decode(&extracted.page_words[index], characters).unwrap();
    assert!(!words.words.is_empty(), "{name}");
    let (x_scale, y_scale) =
        (pixels.width as f64 / f64::from(words.width), pixels.height as f64 / f64::from(words.height));
    assert!((x_scale / y_scale - 1.0).abs() < 0.01, "{name}: the image has the shape of the page");
    let mut is_in_word = vec![vec![false; pixels.width]; pixels.height];
    for word in &words.words {
        let [left, top, right, bottom] = word.place.map(f64::from);
        let (left, right) = ((left * x_scale) as usize, ((right * x_scale).ceil() as usize).min(pixels.width));
        let (top, bottom) = ((top * y_scale) as usize, ((bottom * y_scale).ceil() as usize).min(pixels.height));
        let places = (top..bottom).flat_map(|y| (left..right).map(move |x| (x, y)));
        let dark = places.clone().filter(|&(x, y)| pixels.is_dark(x, y)).count();
        assert!(dark > 0, "{name}: no ink at {:?}", word.place);
        places.for_each(|(x, y)| is_in_word[y][x] = true);
    }
    let all = (0..pixels.height).flat_map(|y| (0..pixels.width).map(move |x| (x, y)));
    let dark: Vec<(usize, usize)> = all.filter(|&(x, y)| pixels.is_dark(x, y)).collect();
    let outside = dark.iter().filter(|&&(x, y)| !is_in_word[y][x]).count();
    assert!(outside * 10 <= dark.len(), "{name}: {outside} of {} dark pixels are in no word", dark.len());
}

/// A PDF with a page of text and entries of its own.
fn page_with(entries: &str) -> Vec<u8> {
    let text = b"BT /F 24 Tf 72 500 Td (Set pressure of PSV-2015A) Tj 0 -300 Td (38.5 barg) Tj ET";
    pages_with(entries, &stream("", text), 1)
}

fn pages_with(entries: &str, content: &[u8], count: usize) -> Vec<u8> {
    let kids: String = (0..count).map(|index| format!("{} 0 R ", index + 5)).collect();
    let page =
        format!("<< /Type /Page /Parent 2 0 R /Contents 3 0 R /Resources << /Font << /F 4 0 R >> >> {entries} >>");
    let mut objects = vec![
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        format!("<< /Type /Pages /Kids [{kids}] /Count {count} >>").into_bytes(),
        content.to_vec(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_vec(),
    ];
    objects.extend((0..count).map(|_| page.clone().into_bytes()));
    raw_pdf(&objects)
}

#[test]
fn the_words_of_a_page_are_at_their_boxes() {
    assert_words_are_at_their_boxes("manual.pdf", &sample("manual.pdf"), 1);
    assert_words_are_at_their_boxes("manual.pdf", &sample("manual.pdf"), 2);
    for entries in [
        "/MediaBox [0 0 600 800]",
        "/MediaBox [0 0 600 800] /Rotate 90",
        "/MediaBox [0 0 600 800] /Rotate 180",
        "/MediaBox [0 0 600 800] /Rotate -90",
        "/MediaBox [-50 -100 600 800]",
        "/MediaBox [0 0 600 800] /CropBox [40 150 500 700]",
        "/MediaBox [0 0 600 800] /CropBox [40 150 500 700] /Rotate 270",
        "/MediaBox [0 0 600 800] /CropBox [-100 -300 700 900]",
        "/MediaBox [0 0 600 800] /CropBox [5000 5000 6000 6000]",
        "/MediaBox [0 0 600 800] /UserUnit 10",
    ] {
        assert_words_are_at_their_boxes(entries, &page_with(entries), 1);
    }
}

#[test]
fn the_longer_side_has_the_number_of_pixels() {
    for (entries, side, expected) in [
        ("/MediaBox [0 0 600 800]", 400, (300, 400)),
        ("/MediaBox [0 0 600 800] /Rotate 90", 400, (400, 300)),
        ("/MediaBox [0 0 600 800]", 4096, (3072, 4096)),
    ] {
        let Some(image) = render(&page_with(entries), 1, side) else { return };
        let pixels = decode(&image.unwrap().unwrap());
        assert_eq!((pixels.width, pixels.height), expected, "{entries}");
    }
}

#[test]
fn only_pages_of_the_document_have_images() {
    for page in [0, 3, u32::MAX] {
        let Some(image) = render(&sample("manual.pdf"), page, 400) else { return };
        assert!(image.unwrap().is_none(), "{page}");
    }
}

#[test]
fn a_file_that_cannot_be_opened_says_why() {
    for (name, bytes, code) in [
        ("secret.pdf", sample("secret.pdf"), ErrorCode::EncryptedDocument),
        ("a text", b"The pump P-101A".to_vec(), ErrorCode::UnsupportedType),
        ("a Word document", sample("manual.docx"), ErrorCode::UnsupportedType),
        ("nothing", Vec::new(), ErrorCode::UnsupportedType),
        ("half a file", sample("manual.pdf")[..400].to_vec(), ErrorCode::CorruptDocument),
    ] {
        let Some(image) = render(&bytes, 1, 400) else { return };
        let error = image.expect_err(name);
        assert_eq!(error.code, code, "{name}: {error}");
    }
    let Some(image) = render(&sample("owner.pdf"), 1, 400) else { return };
    assert!(image.unwrap().is_some(), "a password that only restricts the use of the file is not needed");
}

#[test]
fn the_size_of_the_page_does_not_matter() {
    for size in ["1000000 1000000", "1000000 1", "1 1000000", "1e30 1e30", "0 0", "-5 nan", "0.001 0.001"] {
        let pdf = page_with(&format!("/MediaBox [0 0 {size}] /UserUnit 75000"));
        let started = Instant::now();
        let Some(image) = render(&pdf, 1, 1000) else { return };
        // A page without an area may be an error, but takes no time or memory.
        if let Ok(image) = image {
            let pixels = decode(&image.unwrap());
            assert!(pixels.width.max(pixels.height) <= 1000, "{size}");
        }
        assert!(started.elapsed() < Duration::from_secs(10), "{size}");
    }
}

#[test]
fn a_page_of_ten_thousand_is_rendered() {
    let text = stream("", b"BT /F 24 Tf 72 500 Td (Set pressure of PSV-2015A) Tj ET");
    let pdf = pages_with("/MediaBox [0 0 600 800]", &text, 10_000);
    let started = Instant::now();
    let Some(image) = render(&pdf, 10_000, 400) else { return };
    assert!(image.unwrap().is_some());
    assert!(render(&pdf, 10_001, 400).unwrap().unwrap().is_none());
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
}

#[test]
fn the_time_for_a_page_is_limited() {
    // A hundred thousand rectangles, each of which fills the page.
    let content = stream("/Filter /FlateDecode", &deflated(&b"0 0 600 800 re f ".repeat(100_000)));
    let pdf = pages_with("/MediaBox [0 0 600 800]", &content, 1);
    let limited = SandboxOptions { cpu_seconds: 2, ..sandbox() };
    let started = Instant::now();
    let Some(image) = render_with(None, &pdf, (1, 4096), &limited) else { return };
    let error = image.expect_err("it takes more than two seconds");
    assert_eq!(error.code, ErrorCode::TooLargeText, "{error}");
    assert!(started.elapsed() < Duration::from_secs(30));
}

#[test]
fn the_memory_for_a_page_is_limited() {
    // An image of 20,000 by 20,000 pixels, which is 400 MB in the memory of a renderer.
    let pixels = deflated(&vec![0; 20_000 * 20_000 / 8]);
    let entries = "/Type /XObject /Subtype /Image /Width 20000 /Height 20000 /ColorSpace /DeviceGray \
        /BitsPerComponent 1 /Filter /FlateDecode";
    let page = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R \
        /Resources << /XObject << /I 5 0 R >> >> >>";
    let pdf = raw_pdf(&[
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_vec(),
        page.into(),
        stream("", b"600 0 0 800 0 0 cm /I Do"),
        stream(entries, &pixels),
    ]);
    let limited = SandboxOptions { memory_limit: 128 << 20, ..sandbox() };
    let started = Instant::now();
    let Some(image) = render_with(None, &pdf, (1, 4096), &limited) else { return };
    if let Err(error) = image {
        assert!(matches!(error.code, ErrorCode::CorruptDocument | ErrorCode::TooLargeText), "{error}");
    }
    assert!(started.elapsed() < Duration::from_secs(30));
}

#[cfg(unix)]
#[test]
fn the_output_of_the_program_is_not_trusted() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let large = r"printf '\211PNG\r\n\032\n\0\0\0\rIHDR\0\0\100\0\0\0\0\1'";
    for (name, script, code) in [
        ("a wrong size", large, ErrorCode::CorruptDocument),
        ("no image", "echo text", ErrorCode::CorruptDocument),
        ("nothing", "true", ErrorCode::CorruptDocument),
        ("too much", "yes", ErrorCode::TooLargeText),
        ("a crash", "kill -SEGV $$", ErrorCode::CorruptDocument),
        ("a program that hangs", "exec sleep 600", ErrorCode::TooLargeText),
        ("a program that is missing", "", ErrorCode::Internal),
    ] {
        let path = folder.path().join(name);
        if !script.is_empty() {
            std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let limited = SandboxOptions { timeout: Duration::from_secs(5), ..sandbox() };
        let image = render_with(Some(&path), &sample("manual.pdf"), (1, 400), &limited).unwrap();
        let error = image.expect_err(name);
        assert_eq!(error.code, code, "{name}: {error}");
    }
}
