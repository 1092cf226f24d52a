//! Format detection: by content, with the file name and the declared media type as hints.

use std::cell::OnceCell;

use super::archive::Archive;
use super::compound_file::{self, CompoundFile};
use super::text_decoding::{self, Decoded};
use super::{ExtractError, FORMATS, Format, IMAGE_FORMATS, LEGACY_OFFICE_FORMATS, Options, Upload};

/// Confidence that a content has a format.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Confidence {
    /// The content does not have the format.
    No,
    /// The content may have the format if the file name matches.
    Possible,
    /// The content has the format.
    Certain,
}

impl Confidence {
    /// Returns `Certain` or `No`.
    pub fn certain_if(matches: bool) -> Confidence {
        if matches { Confidence::Certain } else { Confidence::No }
    }
}

/// Content of a document, with lazily computed properties.
pub struct Content<'a> {
    pub bytes: &'a [u8],
    options: &'a Options,
    text: OnceCell<Option<Decoded>>,
    names: OnceCell<Result<Vec<String>, ExtractError>>,
    streams: OnceCell<Option<Vec<String>>>,
}

impl<'a> Content<'a> {
    pub fn new(upload: &Upload<'a>, options: &'a Options) -> Self {
        Content {
            bytes: upload.bytes,
            options,
            text: OnceCell::new(),
            names: OnceCell::new(),
            streams: OnceCell::new(),
        }
    }

    /// Returns whether the content starts with some bytes.
    pub fn starts_with(&self, bytes: &[u8]) -> bool {
        self.bytes.starts_with(bytes)
    }

    /// Returns the decoded text, or none for binary content. Binary formats that start with text, such as PDF, must be
    /// checked first.
    pub fn text(&self) -> Option<&Decoded> {
        self.text.get_or_init(|| text_decoding::decode(self.bytes)).as_ref()
    }

    pub fn is_archive(&self) -> bool {
        self.starts_with(b"PK\x03\x04") || self.starts_with(b"PK\x05\x06")
    }

    /// Returns the confidence that the content is an archive with a file of this name. An archive that cannot be opened could
    /// be anything.
    pub fn has_file(&self, name: &str) -> Confidence {
        if !self.is_archive() {
            return Confidence::No;
        }
        match self.names() {
            Ok(names) => Confidence::certain_if(names.iter().any(|file| file == name)),
            Err(_) => Confidence::Possible,
        }
    }

    /// Returns the confidence that the content is an archive with a `mimetype` file of this value, as in OpenDocument.
    pub fn has_mimetype(&self, media_type: &str) -> Confidence {
        match self.has_file("mimetype") {
            Confidence::Certain => {
                let declared = Archive::open(self.bytes, self.options).and_then(|mut archive| archive.text("mimetype"));
                Confidence::certain_if(declared.is_ok_and(|declared| declared.trim() == media_type))
            }
            confidence => confidence,
        }
    }

    fn names(&self) -> &Result<Vec<String>, ExtractError> {
        self.names.get_or_init(|| Ok(Archive::open(self.bytes, self.options)?.names()))
    }

    /// Returns whether the content is a compound file: old Office formats, and encrypted new ones.
    fn is_compound(&self) -> bool {
        self.starts_with(compound_file::SIGNATURE)
    }

    /// Returns whether the content is a compound file with a stream of this name at its top level. In a damaged file, the
    /// directory is searched for the name.
    pub fn has_stream(&self, name: &str) -> bool {
        match self.streams() {
            Some(names) => names.iter().any(|stream| stream == name),
            None => self.is_compound() && self.has_directory_entry(name),
        }
    }

    /// Returns the names at the top level of a compound file; none for other or damaged files.
    fn streams(&self) -> Option<&Vec<String>> {
        let read = || {
            let file = CompoundFile::open(self.bytes).ok()?;
            let entries = file.children(file.root()).ok()?;
            Some(entries.into_iter().filter(|entry| entry.is_stream()).map(|entry| entry.name.clone()).collect())
        };
        self.streams.get_or_init(|| self.is_compound().then(read)?).as_ref()
    }

    fn has_directory_entry(&self, name: &str) -> bool {
        // Entries of the directory begin with the name, ended by a NUL, in a field of 64 bytes.
        let entry: Vec<u8> = name.encode_utf16().chain([0]).flat_map(u16::to_le_bytes).collect();
        memchr::memmem::find_iter(self.bytes, &entry).any(|at| at % 128 == 0)
    }
}

/// Returns the formats that can be read with some options.
pub fn readable_formats(options: &Options) -> impl Iterator<Item = &'static Format> + Clone {
    let images = if options.recognition.is_some() { IMAGE_FORMATS } else { &[] };
    let legacy = if options.soffice.is_some() { LEGACY_OFFICE_FORMATS } else { &[] };
    FORMATS.iter().chain(images).chain(legacy)
}

/// Detects the format of a content.
pub fn detect_format(content: &Content<'_>, upload: &Upload<'_>) -> Result<&'static Format, ExtractError> {
    if upload.bytes.is_empty() {
        return Err(ExtractError::new(super::ErrorCode::EmptyText, "the file is empty"));
    }
    if content.is_compound()
        && !readable_formats(content.options).any(|format| (format.sniff)(content) == Confidence::Certain)
    {
        return Err(compound_file_error(content));
    }
    let hinted = formats_by_hint(upload, content.options);
    if hinted.is_empty() {
        return format_by_content(content).ok_or_else(|| unknown_type_error(content));
    }
    let fits = |format: &&&Format| (format.sniff)(content) != Confidence::No;
    hinted.iter().find(fits).copied().ok_or_else(|| mismatch_error(content, hinted[hinted.len() - 1]))
}

/// Returns the formats of the file extension, or else those of the media type.
fn formats_by_hint(upload: &Upload<'_>, options: &Options) -> Vec<&'static Format> {
    let extension =
        upload.name.and_then(|name| name.rsplit_once('.')).map(|(_, extension)| extension.to_ascii_lowercase());
    let by_name: Vec<_> =
        readable_formats(options).filter(|format| has(format.extensions, extension.as_deref())).collect();
    if !by_name.is_empty() {
        return by_name;
    }
    let media_type =
        upload.media_type.and_then(|full| full.split(';').next()).map(|name| name.trim().to_ascii_lowercase());
    readable_formats(options)
        .filter(|format| {
            has(format.media_types, media_type.as_deref()) && !has(GENERIC_MEDIA_TYPES, media_type.as_deref())
        })
        .collect()
}

/// Media types that clients send for any file.
const GENERIC_MEDIA_TYPES: &[&str] = &["application/octet-stream", "text/plain"];

fn has(list: &[&str], name: Option<&str>) -> bool {
    name.is_some_and(|name| list.contains(&name))
}

/// Returns the format by content alone. Plain text is the fallback for text.
fn format_by_content(content: &Content<'_>) -> Option<&'static Format> {
    let certain = readable_formats(content.options).find(|format| (format.sniff)(content) == Confidence::Certain);
    certain.or_else(|| FORMATS.last().filter(|_| content.text().is_some()))
}

fn mismatch_error(content: &Content<'_>, hinted: &Format) -> ExtractError {
    let actual =
        format_by_content(content).map(|format| format.name.to_owned()).unwrap_or_else(|| media_type_of(content));
    ExtractError::unsupported(format!("the file is declared as {}, but its content is {actual}", hinted.name))
}

fn unknown_type_error(content: &Content<'_>) -> ExtractError {
    if let (true, Err(error)) = (content.is_archive(), content.names()) {
        return error.clone();
    }
    let supported = readable_formats(content.options).map(|format| format.name).collect::<Vec<_>>().join(", ");
    ExtractError::unsupported(format!("the content is {}; supported formats: {supported}", media_type_of(content)))
}

/// Describes the type of unsupported content.
fn media_type_of(content: &Content<'_>) -> String {
    infer::get(content.bytes).map_or_else(|| "of an unknown type".into(), |kind| kind.mime_type().to_owned())
}

/// Returns the media type of a content whose prefix proves that it cannot be read with some options: a known binary type.
/// Archives and compound files could be anything.
pub fn unsupported_media_type(prefix: &[u8], options: &Options) -> Option<&'static str> {
    let kind = infer::get(prefix)?.mime_type();
    let is_container = [&b"PK"[..], b"\xD0\xCF\x11\xE0"].iter().any(|signature| prefix.starts_with(signature));
    let is_supported = readable_formats(options).any(|format| format.media_types.contains(&kind));
    (prefix.contains(&0) && !is_container && !is_supported).then_some(kind)
}

/// Returns the error for a compound file. Encrypted Office documents have a stream named `EncryptedPackage`.
fn compound_file_error(content: &Content<'_>) -> ExtractError {
    match content.has_stream("EncryptedPackage") {
        true => ExtractError::encrypted("the document is encrypted; save it without a password"),
        false => ExtractError::unsupported("the content is in a legacy Office format; save it as DOCX or PPTX"),
    }
}
