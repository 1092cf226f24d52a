//! Documents written by third-party software: the written text is extracted.

use std::path::Path;
use std::process::Command;

use pidq_extract::{ErrorCode, Options, Upload, extract_in_process};
use serde_json::Value;

use super::{assert_rejected, folder, sample, words};

#[test]
fn samples_are_extracted_as_expected() {
    check_folder(&folder(), &Options::default());
}

/// Uses the Python interpreter in `PIDQ_TEST_PYTHON`, which needs the packages listed in `make.py`.
#[test]
fn fresh_samples_are_extracted_as_expected() {
    let python = std::env::var("PIDQ_TEST_PYTHON").unwrap_or_else(|_| "python3".into());
    let output_folder = std::env::temp_dir().join(format!("pidq-documents-{}", std::process::id()));
    std::fs::create_dir_all(&output_folder).unwrap();
    match Command::new(&python).arg(folder().join("make.py")).arg(&output_folder).output() {
        Ok(output) if output.status.success() => check_folder(&output_folder, &Options::default()),
        output => {
            let reason =
                output.map_or_else(|error| error.to_string(), |output| String::from_utf8_lossy(&output.stderr).into());
            let last = reason.trim().lines().last().unwrap_or_default().to_owned();
            assert!(last.contains("ModuleNotFoundError") || last.contains("No such file"), "{reason}");
            eprintln!("SKIPPED: no documents were generated: {last}");
        }
    }
    std::fs::remove_dir_all(&output_folder).unwrap();
}

#[test]
fn an_encrypted_document_is_rejected() {
    assert_rejected("secret.pdf", &sample("secret.pdf"), ErrorCode::EncryptedDocument);
}

#[test]
fn a_scan_has_no_text() {
    assert_rejected("scan.pdf", &sample("scan.pdf"), ErrorCode::EmptyText);
}

#[test]
fn attachments_are_named() {
    let extracted = super::extract_named("question.eml", &sample("question.eml")).unwrap();
    assert_eq!(extracted.warnings, ["attachment not read: V-201.pdf (8 bytes)"]);
}

fn check_folder(folder: &Path, options: &Options) {
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if let Some(document) = name.strip_suffix(".expected.json") {
            count += 1;
            check(document, &path.with_file_name(document), &path, options);
        }
    }
    assert!(count >= 18, "only {count} documents in {}", folder.display());
}

fn check(name: &str, document: &Path, expected: &Path, options: &Options) {
    let bytes = std::fs::read(document).unwrap();
    let expected: Value = serde_json::from_slice(&std::fs::read(expected).unwrap()).unwrap();
    let extracted = extract_in_process(&Upload { bytes: &bytes, name: Some(name), media_type: None }, options);
    let extracted = extracted.unwrap_or_else(|error| panic!("{name}: {error}"));
    let pages: Vec<String> = extracted.pages.iter().map(|page| words(&extracted.text[page.start..page.end])).collect();
    let labels: Vec<&str> = extracted.pages.iter().map(|page| page.label.as_str()).collect();
    assert_eq!(serde_json::json!(pages), expected["pages"], "{name}");
    assert_eq!(serde_json::json!(labels), expected["labels"], "{name}");
    assert_eq!(serde_json::json!(extracted.title), expected["title"], "{name}");
    assert!(!extracted.text.contains(['\r', '\0']), "{name}");
}
