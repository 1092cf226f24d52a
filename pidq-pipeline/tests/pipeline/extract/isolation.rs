//! The process that reads a document: it answers like the reader itself, and whatever becomes of it, there is a code.

use std::time::{Duration, Instant};

use pidq_pipeline::extract::{
    Code, Extracted, Failure, Isolation, Options, Pieces, Running, Stop, Upload, in_child, in_child_by_pieces,
};

use super::{read_named, sample};

fn isolation() -> Isolation {
    Isolation::of(env!("CARGO_BIN_EXE_pidq-pipeline"), &["pipeline", "read-document"])
}

fn read_apart(name: &str, bytes: &[u8], isolation: &Isolation) -> Result<Extracted, Failure> {
    let upload = Upload { bytes, name: Some(name), media_type: None };
    in_child(&upload, &Options::default(), isolation, &Stop::default())
}

/// A program that does something else than reading.
#[cfg(unix)]
fn shell(script: &str) -> Isolation {
    Isolation::of("/bin/sh", &["-c", script])
}

#[test]
fn a_child_reads_what_the_reader_reads() {
    for name in ["manual.pdf", "manual.docx", "lists.xlsx", "talk.pptx", "question.eml", "secret.pdf", "scan.pdf"] {
        let bytes = sample(name);
        assert_eq!(read_apart(name, &bytes, &isolation()), read_named(name, &bytes), "{name}");
    }
}

#[test]
fn poppler_works_within_the_limits_of_the_child() {
    let options = Options::of_this_machine();
    if options.pdftotext.is_none() {
        eprintln!("SKIPPED: there is no pdftotext on this machine");
        return;
    }
    let bytes = sample("manual.pdf");
    let upload = Upload { bytes: &bytes, ..Upload::default() };
    let found = in_child(&upload, &options, &isolation(), &Stop::default()).unwrap();
    assert_eq!((found.pages.len(), found.title.as_deref()), (2, Some("Unit 20 manual")));
}

#[test]
fn a_large_document_comes_through_whole() {
    let text = "PSV-2015A is set at 38.5 barg. Größe 10\n".repeat(250_000);
    assert_eq!(read_apart("a.txt", text.as_bytes(), &isolation()).unwrap().text, text);
}

#[test]
fn a_program_that_is_not_there_is_our_fault() {
    let failure = read_apart("a.txt", b"text", &Isolation::of("/nowhere/pidq", &[])).unwrap_err();
    assert!(failure.code == Code::Internal && failure.code.retryable(), "{failure}");
}

#[cfg(unix)]
#[test]
fn the_end_of_a_child_tells_the_code() {
    for (script, code) in [
        ("exit 0", Code::Internal),
        ("exit 3", Code::Internal),
        ("kill -KILL $$", Code::Internal),
        ("kill -SEGV $$", Code::CorruptDocument),
        ("kill -ABRT $$", Code::CorruptDocument),
        ("kill -XCPU $$", Code::TooLargeText),
        ("echo 'memory allocation of 99 bytes failed' >&2; kill -ABRT $$", Code::TooLargeText),
        ("echo garbage that is longer than a mark", Code::Internal),
        ("printf 'pidqext\\002\\377\\377\\377\\377\\377\\377\\377\\377'", Code::TooLargeText),
        ("printf 'pidqext\\002\\002\\0\\0\\0\\0\\0\\0\\0{}\\0\\0\\0\\0\\0\\0\\0\\0'", Code::Internal),
        ("yes", Code::Internal),
    ] {
        let failure = read_apart("a.txt", b"text", &shell(script)).unwrap_err();
        assert_eq!(failure.code, code, "{script}: {failure}");
    }
}

#[test]
fn a_document_comes_in_pieces_and_one_that_breaks_off_is_not_read() {
    let read = |pieces: Pieces| {
        let hints = Upload { name: Some("a.txt"), ..Upload::default() };
        in_child_by_pieces(&hints, pieces, &Options::default(), &isolation(), &Stop::default())
    };
    let pieces = ["PSV-", "", "2015A"].map(|piece| Ok(piece.as_bytes().to_vec()));
    assert_eq!(read(Box::new(pieces.into_iter())).unwrap().text, "PSV-2015A");
    let broken = [Ok(b"PSV-".to_vec()), Err(std::io::ErrorKind::BrokenPipe.into())];
    assert_eq!(read(Box::new(broken.into_iter())).unwrap_err().code, Code::Internal);
}

#[cfg(unix)]
#[test]
fn pages_that_do_not_fit_the_text_are_no_answer() {
    for pages in ["[]", r#"[{"start":0,"end":9,"label":""}]"#, r#"[{"start":2,"end":1,"label":""}]"#] {
        let header = format!(
            r#"{{"Ok":{{"pages":{pages},"title":null,"warnings":[],"media_type":"text/plain","format":"text"}}}}"#
        );
        let message = [&b"pidqext\x02"[..], &header.len().to_le_bytes(), header.as_bytes(), &2u64.to_le_bytes(), b"ab"];
        let path = std::env::temp_dir().join(format!("pidq-answer-{}", std::process::id()));
        std::fs::write(&path, message.concat()).unwrap();
        let failure = read_apart("a.txt", b"text", &shell(&format!("cat {}", path.display()))).unwrap_err();
        assert_eq!(failure.code, Code::Internal, "{pages}: {failure}");
    }
}

#[cfg(unix)]
#[test]
fn a_child_that_takes_too_long_is_killed_with_what_it_started() {
    let started = Instant::now();
    let mark = format!("600.{}", std::process::id());
    let slow = Isolation { time: Duration::from_millis(300), ..shell(&format!("sleep {mark} & sleep {mark}")) };
    let failure = read_apart("a.txt", b"text", &slow).unwrap_err();
    assert_eq!(failure.code, Code::TooLargeText, "{failure}");
    assert!(started.elapsed() < Duration::from_secs(60));
    assert!(!runs(&mark), "what the child started still runs");
}

#[cfg(unix)]
#[test]
fn a_child_is_stopped_from_elsewhere_and_by_dropping_it() {
    let mark = format!("601.{}", std::process::id());
    let script = format!("sleep {mark}; exit 0");
    let upload = Upload { bytes: b"text", ..Upload::default() };
    let stop = Stop::default();
    let running = Running::start(&upload, &Options::default(), &shell(&script)).unwrap();
    let waiting = std::thread::spawn({
        let stop = stop.clone();
        move || running.finish(&stop)
    });
    stop.stop();
    assert_eq!(waiting.join().unwrap().unwrap_err().code, Code::Internal);
    drop(Running::start(&upload, &Options::default(), &shell(&script)).unwrap());
    assert!(!runs(&mark), "a child that was dropped still runs");
}

/// Whether a process has a word in its command line, also when the system had time to end it.
#[cfg(unix)]
fn runs(word: &str) -> bool {
    let is_there = || {
        let mut processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        processes.any(|process| {
            let command = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&command).contains(word)
        })
    };
    let until = Instant::now() + Duration::from_secs(5);
    while is_there() && Instant::now() < until {
        std::thread::yield_now();
    }
    is_there()
}

#[cfg(target_os = "linux")]
#[test]
fn a_child_knows_no_secrets() {
    let script = "env | grep -q '^CARGO' && exit 0; kill -SEGV $$";
    let failure = read_apart("a.txt", b"text", &shell(script)).unwrap_err();
    assert_eq!(failure.code, Code::CorruptDocument, "the child sees the environment: {failure}");
}

#[cfg(target_os = "linux")]
#[test]
fn memory_ends_where_the_limit_is() {
    let text = "a text that is long\n".repeat(10_000_000);
    let little = Isolation { memory: 256 << 20, ..isolation() };
    let failure = read_apart("a.txt", text.as_bytes(), &little).unwrap_err();
    assert_eq!(failure.code, Code::TooLargeText, "{failure}");
}

#[cfg(target_os = "linux")]
#[test]
fn processor_time_ends_where_the_limit_is() {
    let text = "<p>a &amp; b".repeat(4_000_000);
    let little = Isolation { processor: 1, ..isolation() };
    let failure = read_apart("a.html", text.as_bytes(), &little).unwrap_err();
    assert_eq!(failure.code, Code::TooLargeText, "{failure}");
    assert!(failure.detail.contains("processor"), "{failure}");
}
