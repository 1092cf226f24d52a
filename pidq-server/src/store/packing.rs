//! Packing and unpacking, never beyond a limit: a few bytes can stand for very many.

use std::io::{self, BufRead, Read, Write};

use bytes::Bytes;

use super::Coding;
use super::error::{Error, Result};

/// As fast as it takes no thought to use, and most of what there is to gain.
const LEVEL: i32 = 3;

/// How bytes are packed.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Packing {
    /// Not at all.
    None,
    /// RFC 1952.
    Gzip,
    /// RFC 8878.
    Zstd,
}

/// Endings of files with a graph, the preferred ones first.
pub const ENDINGS: [(&str, Packing); 3] =
    [(".json", Packing::None), (".json.zst", Packing::Zstd), (".json.gz", Packing::Gzip)];

impl From<Coding> for Packing {
    fn from(coding: Coding) -> Packing {
        match coding {
            Coding::Identity => Packing::None,
            Coding::Zstd => Packing::Zstd,
        }
    }
}

/// How far bytes may grow.
#[derive(Clone, Copy, Debug)]
pub struct Growth {
    /// Bytes unpacked.
    pub bytes: usize,
    /// Times as many as there were packed.
    pub ratio: usize,
}

impl Growth {
    /// The bounds for what strangers send.
    pub const FOREIGN: Growth = Growth { bytes: 64 << 20, ratio: 200 };

    /// The bounds for files that somebody has put in place: trusted with the ratio, not with the memory.
    pub const TRUSTED: Growth = Growth { ratio: usize::MAX, ..Growth::FOREIGN };

    fn limit(self, packed: usize) -> usize {
        self.bytes.min(packed.saturating_mul(self.ratio))
    }
}

/// One frame of zstd with the size and a checksum of its content.
///
/// # Errors
/// `storage-failure`, when memory is out.
pub fn pack(bytes: &[u8]) -> Result<Vec<u8>> {
    let failure = |error: io::Error| Error::StorageFailure(format!("packing failed: {error}"));
    let mut compressor = zstd::bulk::Compressor::new(LEVEL).map_err(failure)?;
    compressor.include_checksum(true).map_err(failure)?;
    compressor.compress(bytes).map(exact).map_err(failure)
}

/// One member of gzip.
///
/// # Errors
/// `storage-failure`, when memory is out.
pub fn pack_gzip(bytes: &[u8]) -> Result<Vec<u8>> {
    let failure = |error: io::Error| Error::StorageFailure(format!("packing failed: {error}"));
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).map_err(failure)?;
    encoder.finish().map(exact).map_err(failure)
}

/// The bytes that were packed.
///
/// # Errors
/// `graph-too-large` beyond the bounds, `malformed-json` when they are not packed that way.
pub fn unpack(packed: &Bytes, packing: Packing, growth: Growth) -> Result<Bytes> {
    match packing {
        Packing::None if packed.len() > growth.bytes => Err(too_large("bytes", growth.bytes)),
        Packing::None => Ok(packed.clone()),
        Packing::Gzip => read(flate2::read::MultiGzDecoder::new(&packed[..]), packed.len(), growth),
        Packing::Zstd => {
            let unpacker = unpacker(&packed[..], FOREIGN_WINDOW).map_err(malformed)?;
            read(unpacker, packed.len(), growth)
        }
    }
}

/// What unpacks zstd as it is read.
pub(crate) type Unpacker<R> = zstd::stream::read::Decoder<'static, R>;

/// Bytes that [`LEVEL`] looks back to.
pub(crate) const WINDOW: usize = 2 << 20;
/// What all decoders must know; more is memory that a stranger asks for.
const FOREIGN_WINDOW: usize = 8 << 20;

/// Unpacks as it is read, and keeps so many bytes of that: a frame that looks back further is refused.
pub(crate) fn unpacker<R: BufRead>(packed: R, window: usize) -> io::Result<Unpacker<R>> {
    let mut unpacker = Unpacker::with_buffer(packed)?;
    unpacker.window_log_max(window.ilog2())?;
    Ok(unpacker)
}

/// What [`pack`] made of `size` bytes. `None` when it is not that.
pub(crate) fn unpack_own(packed: &[u8], size: usize) -> Option<Bytes> {
    let bytes = zstd::bulk::decompress(packed, size).ok()?;
    (bytes.len() == size).then(|| bytes.into())
}

fn read(reader: impl Read, packed: usize, growth: Growth) -> Result<Bytes> {
    let limit = growth.limit(packed);
    let mut bytes = Vec::new();
    reader.take(limit as u64 + 1).read_to_end(&mut bytes).map_err(malformed)?;
    match bytes.len() <= limit {
        true => Ok(exact(bytes).into()),
        false if limit == growth.bytes => Err(too_large("bytes", limit)),
        false => Err(too_large("times the packed bytes", growth.ratio)),
    }
}

/// Bytes that stay take no more than they need.
fn exact(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.shrink_to_fit();
    bytes
}

fn too_large(what: &'static str, limit: usize) -> Error {
    Error::GraphTooLarge { what, limit: limit as u64 }
}

fn malformed(error: io::Error) -> Error {
    Error::MalformedJson { detail: format!("The packed bytes are damaged: {error}"), offset: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gzip(bytes: &[u8]) -> Bytes {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(bytes).expect("memory");
        encoder.finish().expect("memory").into()
    }

    #[test]
    fn bytes_come_back() {
        let text = Bytes::from_static(b"{\"nodes\":[]}");
        let packed = pack(&text).expect("memory");
        assert_eq!(unpack_own(&packed, text.len()), Some(text.clone()));
        assert_eq!(unpack_own(&packed, text.len() - 1), None);
        assert_eq!(unpack_own(&packed, text.len() + 1), None);
        assert_eq!(unpack_own(&packed[..packed.len() - 1], text.len()), None);
        assert_eq!(unpack(&packed.into(), Packing::Zstd, Growth::FOREIGN), Ok(text.clone()));
        assert_eq!(unpack(&gzip(&text), Packing::Gzip, Growth::FOREIGN), Ok(text.clone()));
        let gzipped = pack_gzip(&text).expect("memory").into();
        assert_eq!(unpack(&gzipped, Packing::Gzip, Growth::FOREIGN), Ok(text.clone()));
        assert_eq!(unpack(&text, Packing::None, Growth::FOREIGN), Ok(text));
    }

    #[test]
    fn what_is_kept_takes_no_more_than_its_length() {
        let text = "a valve ".repeat(10_000).into_bytes();
        for packed in [pack(&text).expect("memory"), pack_gzip(&text).expect("memory")] {
            assert_eq!(packed.capacity(), packed.len());
        }
    }

    #[test]
    fn bombs_do_not_unpack() {
        let zeros = vec![0; 4 << 20];
        let bounds = Growth { bytes: 1 << 20, ratio: 1 << 20 };
        for (bomb, packing) in [(gzip(&zeros), Packing::Gzip), (pack(&zeros).expect("memory").into(), Packing::Zstd)] {
            let size = |bounds| unpack(&bomb, packing, bounds).map(|bytes| bytes.len());
            assert_eq!(size(bounds), Err(too_large("bytes", 1 << 20)));
            assert_eq!(size(Growth::FOREIGN), Err(too_large("times the packed bytes", 200)));
        }
    }

    #[test]
    fn what_is_not_packed_is_said_so() {
        for packing in [Packing::Gzip, Packing::Zstd] {
            for bytes in ["{}", "", "\x1f\u{8b}"] {
                let found = unpack(&Bytes::from(bytes), packing, Growth::FOREIGN);
                let is_empty_zstd = bytes.is_empty() && packing == Packing::Zstd;
                assert!(
                    is_empty_zstd || matches!(found, Err(Error::MalformedJson { .. })),
                    "{packing:?} {bytes:?} {found:?}"
                );
            }
        }
    }
}
