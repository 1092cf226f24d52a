//! Damaged documents: flipped bytes, truncation, moved parts. No reader panics or hangs, and every result is valid.

use std::io::{Cursor, Read, Write};
use std::time::{Duration, Instant};

use pidq_extract::{Extracted, Options, Upload, extract_in_process};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::{folder, sample};

/// Number of damaged variants of each document, unless `PIDQ_TEST_ROUNDS` sets another number (and other variants).
const ROUNDS: u64 = 300;
/// Time limit of one extraction in an unoptimized build next to other tests.
const EXTRACTION_TIMEOUT: Duration = Duration::from_secs(20);

/// Documents of plain-text formats.
const TEXT_DOCUMENTS: &[(&str, &str)] = &[
    ("a.html", "<html><head><title>t</title></head><body><p>P-101 &amp; more<table><tr><td>a<td>b</table><pre>x</pre>"),
    (
        "a.rtf",
        r"{\rtf1\ansi{\fonttbl{\f1\fcharset204 A;}}\u8364?\'e4{\f1 \'cd}\par{\*\x y}{\pict\bin3 abc}\uc2\u-10179xx}",
    ),
    ("a.json", r#"{"pid_graph": {"nodes": [{"id": 1, "tag": "P-1"}, {"id": 2}], "edges": [{"from": 1, "to": 2}]}}"#),
    (
        "a.xml",
        r#"<PlantModel><Equipment ID="E1" TagName="T1" ComponentClass="Tank"><Nozzle ID="N1"/></Equipment></PlantModel>"#,
    ),
    ("a.csv", "tag;\"no\"\"te\"\r\nHV-1;\"a\nb\"\r\n"),
    ("a.md", "---\ntitle: x\n---\n# Pumps\n```\ncode\n```\n"),
];

#[test]
fn damaged_documents_are_extracted_or_rejected() {
    let rounds = std::env::var("PIDQ_TEST_ROUNDS").map_or(ROUNDS, |rounds| rounds.parse().unwrap());
    let mut random = Random(0x9E37_79B9_7F4A_7C15 ^ (rounds ^ ROUNDS));
    for (name, document) in documents() {
        for round in 0..rounds {
            // Every other archive is damaged inside, with valid checksums.
            let bytes = match round % 2 == 0 && document.starts_with(b"PK") {
                true => damaged_inside(&document, round / 2, &mut random),
                false => damaged(&document, round, &mut random),
            };
            let started = Instant::now();
            // A panic of a reader is reported as a corrupt document, so check the message.
            let result =
                extract_in_process(&Upload { bytes: &bytes, name: Some(&name), media_type: None }, &Options::default());
            assert!(started.elapsed() < EXTRACTION_TIMEOUT, "{name}, round {round}: {:?}", started.elapsed());
            match result {
                Ok(extracted) => assert_valid(&name, &extracted),
                Err(error) => {
                    assert!(!error.detail.contains("panicked"), "{name}, round {round}: a reader panicked")
                }
            }
        }
    }
}

fn documents() -> Vec<(String, Vec<u8>)> {
    let is_document = |name: &String| ![".expected.json", ".py", ".mjs"].iter().any(|end| name.ends_with(end));
    let names = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(is_document).collect();
    names.sort();
    let samples = names.into_iter().map(|name| (name.clone(), sample(&name)));
    samples.chain(TEXT_DOCUMENTS.iter().map(|(name, text)| ((*name).into(), text.as_bytes().to_vec()))).collect()
}

/// Checks that the pages are ordered parts of the text, and that the text is clean.
fn assert_valid(name: &str, extracted: &Extracted) {
    assert!(!extracted.text.contains(['\r', '\0']), "{name}");
    assert!(!extracted.text.trim().is_empty(), "{name}");
    let mut end = 0;
    for page in &extracted.pages {
        assert!(page.start >= end && extracted.text.get(page.start..page.end).is_some(), "{name}: {page:?}");
        end = page.end;
    }
}

fn damaged(document: &[u8], round: u64, random: &mut Random) -> Vec<u8> {
    let mut bytes = document.to_vec();
    match round % 4 {
        0 => bytes.truncate(random.below(bytes.len())),
        // An empty file has nothing to damage.
        _ if bytes.is_empty() => {}
        1 => {
            let index = random.below(bytes.len());
            bytes[index] ^= 1 << random.below(8);
        }
        2 => {
            for _ in 0..random.below(20) {
                let index = random.below(bytes.len());
                bytes[index] = random.next() as u8;
            }
        }
        _ => {
            let (source, target) = (random.below(bytes.len()), random.below(bytes.len()));
            let moved = bytes[source..bytes.len().min(source + random.below(64))].to_vec();
            bytes.splice(target..target, moved);
        }
    }
    bytes
}

/// Returns an archive with one damaged file.
fn damaged_inside(document: &[u8], round: u64, random: &mut Random) -> Vec<u8> {
    let mut zip = ZipArchive::new(Cursor::new(document)).unwrap();
    let damaged_index = random.below(zip.len());
    let mut out = ZipWriter::new(Cursor::new(Vec::new()));
    for index in 0..zip.len() {
        let mut file = zip.by_index(index).unwrap();
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).unwrap();
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        out.start_file(file.name().unwrap(), options).unwrap();
        out.write_all(&if index == damaged_index { damaged(&bytes, round, random) } else { bytes }).unwrap();
    }
    out.finish().unwrap().into_inner()
}

/// Deterministic random numbers (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }
}
