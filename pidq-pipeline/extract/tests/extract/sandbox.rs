//! The extraction sandbox: same results as in process, and an error code for every way a child can end.

use std::time::{Duration, Instant};

use pidq_extract::{
    AttachmentLimits, ByteChunks, ErrorCode, ExtractError, Extracted, Options, ReaderPool, SandboxOptions,
    SandboxProcess, StopHandle, Upload, extract_in_sandbox, extract_stream_in_sandbox,
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
        ("printf 'pidqext\\007\\377\\377\\377\\377\\377\\377\\377\\377'", ErrorCode::TooLargeText),
        ("printf 'pidqext\\007\\002\\0\\0\\0\\0\\0\\0\\0{}\\0\\0\\0\\0\\0\\0\\0\\0'", ErrorCode::Internal),
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

/// Extracts a document with a child that replies with given pages of the text `ab`, and given boxes of words.
#[cfg(unix)]
fn extract_forged(pages: &str, page_words: &[&[u8]]) -> Result<Extracted, ExtractError> {
    extract_reply(pages, page_words, "[]", &[], &Options::default())
}

/// Extracts a document with a child that also replies with attachments.
#[cfg(unix)]
fn extract_reply(
    pages: &str,
    page_words: &[&[u8]],
    attachments: &str,
    contents: &[&[u8]],
    options: &Options,
) -> Result<Extracted, ExtractError> {
    let header = format!(
        r#"{{"Ok":{{"Text":{{"pages":{pages},"attachments":{attachments},"title":null,"warnings":[],"media_type":"text/plain","format":"text"}}}}}}"#
    );
    let mut message = b"pidqext\x07".to_vec();
    for part in [header.as_bytes(), b"ab"] {
        message.extend(part.len().to_le_bytes());
        message.extend(part);
    }
    for list in [page_words, contents] {
        message.extend(list.len().to_le_bytes());
        for part in list {
            message.extend(part.len().to_le_bytes());
            message.extend(*part);
        }
    }
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&file, message).unwrap();
    let upload = Upload { bytes: b"text", name: Some("a.txt"), media_type: None };
    let sandbox = shell(&format!("cat {}", file.path().display()));
    extract_in_sandbox(&upload, options, &sandbox, &StopHandle::default())
}

#[cfg(unix)]
#[test]
fn a_reply_has_no_more_attachments_than_allowed() {
    let pages = r#"[{"start":0,"end":2,"label":"1"}]"#;
    let reply = |attachments: &str, contents: &[&[u8]], limits: Option<AttachmentLimits>| {
        extract_reply(pages, &[], attachments, contents, &Options { attachments: limits, ..Options::default() })
    };
    let one = r#"[{"name":"a.txt","media_type":null}]"#;
    let limits = Some(AttachmentLimits { count: 1, size: 3 });
    assert_eq!(reply(one, &[b"abc"], limits).unwrap().attachments[0].bytes, b"abc");
    let two = r#"[{"name":"a.txt","media_type":null},{"name":null,"media_type":null}]"#;
    for (attachments, contents, limits, code) in [
        (one, &[&b"abcd"[..]][..], limits, ErrorCode::TooLargeText),
        (one, &[b"abc"], None, ErrorCode::TooLargeText),
        (one, &[], limits, ErrorCode::Internal),
        ("[]", &[b"abc"], limits, ErrorCode::Internal),
        (two, &[b"a", b"b"], limits, ErrorCode::Internal),
    ] {
        assert_eq!(reply(attachments, contents, limits).unwrap_err().code, code, "{attachments} {contents:?}");
    }
}

#[cfg(unix)]
#[test]
fn inconsistent_replies_are_rejected() {
    let pages = r#"[{"start":0,"end":2,"label":"1"}]"#;
    assert_eq!(extract_forged(pages, &[]).unwrap().text, "ab");
    assert_eq!(extract_forged(pages, &[b""]).unwrap().text, "ab");
    for pages in ["[]", r#"[{"start":0,"end":9,"label":""}]"#, r#"[{"start":2,"end":1,"label":""}]"#] {
        let error = extract_forged(pages, &[]).unwrap_err();
        assert_eq!(error.code, ErrorCode::Internal, "{pages}: {error}");
    }
    let invalid_words: [&[&[u8]]; 3] = [&[b"garbage"], &[b"", b""], &[&[1, 0, 0, 100, 100, 3, 0]]];
    for page_words in invalid_words {
        let error = extract_forged(pages, page_words).unwrap_err();
        assert_eq!(error.code, ErrorCode::Internal, "{page_words:?}: {error}");
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
pub fn is_running(word: &str) -> bool {
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

/// Extracts a document with a pool.
fn extract_pooled(
    pool: &ReaderPool,
    owner: &str,
    (name, bytes): (&str, &[u8]),
    sandbox: &SandboxOptions,
) -> Result<Extracted, ExtractError> {
    let hints = Upload { name: Some(name), ..Upload::default() };
    let chunks = Box::new(std::iter::once(Ok(bytes.to_vec())));
    pool.extract_stream(owner, &hints, chunks, &Options::default(), sandbox, &StopHandle::default())
}

/// Process ids of the children of this process, by the marker in their command lines.
#[cfg(target_os = "linux")]
fn children(marker: &str) -> Vec<u32> {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = processes.filter_map(|process| process.file_name().to_str()?.parse().ok());
    let has_marker = |id: &u32| {
        let command = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&command).contains(marker)
    };
    let mut found: Vec<u32> = ids.filter(has_marker).collect();
    found.sort_unstable();
    found
}

/// The reader with an argument that distinguishes the children of a test.
#[cfg(target_os = "linux")]
fn marked(marker: &str) -> SandboxOptions {
    SandboxOptions::new(env!("CARGO_BIN_EXE_pidq-extract"), &["pipeline", marker])
}

#[cfg(target_os = "linux")]
#[test]
fn a_reader_is_reused_for_its_owner_only() {
    let (pool, marker) = (ReaderPool::default(), format!("owner-{}", std::process::id()));
    let sandbox = marked(&marker);
    let extract = |owner: &str| extract_pooled(&pool, owner, ("a.txt", b"PSV"), &sandbox).unwrap();
    extract("p1/public");
    let public = children(&marker);
    extract("p1/public");
    assert_eq!((children(&marker), public.len()), (public.clone(), 1), "the reader was not reused");
    extract("p1/secret");
    let both = children(&marker);
    assert_eq!(both.len(), 2, "two classifications share a reader");
    for owner in ["p1/public", "p1/secret", "p1/public"] {
        extract(owner);
        assert_eq!(children(&marker), both);
    }
    drop(pool);
    assert!(!is_running(&marker), "a reader outlives its pool");
}

#[cfg(target_os = "linux")]
#[test]
fn a_document_that_fails_affects_only_itself() {
    let pool = ReaderPool::default();
    let sandbox = SandboxOptions {
        memory_limit: 256 << 20,
        cpu_seconds: 10,
        ..marked(&format!("poison-{}", std::process::id()))
    };
    let extract = |name: &str, bytes: &[u8]| extract_pooled(&pool, "p", (name, bytes), &sandbox);
    let text = || assert_eq!(extract("a.txt", b"PSV").unwrap().text, "PSV");
    text();
    assert_eq!(pool.idle_count(), 1);
    let huge = "a text that is long\n".repeat(10_000_000);
    for (name, bytes, code) in [
        ("damaged.pdf", &b"%PDF-1.7\nbroken"[..], ErrorCode::CorruptDocument),
        ("empty.txt", b" ", ErrorCode::EmptyText),
        ("huge.txt", huge.as_bytes(), ErrorCode::TooLargeText),
    ] {
        assert_eq!(extract(name, bytes).unwrap_err().code, code, "{name}");
        assert_eq!(pool.idle_count(), 0, "the reader of {name} is reused");
        text();
        assert_eq!(pool.idle_count(), 1);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_memory_limit_holds_for_each_document() {
    let pool = ReaderPool::default();
    let sandbox = SandboxOptions { memory_limit: 512 << 20, ..marked(&format!("memory-{}", std::process::id())) };
    let large = "a text that is long\n".repeat(1_500_000);
    let huge = "a text that is long\n".repeat(20_000_000);
    for _ in 0..4 {
        // A document that needs much of the limit is read in a reader that has served others.
        assert_eq!(extract_pooled(&pool, "p", ("a.txt", b"PSV"), &sandbox).unwrap().text, "PSV");
        let extracted = extract_pooled(&pool, "p", ("large.txt", large.as_bytes()), &sandbox).unwrap();
        assert_eq!(extracted.text.len(), large.len());
        let error = extract_pooled(&pool, "p", ("huge.txt", huge.as_bytes()), &sandbox).unwrap_err();
        assert_eq!(error.code, ErrorCode::TooLargeText, "{error}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_reader_is_replaced_after_many_documents() {
    let (pool, marker) = (ReaderPool::default(), format!("many-{}", std::process::id()));
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..205 {
        assert_eq!(extract_pooled(&pool, "p", ("a.txt", b"PSV"), &marked(&marker)).unwrap().text, "PSV");
        seen.extend(children(&marker));
    }
    assert!((2..=4).contains(&seen.len()), "{} readers", seen.len());
}

/// Waits until a child has ended. Its memory is gone a little earlier, when its command line is empty already.
#[cfg(target_os = "linux")]
fn wait_until_zombie(process: u32) {
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        let status = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
        // The state follows the name of the program, which is in parentheses.
        if status.rsplit(')').next().is_some_and(|fields| fields.starts_with(" Z")) {
            return;
        }
        assert!(Instant::now() < deadline, "the reader is still running: {status}");
        std::thread::yield_now();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_reader_that_was_killed_while_waiting_is_replaced() {
    let (pool, marker) = (ReaderPool::default(), format!("killed-{}", std::process::id()));
    extract_pooled(&pool, "p", ("a.txt", b"PSV"), &marked(&marker)).unwrap();
    let reader = children(&marker)[0];
    let killed = std::process::Command::new("kill").arg("-KILL").arg(reader.to_string()).status();
    assert!(killed.unwrap().success());
    wait_until_zombie(reader);
    assert_eq!(extract_pooled(&pool, "p", ("a.txt", b"PSV"), &marked(&marker)).unwrap().text, "PSV");
}
