//! Compressed files: gzip (RFC 1952) and Zstandard (RFC 8878), recognized by their first bytes.

use std::io::{self, BufRead, Cursor, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use ruzstd::decoding::StreamingDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};

use super::failure::{Failure, Result};

/// Most bytes of a decompressed file: one more than the engine accepts.
const MAX_BYTES: u64 = u32::MAX as u64 + 1;

/// Returns true if the file name is that of a JSON document, compressed or not.
pub fn is_document(path: &Path) -> bool {
    let name = name(path);
    [".json", ".json.gz", ".json.zst"].iter().any(|ending| name.ends_with(ending))
}

/// Returns true if the file name is that of a compressed file.
pub fn is_compressed(path: &Path) -> bool {
    [".gz", ".zst"].iter().any(|ending| name(path).ends_with(ending))
}

/// Format of a compressed file.
#[derive(Clone, Copy)]
enum Compression {
    Gzip,
    Zstandard,
}

impl Compression {
    /// Returns the format that begins with these bytes. No JSON and no text does.
    fn from_first_bytes(bytes: &[u8]) -> Option<Compression> {
        match bytes {
            [0x1F, 0x8B, ..] => Some(Compression::Gzip),
            [0x28, 0xB5, 0x2F, 0xFD, ..] => Some(Compression::Zstandard),
            _ => None,
        }
    }

    fn decompress(self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        match self {
            Compression::Gzip => decompress_gzip(bytes),
            Compression::Zstandard => decompress_zstd(bytes),
        }
    }
}

/// Returns the bytes of a file, decompressed if they are compressed. A name such as `a.json.gz` says that they are.
pub fn decompress_if_needed(path: &Path, bytes: Vec<u8>) -> Result<Vec<u8>> {
    let failure = |reason: &str| Failure::Usage(format!("cannot decompress `{}`: {reason}", path.display()));
    match Compression::from_first_bytes(&bytes) {
        Some(compression) => compression.decompress(&bytes).map_err(|error| failure(&reason(&error))),
        None if is_compressed(path) => Err(failure("it is not compressed; rename it without `.gz` or `.zst`")),
        None => Ok(bytes),
    }
}

fn reason(error: &io::Error) -> String {
    if error.kind() == io::ErrorKind::UnexpectedEof { "it is cut off".into() } else { error.to_string() }
}

/// Reader of a stream that may be compressed. A stream that is not is passed on as it comes.
pub struct MaybeCompressed<R> {
    reader: R,
    /// The decompressed stream; `None` if it is not compressed. Unset before the first bytes.
    decompressed: Option<Option<Cursor<Vec<u8>>>>,
}

impl<R: BufRead> MaybeCompressed<R> {
    pub fn new(reader: R) -> MaybeCompressed<R> {
        MaybeCompressed { reader, decompressed: None }
    }

    /// Reads the whole stream if its first bytes are those of a compressed one.
    fn detect(&mut self) -> io::Result<Option<Cursor<Vec<u8>>>> {
        let Some(compression) = Compression::from_first_bytes(self.reader.fill_buf()?) else { return Ok(None) };
        let mut bytes = Vec::new();
        self.reader.by_ref().take(MAX_BYTES).read_to_end(&mut bytes)?;
        let decompressed = compression.decompress(&bytes);
        let decompressed =
            decompressed.map_err(|error| io::Error::other(format!("cannot decompress it: {}", reason(&error))))?;
        Ok(Some(Cursor::new(decompressed)))
    }
}

impl<R: BufRead> Read for MaybeCompressed<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.decompressed.is_none() {
            self.decompressed = Some(self.detect()?);
        }
        match &mut self.decompressed {
            Some(Some(decompressed)) => decompressed.read(bytes),
            _ => self.reader.read(bytes),
        }
    }
}

fn name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn decompress_gzip(compressed: &[u8]) -> io::Result<Vec<u8>> {
    let mut decompressed = Vec::new();
    MultiGzDecoder::new(compressed).take(MAX_BYTES).read_to_end(&mut decompressed)?;
    Ok(decompressed)
}

/// Decompresses one frame after another.
fn decompress_zstd(compressed: &[u8]) -> io::Result<Vec<u8>> {
    let (mut rest, mut decompressed) = (compressed, Vec::new());
    while !rest.is_empty() && (decompressed.len() as u64) < MAX_BYTES {
        match StreamingDecoder::new(&mut rest) {
            Ok(mut frame) => {
                frame.by_ref().take(MAX_BYTES - decompressed.len() as u64).read_to_end(&mut decompressed)?;
                let [stated, actual] =
                    [frame.decoder.get_checksum_from_data(), frame.decoder.get_calculated_checksum()];
                if stated.is_some() && stated != actual {
                    return Err(io::Error::new(io::ErrorKind::InvalidData, "its checksum is wrong"));
                }
            }
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                rest = rest.get(length as usize..).ok_or(io::ErrorKind::UnexpectedEof)?;
            }
            Err(error) => return Err(io::Error::new(io::ErrorKind::InvalidData, error)),
        }
    }
    Ok(decompressed)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A Zstandard frame of one raw block, without a checksum.
    fn frame(text: &[u8]) -> Vec<u8> {
        let header = [0x28, 0xB5, 0x2F, 0xFD, 0x20, text.len() as u8];
        let block = ((text.len() as u32) << 3 | 1).to_le_bytes();
        [&header, &block[..3], text].concat()
    }

    #[test]
    fn zstandard_frames_are_joined_and_others_skipped() {
        let skippable = [&[0x50, 0x2A, 0x4D, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
        let file = [frame(b"[1,"), skippable, frame(b"2]")].concat();
        assert_eq!(decompress_zstd(&file).expect("three frames"), b"[1,2]");
        assert!(decompress_zstd(&file[..file.len() - 1]).is_err());
        assert!(decompress_zstd(b"{}").is_err());
    }

    #[test]
    fn a_stream_is_decompressed_if_its_first_bytes_say_so() {
        let read = |stream: &[u8]| {
            let mut text = Vec::new();
            MaybeCompressed::new(stream).read_to_end(&mut text).map(|_| text)
        };
        let compressed = [frame(b"[1,"), frame(b"2]")].concat();
        assert_eq!(read(&compressed).expect("two frames"), b"[1,2]");
        assert_eq!(read(b"(not compressed)").expect("a text"), b"(not compressed)");
        assert_eq!(read(b"").expect("an empty stream"), b"");
        let error = read(&compressed[..compressed.len() - 1]).expect_err("cut off");
        assert!(error.to_string().contains("cannot decompress it"), "{error}");
    }

    #[test]
    fn the_name_determines_the_compression() {
        assert!(["a.json", "a.json.gz", "a.json.zst"].iter().all(|name| is_document(Path::new(name))));
        assert!(["a.gz", "a.json.br", "json.gz", "a.jsonx.gz"].iter().all(|name| !is_document(Path::new(name))));
        assert!(["a.ndjson.gz", "a.zst"].iter().all(|name| is_compressed(Path::new(name))));
    }
}
