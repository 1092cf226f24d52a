//! Text recognition with Tesseract: the text of scans, of drawings and of images, and hostile pages.
//!
//! The pages are those of `tests/data/scans/make.py`.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pidq_extract::{
    ErrorCode, ExtractError, Extracted, Options, Recognition, SandboxOptions, StopHandle, Upload, extract_in_sandbox,
};
use serde_json::Value;

use super::hostile::{raw_pdf, stream};
use super::words;

/// Returns the path of an installed program.
pub fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// Options with text recognition, or none where its programs are not installed.
pub fn options() -> Option<Options> {
    let (Some(tesseract), Some(pdftoppm)) = (program("tesseract"), program("pdftoppm")) else {
        eprintln!("SKIPPED: text recognition needs the packages tesseract-ocr, tesseract-ocr-eng and poppler-utils");
        return None;
    };
    let (languages, timeout) = ("eng".into(), Duration::from_secs(900));
    let recognition = Recognition { tesseract, pdftoppm, languages, timeout };
    Some(Options { recognition: Some(recognition), ..Options::default() })
}

/// Options in which one of the programs is a script.
#[cfg(unix)]
fn options_with(name: &str, script: &str, timeout: Duration) -> Option<(Options, ScriptFile)> {
    use std::os::unix::fs::PermissionsExt;

    let mut options = options()?;
    let path =
        std::env::temp_dir().join(format!("pidq-{name}-{}-{:?}", std::process::id(), std::thread::current().id()));
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let recognition = options.recognition.as_mut().unwrap();
    recognition.timeout = timeout;
    match name {
        "tesseract" => recognition.tesseract = path.clone(),
        _ => recognition.pdftoppm = path.clone(),
    }
    Some((options, ScriptFile(path)))
}

/// A script, removed on drop.
struct ScriptFile(PathBuf);

impl Drop for ScriptFile {
    fn drop(&mut self) {
        drop(fs::remove_file(&self.0));
    }
}

/// Extracts a document in the sandbox, as the platform does.
fn extract(name: &str, bytes: &[u8], options: &Options) -> Result<Extracted, ExtractError> {
    let sandbox = SandboxOptions::new(env!("CARGO_BIN_EXE_pidq-extract"), &[]);
    let upload = Upload { bytes, name: Some(name), media_type: None };
    extract_in_sandbox(&upload, options, &sandbox, &StopHandle::default())
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/scans")
}

pub fn scan(name: &str) -> (Vec<u8>, Value) {
    let expected = fs::read(folder().join(format!("{name}.json"))).unwrap();
    (fs::read(folder().join(name)).unwrap(), serde_json::from_slice(&expected).unwrap())
}

/// Returns the least number of characters to insert, delete or replace.
fn edit_distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (index, from) in from.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], index + 1);
        for (column, to) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(row[column] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}

/// Returns the character error rate of pages in percent, by page.
fn error_rates(extracted: &Extracted, expected: &Value) -> Vec<f64> {
    let expected = expected["pages"].as_array().unwrap();
    assert_eq!(extracted.pages.len(), expected.len());
    let rate = |(page, expected): (&pidq_extract::Page, &Value)| {
        let expected = words(expected.as_str().unwrap());
        let actual = words(&extracted.text[page.start..page.end]);
        100.0 * edit_distance(&expected, &actual) as f64 / expected.chars().count() as f64
    };
    extracted.pages.iter().zip(expected).map(rate).collect()
}

#[test]
fn scanned_pages_are_recognized_with_few_errors() {
    let Some(options) = options() else { return };
    let (bytes, expected) = scan("manual.pdf");
    let extracted = extract("manual.pdf", &bytes, &options).unwrap();
    let rates = error_rates(&extracted, &expected);
    let confidences: Vec<u8> = extracted.pages.iter().map(|page| page.confidence.unwrap()).collect();
    eprintln!("character error rates in percent: {rates:.2?}; confidences in percent: {confidences:?}");
    assert!(rates.iter().all(|rate| *rate <= 3.0), "{rates:.2?}");
    assert!(confidences.iter().all(|confidence| (80..=100).contains(confidence)), "{confidences:?}");
    assert!(extracted.warnings[0].starts_with("pages 1 to 6: text recognized with a confidence of "));
    assert_eq!(extracted.warnings.len(), 1, "{:?}", extracted.warnings);
}

#[test]
fn tags_on_a_drawing_of_paths_are_recognized() {
    let Some(options) = options() else { return };
    let (bytes, expected) = scan("drawing.pdf");
    let extracted = extract("drawing.pdf", &bytes, &options).unwrap();
    let tags: Vec<&str> = expected["tags"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let recognized: Vec<&str> = extracted.text.split_whitespace().collect();
    let found = tags.iter().filter(|tag| recognized.contains(tag)).count();
    eprintln!("{found} of {} tags and words, {} recognized: {:?}", tags.len(), recognized.len(), extracted.warnings);
    assert!(found * 100 >= tags.len() * 85, "{found} of {}: {}", tags.len(), extracted.text);
    assert!(extracted.pages[0].confidence.is_some());
}

#[test]
fn images_are_recognized_only_with_text_recognition() {
    let Some(options) = options() else { return };
    for name in ["page.png", "pages.tif"] {
        let (bytes, expected) = scan(name);
        let extracted = extract(name, &bytes, &options).unwrap();
        let rates = error_rates(&extracted, &expected);
        assert!(rates.iter().all(|rate| *rate <= 3.0), "{name}: {rates:.2?}");
        let error = extract(name, &bytes, &Options::default()).unwrap_err();
        assert_eq!(error.code, ErrorCode::UnsupportedType, "{name}: {error}");
    }
}

/// Returns a PDF of pages, each with its box and content, and with the font `F` and the image `X`.
fn pdf(pages: &[([u32; 2], &str)], image: &str) -> Vec<u8> {
    let numbers = 5..5 + 2 * pages.len();
    let kids: String = numbers.clone().step_by(2).map(|number| format!("{number} 0 R ")).collect();
    let mut objects = vec![
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        format!("<< /Type /Pages /Kids [{kids}] /Count {} >>", pages.len()).into_bytes(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_vec(),
        image.as_bytes().to_vec(),
    ];
    for (number, ([width, height], content)) in numbers.step_by(2).zip(pages) {
        let contents = number + 1;
        objects.push(
            format!(
                "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {width} {height}] /Contents {contents} 0 R \
                 /Resources << /Font << /F 3 0 R >> /XObject << /X 4 0 R >> >> >>"
            )
            .into_bytes(),
        );
        objects.push(stream("", content.as_bytes()));
    }
    raw_pdf(&objects)
}

/// The letters `HELIX` as lines, about 40 points high.
const OUTLINES: &str = "6 w 100 400 m 100 440 l S 124 400 m 124 440 l S 100 420 m 124 420 l S \
    140 400 m 140 440 l S 140 437 m 162 437 l S 140 420 m 158 420 l S 140 403 m 162 403 l S \
    176 400 m 176 440 l S 176 403 m 198 403 l S 212 400 m 212 440 l S \
    226 400 m 252 440 l S 252 400 m 226 440 l S";

#[test]
fn only_pages_without_text_are_recognized() {
    let Some(options) = options() else { return };
    let text = |text: &str| format!("BT /F 12 Tf 50 700 Td ({text}) Tj ET");
    let (first, last) = (text("PSV-2015A is set at 38.5 barg"), text("the last page"));
    let with_lines = format!("{first} {OUTLINES}");
    let pages = [([600, 800], with_lines.as_str()), ([600, 800], OUTLINES), ([600, 800], ""), ([600, 800], &last)];
    let extracted = extract("a.pdf", &pdf(&pages, "null"), &options).unwrap();
    let pages: Vec<&str> = extracted.pages.iter().map(|page| &extracted.text[page.start..page.end]).collect();
    assert_eq!(pages, ["PSV-2015A is set at 38.5 barg", "HELIX", "", "the last page"]);
    let confidences: Vec<bool> = extracted.pages.iter().map(|page| page.confidence.is_some()).collect();
    assert_eq!(confidences, [false, true, false, false]);
    assert!(extracted.warnings[0].starts_with("page 2: text recognized with a confidence of "));
    assert_eq!(extracted.warnings[1..], ["page 3: blank"]);
}

#[test]
fn the_running_header_of_a_scan_is_read_once() {
    let Some(options) = options() else { return };
    let page = format!("BT /F 10 Tf 50 770 Td (Manual of unit 20) Tj ET {OUTLINES}");
    let pages = [([600, 800], page.as_str()), ([600, 800], page.as_str())];
    let extracted = extract("a.pdf", &pdf(&pages, "null"), &options).unwrap();
    assert_eq!(extracted.text, ["Manual of unit 20\n\nHELIX"; 2].join("\n\n"));
}

#[test]
fn a_page_without_letters_has_no_text() {
    let Some(options) = options() else { return };
    let lines = "0.5 w 100 100 m 500 700 l S";
    let error = extract("a.pdf", &pdf(&[([600, 800], lines)], "null"), &options).unwrap_err();
    assert_eq!(error.code, ErrorCode::EmptyText);
    assert!(error.detail.ends_with("text recognition found none"), "{error}");
    let text = "BT /F 12 Tf 50 700 Td (text) Tj ET";
    let extracted = extract("a.pdf", &pdf(&[([600, 800], lines), ([600, 800], text)], "null"), &options).unwrap();
    assert_eq!(extracted.warnings, ["page 1: no text, only lines; text recognition found none"]);
}

#[test]
fn a_huge_page_is_not_rendered() {
    let Some(options) = options() else { return };
    let text = "BT /F 12 Tf 50 700 Td (text) Tj ET";
    let pages = [([14_400, 14_400], OUTLINES), ([4_000_000_000, 4_000_000_000], OUTLINES), ([600, 800], text)];
    let started = Instant::now();
    let extracted = extract("a.pdf", &pdf(&pages, "null"), &options).unwrap();
    assert_eq!(extracted.warnings, ["pages 1 to 2: no text, only lines; the page is too large for text recognition"]);
    assert!(started.elapsed() < Duration::from_secs(60));
}

#[test]
fn a_huge_image_affects_only_its_page() {
    let Some(mut options) = options() else { return };
    options.recognition.as_mut().unwrap().timeout = Duration::from_secs(10);
    // Ten thousand million pixels in an empty stream.
    let image = "<< /Type /XObject /Subtype /Image /Width 100000 /Height 100000 /ColorSpace /DeviceRGB \
        /BitsPerComponent 8 /Length 0 >>\nstream\n\nendstream";
    let text = "BT /F 12 Tf 50 700 Td (text) Tj ET";
    let pages = [([600, 800], "q 600 0 0 800 0 0 cm /X Do Q"), ([600, 800], text)];
    let extracted = extract("a.pdf", &pdf(&pages, image), &options).unwrap();
    assert_eq!(extracted.text.trim(), "text");
    assert!(extracted.warnings[0].starts_with("page 1: no text, only images; "), "{:?}", extracted.warnings);
}

#[test]
fn a_damaged_image_is_corrupt() {
    let Some(options) = options() else { return };
    for (name, bytes) in [
        ("a.png", &b"\x89PNG\r\n\x1a\nbroken"[..]),
        ("a.tif", b"II*\0\x08\0\0\0\xFF\xFF"),
        ("a.jpg", b"\xFF\xD8\xFF\xE0broken"),
    ] {
        let error = extract(name, bytes, &options).unwrap_err();
        assert!(matches!(error.code, ErrorCode::CorruptDocument | ErrorCode::EmptyText), "{name}: {error}");
    }
}

#[cfg(unix)]
#[test]
fn a_program_that_hangs_is_ended_with_the_time_of_the_document() {
    let text = "BT /F 12 Tf 50 700 Td (text) Tj ET";
    let bytes = pdf(&[([600, 800], OUTLINES), ([600, 800], OUTLINES), ([600, 800], text)], "null");
    for name in ["tesseract", "pdftoppm"] {
        let marker = format!("602{}", std::process::id());
        let Some((options, _file)) = options_with(name, &format!("exec sleep {marker}"), Duration::from_secs(2)) else {
            return;
        };
        let started = Instant::now();
        let extracted = extract("a.pdf", &bytes, &options).unwrap();
        assert!(started.elapsed() < Duration::from_secs(60), "{name}");
        assert_eq!(extracted.text.trim(), "text");
        let expected = "page 2: no text, only lines; the time for text recognition was used up";
        assert_eq!(extracted.warnings[1..], [expected], "{name}");
        assert!(extracted.warnings[0].contains("it took longer than 2 s"), "{name}: {:?}", extracted.warnings);
        assert!(!super::sandbox::is_running(&marker), "{name} is still running");
    }
}

#[cfg(unix)]
#[test]
fn a_program_that_is_missing_is_an_error_that_may_pass() {
    let Some(mut options) = options() else { return };
    options.recognition.as_mut().unwrap().tesseract = "/nowhere/tesseract".into();
    let bytes = pdf(&[([600, 800], OUTLINES)], "null");
    let error = extract("a.pdf", &bytes, &options).unwrap_err();
    assert!(error.code == ErrorCode::Internal && error.code.retryable(), "{error}");
    assert!(error.detail.contains("tesseract cannot be started"), "{error}");
}

#[cfg(unix)]
#[test]
fn a_program_that_fails_affects_only_its_page() {
    let text = "BT /F 12 Tf 50 700 Td (text) Tj ET";
    let bytes = pdf(&[([600, 800], OUTLINES), ([600, 800], text)], "null");
    for (name, script, reason) in [
        ("tesseract", "kill -SEGV $$", "could not be recognized: it failed"),
        ("pdftoppm", "exit 1", "could not be rendered: it failed"),
        ("pdftoppm", "exec yes", "could not be rendered: its output is too large"),
        ("pdftoppm", "echo P5", "could not be rendered: its output cannot be read"),
    ] {
        let Some((options, _file)) = options_with(name, script, Duration::from_secs(60)) else { return };
        let extracted = extract("a.pdf", &bytes, &options).unwrap();
        assert_eq!(extracted.text.trim(), "text");
        assert!(extracted.warnings[0].contains(reason), "{script}: {:?}", extracted.warnings);
    }
}

/// The limits and the filter of the extractor hold in its programs.
#[cfg(target_os = "linux")]
#[test]
fn a_program_writes_no_files_and_has_no_network() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let target = std::env::temp_dir().join(format!("pidq-written-{}", std::process::id()));
    // Each line of the table is a word of the page: the script reports what it could do.
    let report = r#"printf '5\t1\t1\t1\t1\t1\t0\t0\t9\t9\t90\t%s\n' "$1""#;
    let script = format!(
        "report() {{ {report}; }}
         cat >/dev/null
         (trap '' XFSZ; echo text >{target}) 2>/dev/null
         [ -s {target} ] && report wrote
         (cache=$(mktemp {target}-XXXXXX) && echo text >\"$cache\") 2>/dev/null
         [ $? -gt 128 ] && report killed
         ls {target}-* >/dev/null 2>&1 && report created
         bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}' 2>/dev/null && report connected
         [ \"$(ulimit -v)\" = unlimited ] && report memory
         env | grep -q CARGO && report environment
         report end",
        target = target.display()
    );
    let Some((options, _file)) = options_with("tesseract", &script, Duration::from_secs(60)) else { return };
    let extracted = extract("a.pdf", &pdf(&[([600, 800], OUTLINES)], "null"), &options).unwrap();
    drop(fs::remove_file(&target));
    assert_eq!(words(&extracted.text), "end");
    // The test can tell: without the filter, bash connects.
    let connect = format!("exec 3<>/dev/tcp/127.0.0.1/{port}");
    assert!(std::process::Command::new("bash").args(["-c", &connect]).status().unwrap().success());
}
