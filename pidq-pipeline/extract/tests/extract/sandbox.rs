//! The extraction sandbox: same results as in process, and an error code for every way a child can end.

use std::time::{Duration, Instant};

use pidq_extract::{
    ByteChunks, ErrorCode, ExtractError, Extracted, Options, SandboxOptions, SandboxProcess, StopHandle, Upload,
    extract_in_sandbox, extract_stream_in_sandbox,
};

use super::{extract_named, sample};

fn sandbox() -> SandboxOptions {
    SandboxOptions::new(env!("CARGO_BIN_EXE_pidq-extract"), &[])
}

fn extract_sandboxed(name: &str, bytes: &[u8], sandbox: &SandboxOptions) -> Result<Extracted, ExtractError> {
    let upload = Upload { bytes, name: Some(name), media_type: None };
    extract_in_sandbox(&upload, &Options::default(), sandbox, &StopHandle::default())
}

/// A shell script in place of the extractor.
#[cfg(unix)]
fn shell(script: &str) -> SandboxOptions {
    SandboxOptions::new("/bin/sh", &["-c", script])
}

#[test]
fn a_child_extracts_the_same_text() {
    for name in ["manual.pdf", "manual.docx", "lists.xlsx", "talk.pptx", "question.eml", "secret.pdf", "scan.pdf"] {
        let bytes = sample(name);
        assert_eq!(extract_sandboxed(name, &bytes, &sandbox()), extract_named(name, &bytes), "{name}");
    }
}

#[test]
fn a_large_document_is_transferred_completely() {
    let text = "PSV-2015A is set at 38.5 barg. Größe 10\n".repeat(250_000);
    assert_eq!(extract_sandboxed("a.txt", text.as_bytes(), &sandbox()).unwrap().text, text);
}

#[test]
fn a_missing_program_is_an_internal_error() {
    let error = extract_sandboxed("a.txt", b"text", &SandboxOptions::new("/nowhere/pidq", &[])).unwrap_err();
    assert!(error.code == ErrorCode::Internal && error.code.retryable(), "{error}");
}

#[cfg(unix)]
#[test]
fn the_exit_status_of_a_child_determines_the_error_code() {
    for (script, code) in [
        ("exit 0", ErrorCode::Internal),
        ("exit 3", ErrorCode::Internal),
        ("kill -KILL $$", ErrorCode::Internal),
        ("kill -SEGV $$", ErrorCode::CorruptDocument),
        ("kill -ABRT $$", ErrorCode::CorruptDocument),
        ("kill -XCPU $$", ErrorCode::TooLargeText),
        ("echo 'memory allocation of 99 bytes failed' >&2; kill -ABRT $$", ErrorCode::TooLargeText),
        ("echo garbage that is longer than a mark", ErrorCode::Internal),
        ("printf 'pidqext\\002\\377\\377\\377\\377\\377\\377\\377\\377'", ErrorCode::TooLargeText),
        ("printf 'pidqext\\002\\002\\0\\0\\0\\0\\0\\0\\0{}\\0\\0\\0\\0\\0\\0\\0\\0'", ErrorCode::Internal),
        ("yes", ErrorCode::Internal),
    ] {
        let error = extract_sandboxed("a.txt", b"text", &shell(script)).unwrap_err();
        assert_eq!(error.code, code, "{script}: {error}");
    }
}

#[test]
fn an_incomplete_document_is_not_extracted() {
    let extract = |chunks: ByteChunks| {
        let hints = Upload { name: Some("a.txt"), ..Upload::default() };
        extract_stream_in_sandbox(&hints, chunks, &Options::default(), &sandbox(), &StopHandle::default())
    };
    let chunks = ["PSV-", "", "2015A"].map(|chunk| Ok(chunk.as_bytes().to_vec()));
    assert_eq!(extract(Box::new(chunks.into_iter())).unwrap().text, "PSV-2015A");
    let truncated = [Ok(b"PSV-".to_vec()), Err(std::io::ErrorKind::BrokenPipe.into())];
    assert_eq!(extract(Box::new(truncated.into_iter())).unwrap_err().code, ErrorCode::Internal);
}

#[cfg(unix)]
#[test]
fn inconsistent_pages_are_rejected() {
    for pages in ["[]", r#"[{"start":0,"end":9,"label":""}]"#, r#"[{"start":2,"end":1,"label":""}]"#] {
        let header = format!(
            r#"{{"Ok":{{"pages":{pages},"title":null,"warnings":[],"media_type":"text/plain","format":"text"}}}}"#
        );
        let message = [&b"pidqext\x02"[..], &header.len().to_le_bytes(), header.as_bytes(), &2u64.to_le_bytes(), b"ab"];
        let path = std::env::temp_dir().join(format!("pidq-reply-{}", std::process::id()));
        std::fs::write(&path, message.concat()).unwrap();
        let error = extract_sandboxed("a.txt", b"text", &shell(&format!("cat {}", path.display()))).unwrap_err();
        assert_eq!(error.code, ErrorCode::Internal, "{pages}: {error}");
    }
}

#[cfg(unix)]
#[test]
fn a_child_is_killed_with_its_descendants_at_the_timeout() {
    let started = Instant::now();
    let marker = format!("600.{}", std::process::id());
    let limited =
        SandboxOptions { timeout: Duration::from_millis(300), ..shell(&format!("sleep {marker} & sleep {marker}")) };
    let error = extract_sandboxed("a.txt", b"text", &limited).unwrap_err();
    assert_eq!(error.code, ErrorCode::TooLargeText, "{error}");
    assert!(started.elapsed() < Duration::from_secs(60));
    assert!(!is_running(&marker), "a descendant of the child is still running");
}

#[cfg(unix)]
#[test]
fn a_child_ends_when_cancelled_or_dropped() {
    let marker = format!("601.{}", std::process::id());
    let script = format!("sleep {marker}; exit 0");
    let upload = Upload { bytes: b"text", ..Upload::default() };
    let stop = StopHandle::default();
    let running = SandboxProcess::start(&upload, &Options::default(), &shell(&script)).unwrap();
    let waiting = std::thread::spawn({
        let stop = stop.clone();
        move || running.finish(&stop)
    });
    stop.stop();
    assert_eq!(waiting.join().unwrap().unwrap_err().code, ErrorCode::Internal);
    drop(SandboxProcess::start(&upload, &Options::default(), &shell(&script)).unwrap());
    assert!(!is_running(&marker), "the dropped child is still running");
}

/// Returns whether a process with a word in its command line is still running after a grace period.
#[cfg(unix)]
fn is_running(word: &str) -> bool {
    let matches_process = || {
        let mut processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        processes.any(|process| {
            let command = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&command).contains(word)
        })
    };
    let deadline = Instant::now() + Duration::from_secs(5);
    while matches_process() && Instant::now() < deadline {
        std::thread::yield_now();
    }
    matches_process()
}

#[cfg(target_os = "linux")]
#[test]
fn a_child_inherits_no_secrets() {
    let script = "env | grep -q '^CARGO' && exit 0; kill -SEGV $$";
    let error = extract_sandboxed("a.txt", b"text", &shell(script)).unwrap_err();
    assert_eq!(error.code, ErrorCode::CorruptDocument, "the child sees the environment: {error}");
}

#[cfg(target_os = "linux")]
#[test]
fn memory_is_limited() {
    let text = "a text that is long\n".repeat(10_000_000);
    let limited = SandboxOptions { memory_limit: 256 << 20, ..sandbox() };
    let error = extract_sandboxed("a.txt", text.as_bytes(), &limited).unwrap_err();
    assert_eq!(error.code, ErrorCode::TooLargeText, "{error}");
}

#[cfg(target_os = "linux")]
#[test]
fn cpu_time_is_limited() {
    let text = "<p>a &amp; b".repeat(4_000_000);
    let limited = SandboxOptions { cpu_seconds: 1, ..sandbox() };
    let error = extract_sandboxed("a.html", text.as_bytes(), &limited).unwrap_err();
    assert_eq!(error.code, ErrorCode::TooLargeText, "{error}");
    assert!(error.detail.contains("CPU time"), "{error}");
}
