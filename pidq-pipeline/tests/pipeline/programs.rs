//! Optional programs of the platform: their settings, `/version`, and documents whose text was recognized.

use std::path::PathBuf;
use std::sync::Arc;

use pidq_http::Settings;
use pidq_pipeline::ingest::worker;
use pidq_pipeline::{TABLES, open};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::platform::TestPlatform;

/// Returns the path of an installed program.
pub fn program(name: &str) -> Option<String> {
    let path = std::env::var_os("PATH")?;
    let found = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())?;
    found.to_str().map(str::to_owned)
}

/// Returns the paths of Tesseract and pdftoppm, or none where they are not installed.
fn programs() -> Option<(String, String)> {
    let found = program("tesseract").zip(program("pdftoppm"));
    if found.is_none() {
        eprintln!("SKIPPED: text recognition needs the packages tesseract-ocr, tesseract-ocr-eng and poppler-utils");
    }
    found
}

fn scan(name: &str) -> Vec<u8> {
    let folder: PathBuf = [env!("CARGO_MANIFEST_DIR"), "extract/tests/data/scans"].iter().collect();
    std::fs::read(folder.join(name)).unwrap()
}

/// Returns the error with which a platform with these settings does not start.
async fn start_error(values: &[(&str, &str)]) -> String {
    let folder = TempDir::new().unwrap();
    let data = folder.path().to_str().unwrap().to_owned();
    let environment = values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let settings = Settings::read(TABLES, ["--data-dir".into(), data], environment).unwrap();
    open(&settings).await.map(drop).expect_err("the settings are wrong").to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_is_not_usable_is_an_error_at_startup() {
    for (value, reason) in [
        ("tesseract", "must be an absolute path"),
        ("/nowhere/tesseract", "`/nowhere/tesseract` is not usable: it cannot be started"),
        ("/bin/echo", "`/bin/echo` is not tesseract"),
        ("/bin/false", "`/bin/false` is not usable: it failed"),
    ] {
        let error = start_error(&[("PIDQ_TESSERACT", value)]).await;
        assert!(error.contains("PIDQ_TESSERACT") && error.contains(reason), "{error}");
    }
    for value in ["soffice", "/nowhere/soffice", "/bin/echo"] {
        let error = start_error(&[("PIDQ_SOFFICE", value)]).await;
        assert!(error.contains("PIDQ_SOFFICE") && error.contains(&format!("`{value}`")), "{error}");
    }
    for value in ["pdftoppm", "/nowhere/pdftoppm", "/bin/echo"] {
        let error = start_error(&[("PIDQ_PDFTOPPM", value)]).await;
        assert!(error.contains("PIDQ_PDFTOPPM") && error.contains(&format!("`{value}`")), "{error}");
    }
    let Some((tesseract, pdftoppm)) = programs() else { return };
    let error = start_error(&[("PIDQ_TESSERACT", &tesseract)]).await;
    assert!(error.contains("`PIDQ_PDFTOPPM`: required, because `PIDQ_TESSERACT` is set"), "{error}");
    let settings = [("PIDQ_TESSERACT", &*tesseract), ("PIDQ_PDFTOPPM", &pdftoppm), ("PIDQ_OCR_LANGUAGES", "eng+xyz")];
    let error = start_error(&settings).await;
    assert!(error.contains("PIDQ_OCR_LANGUAGES") && error.contains("no data for `xyz`; installed: eng"), "{error}");
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_is_too_old_is_an_error_at_startup() {
    use std::os::unix::fs::PermissionsExt;

    let folder = TempDir::new().unwrap();
    let old = folder.path().join("tesseract");
    std::fs::write(&old, "#!/bin/sh\necho tesseract 4.1.1\n").unwrap();
    std::fs::set_permissions(&old, std::fs::Permissions::from_mode(0o755)).unwrap();
    let error = start_error(&[("PIDQ_TESSERACT", old.to_str().unwrap())]).await;
    assert!(error.contains("is tesseract 4.1.1; version 5 or later is required"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn scans_are_ready_with_their_confidence() {
    let Some((tesseract, pdftoppm)) = programs() else { return };
    let platform = TestPlatform::sqlite(&[("PIDQ_TESSERACT", &tesseract), ("PIDQ_PDFTOPPM", &pdftoppm)]).await;
    let _worker = tokio::spawn(worker::run_worker(Arc::clone(&platform.state)));
    let components = platform.get("/version").await.json()["components"].clone();
    for name in ["tesseract", "tessdata-eng", "pdftoppm"] {
        assert!(components[name].as_str().is_some_and(|version| !version.is_empty()), "{components}");
    }
    let id = platform.pipeline().await;
    let manual = [("classification", "manual")];
    let uploaded = platform.upload_and_wait(&id, "V-201.png", &scan("page.png"), &manual).await;
    assert_eq!((&uploaded["status"], &uploaded["content_type"]), (&json!("ready"), &json!("image/png")), "{uploaded}");
    let recognition = &uploaded["text_recognition"];
    assert_eq!(recognition["pages"], 1, "{uploaded}");
    assert!(recognition["mean_confidence"].as_i64().is_some_and(|confidence| (80..=100).contains(&confidence)));
    let recognizer = recognition["recognizer"].as_str().unwrap();
    let version = components["tesseract"].as_str().unwrap();
    assert!(recognizer.starts_with(&format!("tesseract {version}, tessdata-eng ")), "{recognizer}");
    assert!(uploaded["warnings"][0].as_str().unwrap().starts_with("page 1: text recognized with a confidence of "));
    let found = platform.search(&id, "design pressure of V-202", "manual").await;
    assert_eq!(found["contexts"][0]["document_id"], uploaded["id"], "{found}");
    let text = platform.upload_and_wait(&id, "P-101.txt", b"The pump P-101A", &manual).await;
    assert_eq!(text["text_recognition"], Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn images_are_rejected_without_text_recognition() {
    let platform = TestPlatform::sqlite(&[]).await;
    assert_eq!(platform.get("/version").await.json()["components"], Value::Null);
    let id = platform.pipeline().await;
    let response = platform.upload(&id, "V-201.png", &scan("page.png"), &[("classification", "manual")]).await;
    assert_eq!((response.status, response.code().as_str()), (415, "unsupported-media-type"), "{}", response.json());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_version_of_libreoffice_is_reported() {
    let Some(soffice) = program("soffice") else {
        return eprintln!("SKIPPED: old Office documents need the package libreoffice-writer-nogui");
    };
    let platform = TestPlatform::sqlite(&[("PIDQ_SOFFICE", &soffice)]).await;
    let components = platform.get("/version").await.json()["components"].clone();
    let version = components["libreoffice"].as_str().unwrap();
    assert!(version.split('.').count() >= 3 && !version.contains(' '), "{components}");
    assert_eq!(components.as_object().unwrap().len(), 1, "{components}");
}
