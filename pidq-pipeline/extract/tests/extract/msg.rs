//! Outlook messages: rare forms, and damaged or hostile ones, which a child with little memory rejects.

use std::io::{Cursor, Write};
use std::time::{Duration, Instant};

use cfb::CompoundFile;
use pidq_extract::{AttachmentLimits, ErrorCode, Extracted, Options};

use super::hostile::{assert_rejected, extract_sandboxed};
use super::{extract_named, sample};

/// Sizes of the headers of property streams.
const MESSAGE: usize = 32;
const EMBEDDED: usize = 24;
const PART: usize = 8;

/// A message under construction.
struct Draft(CompoundFile<Cursor<Vec<u8>>>);

impl Draft {
    fn new() -> Draft {
        let mut draft = Draft(CompoundFile::create(Cursor::new(Vec::new())).unwrap());
        draft.properties("/", MESSAGE, &[]);
        draft
    }

    /// Writes the fixed-size properties of an object: type, identifier, value.
    fn properties(&mut self, path: &str, header: usize, values: &[(u16, u16, u64)]) {
        let mut bytes = vec![0; header];
        for (kind, id, value) in values {
            bytes.extend([kind.to_le_bytes(), id.to_le_bytes(), [6, 0], [0, 0]].concat());
            bytes.extend(value.to_le_bytes());
        }
        self.stream(&format!("{path}__properties_version1.0"), &bytes);
    }

    /// Writes a text in Unicode.
    fn text(&mut self, path: &str, id: u16, text: &str) {
        let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        self.stream(&format!("{path}__substg1.0_{id:04X}001F"), &bytes);
    }

    fn stream(&mut self, path: &str, bytes: &[u8]) {
        self.0.create_stream(path).unwrap().write_all(bytes).unwrap();
    }

    fn storage(&mut self, path: &str) -> String {
        self.0.create_storage_all(path).unwrap();
        format!("{path}/")
    }

    fn finish(self) -> Vec<u8> {
        self.0.into_inner().into_inner()
    }

    /// Adds a message that is attached to the one at a path, and returns its path.
    fn forwarded(&mut self, path: &str, subject: &str) -> String {
        let attachment = self.storage(&format!("{path}__attach_version1.0_#00000000"));
        self.properties(&attachment, PART, &[]);
        let inner = self.storage(&format!("{attachment}__substg1.0_3701000D"));
        self.properties(&inner, EMBEDDED, &[(0x40, 0x39, 0x01DD_7996_B03F_A800)]);
        self.text(&inner, 0x37, subject);
        inner
    }
}

fn extract(draft: Draft) -> Extracted {
    extract_named("a.msg", &draft.finish()).unwrap()
}

#[test]
fn forwarded_messages_are_extracted_to_a_depth() {
    let mut draft = Draft::new();
    let mut path = "/".to_owned();
    for level in 0..12 {
        path = draft.forwarded(&path, &format!("level {level}"));
    }
    let extracted = extract(draft);
    assert_eq!(extracted.text.matches("Date: 2026-11-21T09:00:00Z").count(), 8, "{}", extracted.text);
    assert!(extracted.text.contains("level 7") && !extracted.text.contains("level 8"), "{}", extracted.text);
    assert_eq!(
        extracted.warnings,
        ["attachment not read: without a name (0 bytes): forwarded e-mails are read to a depth of 8"]
    );
}

#[test]
fn people_have_a_name_and_an_address_that_others_can_use() {
    let mut draft = Draft::new();
    draft.text("/", 0x1000, "38.5 barg");
    draft.text("/", 0x0C1A, "Jürgen");
    draft.text("/", 0x0C1F, "/O=PLANT/OU=EXCHANGE/CN=J");
    for (number, kind, name, address) in
        [(0, 1, "", "a@example.com"), (1, 2, "Bö", "b@example.com"), (2, 3, "Secret", "")]
    {
        let path = draft.storage(&format!("/__recip_version1.0_#{number:08X}"));
        draft.properties(&path, PART, &[(3, 0x0C15, kind)]);
        draft.text(&path, 0x3001, name);
        draft.text(&path, 0x39FE, address);
    }
    assert_eq!(extract(draft).text, "From: Jürgen\nTo: a@example.com\nCc: Bö <b@example.com>\n\n38.5 barg");
    let mut unsent = Draft::new();
    unsent.text("/", 0x1000, "38.5 barg");
    unsent.text("/", 0x0E04, "Anna; Bö");
    assert_eq!(extract(unsent).text, "To: Anna; Bö\n\n38.5 barg");
}

#[test]
fn what_is_not_read_is_named() {
    let mut draft = Draft::new();
    draft.text("/", 0x1A, "IPM.Appointment");
    draft.text("/", 0x37, "Inspection");
    let object = draft.storage("/__attach_version1.0_#00000000");
    draft.properties(&object, PART, &[]);
    draft.text(&object, 0x3001, "Picture");
    draft.storage("/__attach_version1.0_#00000000/__substg1.0_3701000D");
    let extracted = extract(draft);
    assert_eq!(extracted.text.trim_end(), "Subject: Inspection");
    assert_eq!(
        extracted.warnings,
        [
            "the item has the class IPM.Appointment: only its subject, people, date and text are read",
            "attachment not read: Picture (0 bytes): it is an object of another program"
        ]
    );
    let mut encrypted = Draft::new();
    encrypted.text("/", 0x1A, "IPM.Note.SMIME");
    encrypted.text("/", 0x37, "Inspection");
    assert_rejected("a.msg", &encrypted.finish(), ErrorCode::EncryptedDocument);
}

#[test]
fn an_attached_workbook_does_not_make_a_message_a_workbook() {
    let mut draft = Draft::new();
    draft.text("/", 0x1000, "see the list");
    let path = draft.storage("/__attach_version1.0_#00000000");
    draft.properties(&path, PART, &[]);
    draft.text(&path, 0x3707, "lists.xls");
    draft.stream(&format!("{path}__substg1.0_37010102"), &sample("lists.xls"));
    let bytes = draft.finish();
    for name in ["a.msg", "a.bin"] {
        let extracted = extract_named(name, &bytes).unwrap();
        assert_eq!(extracted.warnings, ["attachment not read: lists.xls (5632 bytes)"]);
    }
    assert_rejected("a.xls", &bytes, ErrorCode::UnsupportedType);
}

#[test]
fn attachments_are_returned_with_their_names_and_types() {
    let mut draft = Draft::new();
    draft.text("/", 0x1000, "See the manual.");
    let inner = draft.forwarded("/", "Fwd");
    for (folder, number, name, media_type, flags, bytes) in [
        ("/", 1, "V-201.pdf", "application/pdf", 0, sample("manual.pdf")),
        ("/", 2, "logo.png", "", 4, b"\x89PNG".to_vec()),
        ("/", 3, "chart.bin", "image/png", 4, b"\x89PNG".to_vec()),
        ("/", 4, "photo.png", "image/png", 0, b"\x89PNG".to_vec()),
        ("/", 5, "shown.txt", "text/plain", 4, b"text".to_vec()),
        (&inner, 1, "", "", 0, b"pump".to_vec()),
    ] {
        let path = draft.storage(&format!("{folder}__attach_version1.0_#{number:08X}"));
        draft.properties(&path, PART, &[(3, 0x3714, flags)]);
        draft.text(&path, 0x3707, name);
        draft.text(&path, 0x370E, media_type);
        draft.stream(&format!("{path}__substg1.0_37010102"), &bytes);
    }
    let hidden = draft.storage("/__attach_version1.0_#00000006");
    draft.properties(&hidden, PART, &[(0x0B, 0x7FFE, 1)]);
    draft.text(&hidden, 0x3704, "HIDDEN~1.GIF");
    draft.stream(&format!("{hidden}__substg1.0_37010102"), b"GIF89a");
    let options = Options { attachments: Some(AttachmentLimits { count: 9, size: 1 << 20 }), ..Options::default() };
    let extracted = extract_sandboxed("a.msg", &draft.finish(), &options).unwrap();
    let found: Vec<_> = extracted
        .attachments
        .iter()
        .map(|attachment| (attachment.name.as_deref(), attachment.media_type.as_deref(), attachment.bytes.len()))
        .collect();
    assert_eq!(
        found,
        [
            (None, None, 4),
            (Some("V-201.pdf"), Some("application/pdf"), sample("manual.pdf").len()),
            (Some("photo.png"), Some("image/png"), 4),
            (Some("shown.txt"), Some("text/plain"), 4),
        ]
    );
    assert_eq!(extracted.attachments[1].bytes, sample("manual.pdf"));
    assert_eq!(extracted.warnings, ["3 images in the text of the mail are not read"]);
}

#[test]
fn compressed_text_must_not_expand_beyond_the_limit() {
    let mut draft = Draft::new();
    let bomb = [&[0; 4][..], &0xFFFF_FFF0_u32.to_le_bytes(), b"LZFu", &[0; 4], &[0xFF; 64]].concat();
    draft.stream("/__substg1.0_10090102", &bomb);
    assert_rejected("bomb.msg", &draft.finish(), ErrorCode::TooLargeText);
    let mut short = Draft::new();
    let text = b"{\\rtf1 PSV}";
    short.stream("/__substg1.0_10090102", &[&[0; 4][..], &100u32.to_le_bytes(), b"MELA", &[0; 4], text].concat());
    let extracted = extract_sandboxed("a.msg", &short.finish(), &Default::default()).unwrap();
    assert_eq!(extracted.text, "PSV");
    assert_eq!(extracted.warnings, ["the RTF text of the message is damaged; part of it is missing"]);
}

#[test]
fn messages_with_too_many_people_are_rejected() {
    let mut draft = Draft::new();
    draft.text("/", 0x1000, "text");
    for number in 0..30 {
        let path = draft.storage(&format!("/__recip_version1.0_#{number:08X}"));
        draft.properties(&path, PART, &[]);
    }
    let options = Options { max_entries: 20, ..Default::default() };
    let error = extract_sandboxed("a.msg", &draft.finish(), &options).unwrap_err();
    assert_eq!(error.code, ErrorCode::TooLargeText);
    assert!(error.detail.contains("recipients"), "{error}");
}

#[test]
fn truncated_messages_are_rejected() {
    let whole = sample("sent.msg");
    for size in (512..whole.len() - 512).step_by(512) {
        let error = extract_sandboxed("a.msg", &whole[..size], &Default::default());
        // A part after the end may be padding; then nothing is missing.
        if let Ok(extracted) = error {
            assert_eq!(extracted.text, extract_named("a.msg", &whole).unwrap().text, "{size} bytes");
        }
    }
    assert_rejected("a.msg", &whole[..whole.len() / 2], ErrorCode::CorruptDocument);
}

/// Position of the first allocation table, and the number of its entries.
fn allocation_table(bytes: &[u8]) -> (usize, usize) {
    let sector = u32::from_le_bytes(bytes[76..80].try_into().unwrap()) as usize;
    ((sector + 1) * 512, 128)
}

#[test]
fn cycles_in_the_allocation_table_end() {
    let whole = sample("sent.msg");
    let (start, count) = allocation_table(&whole);
    let started = Instant::now();
    for entry in 0..count {
        for target in [entry as u32, 0, entry.saturating_sub(1) as u32] {
            let mut bytes = whole.clone();
            bytes[start + 4 * entry..][..4].copy_from_slice(&target.to_le_bytes());
            if let Ok(extracted) = extract_named("a.msg", &bytes) {
                assert!(extracted.text.len() < 10_000, "entry {entry}: {} bytes", extracted.text.len());
            }
        }
    }
    assert!(started.elapsed() < Duration::from_secs(60));
}

#[test]
fn streams_that_share_their_content_are_rejected() {
    let mut draft = Draft::new();
    draft.text("/", 0x1000, &"long text ".repeat(10_000));
    for number in 0..20 {
        let path = draft.storage(&format!("/__attach_version1.0_#{number:08X}"));
        draft.properties(&path, PART, &[]);
        draft.text(&path, 0x3707, &"name ".repeat(1000));
    }
    let mut bytes = draft.finish();
    let name: Vec<u8> = "__substg1.0_1000001F\0".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let body = memchr::memmem::find(&bytes, &name).unwrap();
    let location: Vec<u8> = bytes[body + 116..body + 128].to_vec();
    let name: Vec<u8> = "__substg1.0_3707001F\0".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let names: Vec<usize> = memchr::memmem::find_iter(&bytes, &name).collect();
    assert_eq!(names.len(), 20);
    for at in names {
        bytes[at + 116..at + 128].copy_from_slice(&location);
    }
    assert_rejected("shared.msg", &bytes, ErrorCode::CorruptDocument);
}

#[test]
fn declared_sizes_are_not_trusted() {
    let mut draft = Draft::new();
    draft.text("/", 0x1000, &"long text ".repeat(1000));
    let mut bytes = draft.finish();
    let name: Vec<u8> = "__substg1.0_1000001F\0".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let entry = memchr::memmem::find(&bytes, &name).unwrap();
    for size in [u64::from(u32::MAX), 1 << 40, u64::MAX] {
        bytes[entry + 120..entry + 128].copy_from_slice(&size.to_le_bytes());
        assert_rejected("size.msg", &bytes, ErrorCode::CorruptDocument);
    }
}
