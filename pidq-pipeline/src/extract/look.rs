//! What a document is: a look at its content, and what its name and media type say to that.

use std::cell::OnceCell;

use super::archive::Archive;
use super::plain::{self, Decoded};
use super::{FORMATS, Failure, Format, Options, Upload};

/// Whether a content is of a format.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fit {
    /// It cannot be.
    No,
    /// It can be, if the name says so.
    Possible,
    /// It is.
    Certain,
}

impl Fit {
    /// Certain or not at all.
    pub fn certain(is: bool) -> Fit {
        if is { Fit::Certain } else { Fit::No }
    }
}

/// A content, and what was found out about it so far.
pub struct Look<'a> {
    pub bytes: &'a [u8],
    options: &'a Options,
    text: OnceCell<Option<Decoded>>,
    names: OnceCell<Result<Vec<String>, Failure>>,
}

impl<'a> Look<'a> {
    pub fn at(upload: &Upload<'a>, options: &'a Options) -> Self {
        Look { bytes: upload.bytes, options, text: OnceCell::new(), names: OnceCell::new() }
    }

    /// Whether the content begins with some bytes.
    pub fn begins(&self, bytes: &[u8]) -> bool {
        self.bytes.starts_with(bytes)
    }

    /// The text, unless it is something else. Formats that begin with text, as PDF does, are asked for first.
    pub fn text(&self) -> Option<&Decoded> {
        self.text.get_or_init(|| plain::decode(self.bytes)).as_ref()
    }

    pub fn is_archive(&self) -> bool {
        self.begins(b"PK\x03\x04") || self.begins(b"PK\x05\x06")
    }

    /// Whether it is an archive with a file of this name. One that cannot be opened could be anything.
    pub fn has_file(&self, name: &str) -> Fit {
        if !self.is_archive() {
            return Fit::No;
        }
        match self.names() {
            Ok(names) => Fit::certain(names.iter().any(|known| known == name)),
            Err(_) => Fit::Possible,
        }
    }

    /// Whether it is an archive that says of itself what it is, as OpenDocument has it.
    pub fn has_mimetype(&self, media_type: &str) -> Fit {
        match self.has_file("mimetype") {
            Fit::Certain => {
                let said = Archive::open(self.bytes, self.options).and_then(|mut archive| archive.text("mimetype"));
                Fit::certain(said.is_ok_and(|said| said.trim() == media_type))
            }
            fit => fit,
        }
    }

    fn names(&self) -> &Result<Vec<String>, Failure> {
        self.names.get_or_init(|| Ok(Archive::open(self.bytes, self.options)?.names()))
    }

    /// Old files of Office, and new ones that are encrypted, come in a container of their own.
    fn is_compound(&self) -> bool {
        self.begins(b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1")
    }
}

/// The row that reads a content.
pub fn decide(look: &Look<'_>, upload: &Upload<'_>) -> Result<&'static Format, Failure> {
    if upload.bytes.is_empty() {
        return Err(Failure::new(super::Code::EmptyText, "the file is empty"));
    }
    if look.is_compound() {
        return Err(compound(look));
    }
    let hinted = hinted(upload);
    if hinted.is_empty() {
        return certain(look).ok_or_else(|| unknown(look));
    }
    let fits = |format: &&&Format| (format.sniff)(look) != Fit::No;
    hinted.iter().find(fits).copied().ok_or_else(|| contradiction(look, hinted[hinted.len() - 1]))
}

/// The rows that the name speaks of; if it speaks of none, those of the media type.
fn hinted(upload: &Upload<'_>) -> Vec<&'static Format> {
    let ending = upload.name.and_then(|name| name.rsplit_once('.')).map(|(_, ending)| ending.to_ascii_lowercase());
    let by_name: Vec<_> = FORMATS.iter().filter(|row| has(row.extensions, ending.as_deref())).collect();
    if !by_name.is_empty() {
        return by_name;
    }
    let media_type = upload.media_type.and_then(|full| full.split(';').next()).map(|it| it.trim().to_ascii_lowercase());
    FORMATS
        .iter()
        .filter(|row| has(row.media_types, media_type.as_deref()) && !has(GENERIC, media_type.as_deref()))
        .collect()
}

/// Media types that clients send for anything.
const GENERIC: &[&str] = &["application/octet-stream", "text/plain"];

fn has(list: &[&str], name: Option<&str>) -> bool {
    name.is_some_and(|name| list.contains(&name))
}

/// The row that the content alone says. Plain text is what no other row is certain of.
fn certain(look: &Look<'_>) -> Option<&'static Format> {
    let row = FORMATS.iter().find(|format| (format.sniff)(look) == Fit::Certain);
    row.or_else(|| FORMATS.last().filter(|_| look.text().is_some()))
}

fn contradiction(look: &Look<'_>, hinted: &Format) -> Failure {
    let found = certain(look).map(|format| format.name.to_owned()).unwrap_or_else(|| kind(look));
    Failure::unsupported(format!("the file claims to be {}, its content is {found}", hinted.name))
}

fn unknown(look: &Look<'_>) -> Failure {
    if let (true, Err(failure)) = (look.is_archive(), look.names()) {
        return failure.clone();
    }
    let read = FORMATS.iter().map(|format| format.name).collect::<Vec<_>>().join(", ");
    Failure::unsupported(format!("the content is {}; what is read: {read}", kind(look)))
}

/// What is known of a content that is not read.
fn kind(look: &Look<'_>) -> String {
    infer::get(look.bytes).map_or_else(|| "of no known type".into(), |kind| kind.mime_type().to_owned())
}

/// The media type of a content of which its beginning tells beyond doubt that it is of no format: of a kind that is known,
/// and no text. Archives and the containers of old Office could be anything.
pub fn foreign(beginning: &[u8]) -> Option<&'static str> {
    let kind = infer::get(beginning)?.mime_type();
    let is_container = [&b"PK"[..], b"\xD0\xCF\x11\xE0"].iter().any(|mark| beginning.starts_with(mark));
    let is_read = FORMATS.iter().any(|format| format.media_types.contains(&kind));
    (beginning.contains(&0) && !is_container && !is_read).then_some(kind)
}

/// Word and its kin put an encrypted document as a stream of this name into the old container.
fn compound(look: &Look<'_>) -> Failure {
    let name: Vec<u8> = "EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes).collect();
    match memchr::memmem::find(look.bytes, &name) {
        Some(_) => Failure::encrypted("the document is encrypted; save it without a password"),
        None => Failure::unsupported("the content is an old Office file; save it as DOCX, XLSX or PPTX"),
    }
}
