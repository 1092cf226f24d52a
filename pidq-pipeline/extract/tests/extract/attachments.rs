//! Attachments of e-mails: what is returned, what is only named, and the limits. Those of Outlook messages are in `msg`.

use pidq_extract::{Attachment, AttachmentLimits, Extracted, Options, Upload, extract_in_process};

use super::hostile::extract_sandboxed;
use super::{extract_named, sample};

const ALL: AttachmentLimits = AttachmentLimits { count: 100, size: 1 << 30 };

fn extract_with(limits: AttachmentLimits, bytes: &[u8]) -> Extracted {
    let options = Options { attachments: Some(limits), ..Options::default() };
    extract_in_process(&Upload { bytes, name: Some("a.eml"), media_type: None }, &options).unwrap()
}

fn names(extracted: &Extracted) -> Vec<&str> {
    extracted.attachments.iter().map(|attachment| attachment.name.as_deref().unwrap_or("-")).collect()
}

/// Returns an e-mail with parts: headers and content.
fn mail(parts: &[(&str, &str)]) -> String {
    let mut mail = "From: a@example.com\r\nSubject: Parts\r\nMIME-Version: 1.0\r\n\
        Content-Type: multipart/mixed; boundary=b\r\n\r\n"
        .to_owned();
    for (headers, content) in parts {
        mail += &format!("--b\r\n{headers}\r\n\r\n{content}\r\n");
    }
    mail + "--b--\r\n"
}

#[test]
fn files_of_all_kinds_are_returned_in_order() {
    let mail = sample("project.eml");
    let extracted = extract_with(ALL, &mail);
    assert_eq!(
        names(&extracted),
        [
            "V-201.pdf",
            "manual.docx",
            "photo.png",
            "copy.pdf",
            "notes.txt",
            "notes.txt",
            "../../etc/passwd",
            "a\u{202e}fdp.txt",
            "pump.txt",
            "thread.eml",
            "setup.exe",
        ]
    );
    let bytes = |name: &str| -> Vec<&[u8]> {
        let named = |attachment: &&Attachment| attachment.name.as_deref() == Some(name);
        extracted.attachments.iter().filter(named).map(|attachment| attachment.bytes.as_slice()).collect()
    };
    assert_eq!(bytes("V-201.pdf"), [sample("manual.pdf")]);
    assert_eq!(bytes("manual.docx"), [sample("manual.docx")]);
    let notes: Vec<_> = bytes("notes.txt").into_iter().map(|text| std::str::from_utf8(text).unwrap().trim()).collect();
    assert_eq!(notes, ["The valve HV-1 is closed.", "The valve HV-2 is open."]);
    let types: Vec<_> = extracted.attachments[..3].iter().map(|attachment| attachment.media_type.as_deref()).collect();
    assert_eq!(types, [Some("application/pdf"), Some("application/octet-stream"), Some("image/png")]);
    assert_eq!(
        extracted.warnings,
        [
            "attachment not read: empty.bin (0 bytes): it is empty",
            "attachment not read: smime.p7s (4 bytes): it is the signature of the mail",
            "an image in the text of the mail is not read",
        ]
    );
    // The e-mail attached as a file is a document of its own; the forwarded one is part of the text.
    assert!(extracted.text.contains("Rated flow 45 m³/h") && !extracted.text.contains("V-301"), "{}", extracted.text);
    assert!(String::from_utf8_lossy(bytes("thread.eml")[0]).contains("V-301"));
}

#[test]
fn a_child_returns_the_same_attachments() {
    let bytes = sample("project.eml");
    let options = Options { attachments: Some(ALL), ..Options::default() };
    assert_eq!(extract_sandboxed("a.eml", &bytes, &options).unwrap(), extract_with(ALL, &bytes));
}

#[test]
fn attachments_are_only_named_unless_they_are_asked_for() {
    let extracted = extract_named("project.eml", &sample("project.eml")).unwrap();
    assert_eq!(extracted.attachments, []);
    assert_eq!(extracted.warnings.len(), 14, "{:?}", extracted.warnings);
    assert_eq!(extracted.warnings[4], "attachment not read: notes.txt (26 bytes)");
}

#[test]
fn number_and_size_are_limited() {
    let mail = sample("project.eml");
    let first = extract_with(AttachmentLimits { count: 2, ..ALL }, &mail);
    assert_eq!(names(&first), ["V-201.pdf", "manual.docx"]);
    let reason = "only the first 2 attachments of this mail become documents";
    assert_eq!(first.warnings.iter().filter(|warning| warning.ends_with(reason)).count(), 9, "{:?}", first.warnings);
    let none = extract_with(AttachmentLimits { count: 0, ..ALL }, &mail);
    assert_eq!(none.attachments, []);
    assert!(none.warnings[0].ends_with("attachments of this mail do not become documents"), "{:?}", none.warnings);
    let size = sample("manual.pdf").len() as u64 + 100;
    let small = extract_with(AttachmentLimits { size, ..ALL }, &mail);
    assert_eq!(names(&small)[..2], ["V-201.pdf", "photo.png"], "a smaller one follows");
    assert!(
        small.warnings[0].ends_with(&format!("the attachments of a mail may have {size} bytes together")),
        "{:?}",
        small.warnings
    );
}

#[test]
fn images_are_part_of_the_text_only_if_it_refers_to_them() {
    let html = |references: &str| ("Content-Type: text/html".to_owned(), references.to_owned());
    let image = "Content-Type: image/png; name=a.png\r\nContent-ID: <a b@x>\r\nContent-Disposition: inline";
    let document = "Content-Type: application/pdf; name=a.pdf\r\nContent-ID: <p@x>\r\nContent-Disposition: inline";
    for (text, expected) in [
        ("<img src=\"cid:a%20b@x\">", &["a.pdf"][..]),
        ("<img src='cid:other@x'>", &["a.png", "a.pdf"]),
        ("<a href='cid:p@x'>open</a>", &["a.png", "a.pdf"]),
    ] {
        let (headers, content) = html(text);
        let extracted = extract_with(ALL, mail(&[(&headers, &content), (image, "x"), (document, "%PDF-")]).as_bytes());
        assert_eq!(names(&extracted), expected, "{text}");
        assert_eq!(extracted.warnings.len(), 2 - expected.len(), "{text}: {:?}", extracted.warnings);
    }
}

#[test]
fn forwarded_mails_are_read_to_a_depth() {
    let mut inner = "From: a@example.com\r\nSubject: innermost\r\n\r\nThe pump is red.\r\n".to_owned();
    for level in (0..10).rev() {
        let file = format!("Content-Type: text/plain\r\nContent-Disposition: attachment; filename={level}.txt");
        inner = mail(&[("Content-Type: message/rfc822", &inner), (&file, "valve")])
            .replace("=b\r\n", &format!("=b{level}\r\n"));
        inner = inner.replace("--b\r\n", &format!("--b{level}\r\n")).replace("--b--\r\n", &format!("--b{level}--\r\n"));
    }
    let extracted = extract_with(ALL, inner.as_bytes());
    let depth = extracted.text.matches("Subject: Parts").count();
    assert_eq!(depth, 9, "the mail and eight in it: {}", extracted.text);
    assert!(!extracted.text.contains("innermost"));
    assert_eq!(names(&extracted), ["8.txt", "7.txt", "6.txt", "5.txt", "4.txt", "3.txt", "2.txt", "1.txt", "0.txt"]);
    assert!(extracted.warnings[0].ends_with("forwarded e-mails are read to a depth of 8"), "{:?}", extracted.warnings);
}

#[test]
fn many_small_attachments_take_little_time() {
    let part = ("Content-Disposition: attachment; filename=a.txt", "x");
    let html = ("Content-Type: text/html", &*"<img src='cid:a@x'>".repeat(20_000));
    let parts: Vec<_> = [html].into_iter().chain(std::iter::repeat_n(part, 50_000)).collect();
    let started = std::time::Instant::now();
    let extracted = extract_with(ALL, mail(&parts).as_bytes());
    assert_eq!(extracted.attachments.len(), 100);
    assert_eq!(extracted.warnings.len(), 101, "further warnings are counted");
    assert!(started.elapsed() < std::time::Duration::from_secs(20), "{:?}", started.elapsed());
}
