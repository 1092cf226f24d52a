//! Old Office documents with LibreOffice: their text, and converters that hang, fail or reach for the network.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use pidq_extract::{
    ErrorCode, ExtractError, Extracted, Options, SandboxOptions, StopHandle, Upload, extract_in_sandbox,
};
use tempfile::TempDir;

use super::{extract_named, folder, sample, words};

fn soffice() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let found = std::env::split_paths(&path).map(|folder| folder.join("soffice")).find(|file| file.is_file());
    if found.is_none() {
        eprintln!(
            "SKIPPED: old Office documents need the packages libreoffice-writer-nogui and libreoffice-impress-nogui"
        );
    }
    found
}

/// Extracts a document in the sandbox with a converter. Afterwards, the scratch directory is empty.
fn extract(name: &str, bytes: &[u8], soffice: &Path, timeout: Duration) -> Result<Extracted, ExtractError> {
    let scratch = TempDir::new().unwrap();
    let sandbox = SandboxOptions {
        scratch_dir: Some(scratch.path().to_owned()),
        timeout,
        ..SandboxOptions::new(env!("CARGO_BIN_EXE_pidq-extract"), &[])
    };
    let options = Options { soffice: Some(soffice.to_owned()), ..Options::default() };
    let upload = Upload { bytes, name: Some(name), media_type: None };
    let result = extract_in_sandbox(&upload, &options, &sandbox, &StopHandle::default());
    assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0, "files of {name} remain");
    result
}

const TIMEOUT: Duration = Duration::from_secs(300);

/// Converts a file to an old format.
fn old(soffice: &Path, source: &Path, format: &str) -> Vec<u8> {
    let folder_of_output = TempDir::new().unwrap();
    let output = folder_of_output.path();
    let converted = Command::new(soffice)
        .arg(format!("-env:UserInstallation=file://{}/profile", output.display()))
        .args(["--headless", "--convert-to", format, "--outdir"])
        .arg(output)
        .arg(source)
        .output()
        .unwrap();
    assert!(converted.status.success(), "{converted:?}");
    fs::read(output.join(source.file_name().unwrap()).with_extension(format)).unwrap()
}

/// The smallest compound file with a stream of a name, such as that of a Word document.
fn compound(stream: &str) -> Vec<u8> {
    use std::io::Write;

    let mut file = cfb::CompoundFile::create(std::io::Cursor::new(Vec::new())).unwrap();
    file.create_stream(stream).unwrap().write_all(b"damaged").unwrap();
    file.flush().unwrap();
    file.into_inner().into_inner()
}

#[test]
fn old_word_documents_are_read_with_their_tables() {
    let Some(soffice) = soffice() else { return };
    let folder = TempDir::new().unwrap();
    let source = folder.path().join("valves.rtf");
    let row =
        |tag: &str, size: &str| format!("\\trowd\\cellx3000\\cellx6000 {tag}\\intbl\\cell {size}\\intbl\\cell\\row");
    let table = format!("{}{}", row("Tag", "DN"), row("HV-101", "150"));
    fs::write(&source, format!("{{\\rtf1\\ansi valves of unit 20\\par{table}\\pard set at 38.5 barg\\par}}")).unwrap();
    let extracted = extract("old.doc", &old(&soffice, &source, "doc"), &soffice, TIMEOUT).unwrap();
    assert_eq!((extracted.format.as_str(), extracted.media_type.as_str()), ("doc", "application/msword"));
    let lines: Vec<&str> = extracted.text.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(lines, ["valves of unit 20", "Tag\tDN", "HV-101\t150", "set at 38.5 barg"]);
}

#[test]
fn old_presentations_have_the_text_of_new_ones() {
    let Some(soffice) = soffice() else { return };
    let expected = extract_named("talk.pptx", &sample("talk.pptx")).unwrap();
    let old = old(&soffice, &folder().join("talk.pptx"), "ppt");
    let extracted = extract("old.ppt", &old, &soffice, TIMEOUT).unwrap();
    assert_eq!(words(&extracted.text), words(&expected.text));
    assert_eq!(extracted.pages.len(), expected.pages.len());
}

#[test]
fn damaged_documents_are_rejected() {
    let Some(soffice) = soffice() else { return };
    for (name, stream) in [("a.doc", "WordDocument"), ("a.ppt", "PowerPoint Document")] {
        let error = extract(name, &compound(stream), &soffice, TIMEOUT).unwrap_err();
        assert!(matches!(error.code, ErrorCode::CorruptDocument | ErrorCode::EmptyText), "{name}: {error}");
    }
}

#[test]
fn old_documents_are_unsupported_without_a_converter() {
    for (name, stream) in [("a.doc", "WordDocument"), ("a.ppt", "PowerPoint Document")] {
        let error = extract_named(name, &compound(stream)).unwrap_err();
        assert_eq!(error.code, ErrorCode::UnsupportedType, "{name}: {error}");
    }
}

/// Returns a program in a directory of its own.
#[cfg(unix)]
fn script(text: &str) -> (TempDir, PathBuf) {
    use std::os::unix::fs::PermissionsExt;

    let folder = TempDir::new().unwrap();
    let path = folder.path().join("soffice");
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    (folder, path)
}

#[cfg(unix)]
#[test]
fn a_converter_that_hangs_is_ended_with_its_children() {
    let marker = format!("603.{}", std::process::id());
    let (_folder, soffice) = script(&format!("sleep {marker} & sleep {marker}"));
    let started = Instant::now();
    let error = extract("a.doc", &compound("WordDocument"), &soffice, Duration::from_secs(2)).unwrap_err();
    assert_eq!(error.code, ErrorCode::TooLargeText, "{error}");
    assert!(started.elapsed() < Duration::from_secs(60));
    assert!(!super::sandbox::is_running(&marker), "the converter is still running");
}

#[cfg(unix)]
#[test]
fn a_converter_that_fails_or_is_missing_is_an_error() {
    for (text, code) in [("exit 1", ErrorCode::CorruptDocument), ("exit 0", ErrorCode::CorruptDocument)] {
        let (_folder, soffice) = script(text);
        let error = extract("a.doc", &compound("WordDocument"), &soffice, TIMEOUT).unwrap_err();
        assert_eq!(error.code, code, "{text}: {error}");
    }
    let error = extract("a.doc", &compound("WordDocument"), Path::new("/nowhere/soffice"), TIMEOUT).unwrap_err();
    assert!(error.code == ErrorCode::Internal && error.code.retryable(), "{error}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_converter_has_no_network() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let connect = format!("exec 3<>/dev/tcp/127.0.0.1/{}", listener.local_addr().unwrap().port());
    let (_folder, soffice) = script(&format!("bash -c '{connect}' 2>/dev/null && exit 3; exit 0"));
    let error = extract("a.doc", &compound("WordDocument"), &soffice, TIMEOUT).unwrap_err();
    assert!(error.detail.contains("it is damaged"), "it connected: {error}");
    // The test can tell: without the filter, bash connects.
    assert!(Command::new("bash").args(["-c", &connect]).status().unwrap().success());
}
