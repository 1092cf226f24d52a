//! Compression and bounded decompression of graphs, safe against decompression bombs.

use std::io::{self, BufRead, Read, Write};

use bytes::Bytes;

use super::Coding;
use super::error::{Error, Result};

/// Default zstd level: most of the gain at low cost.
const LEVEL: i32 = 3;

/// Compression format.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Compression {
    /// Uncompressed.
    None,
    /// gzip (RFC 1952).
    Gzip,
    /// zstd (RFC 8878).
    Zstd,
}

/// Extensions of graph files, in order of preference.
pub const EXTENSIONS: [(&str, Compression); 3] =
    [(".json", Compression::None), (".json.zst", Compression::Zstd), (".json.gz", Compression::Gzip)];

impl From<Coding> for Compression {
    fn from(coding: Coding) -> Compression {
        match coding {
            Coding::Identity => Compression::None,
            Coding::Zstd => Compression::Zstd,
        }
    }
}

/// Limits of decompression.
#[derive(Clone, Copy, Debug)]
pub struct DecompressionLimits {
    /// Maximum decompressed size in bytes.
    pub bytes: usize,
    /// Maximum compression ratio.
    pub ratio: usize,
}

impl DecompressionLimits {
    /// Limits for untrusted input.
    pub const UNTRUSTED: DecompressionLimits = DecompressionLimits { bytes: 64 << 20, ratio: 200 };

    /// Limits for local files: any ratio, but bounded memory.
    pub const TRUSTED: DecompressionLimits =
        DecompressionLimits { ratio: usize::MAX, ..DecompressionLimits::UNTRUSTED };

    fn limit(self, compressed: usize) -> usize {
        self.bytes.min(compressed.saturating_mul(self.ratio))
    }
}

/// Compresses to one zstd frame with content size and checksum.
///
/// # Errors
/// `storage-failure` if memory is exhausted.
pub fn compress_zstd(bytes: &[u8]) -> Result<Vec<u8>> {
    let failure = |error: io::Error| Error::StorageFailure(format!("compression failed: {error}"));
    let mut compressor = zstd::bulk::Compressor::new(LEVEL).map_err(failure)?;
    compressor.include_checksum(true).map_err(failure)?;
    compressor.compress(bytes).map(shrink).map_err(failure)
}

/// Compresses to one gzip member.
///
/// # Errors
/// `storage-failure` if memory is exhausted.
pub fn compress_gzip(bytes: &[u8]) -> Result<Vec<u8>> {
    let failure = |error: io::Error| Error::StorageFailure(format!("compression failed: {error}"));
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).map_err(failure)?;
    encoder.finish().map(shrink).map_err(failure)
}

/// Decompresses input within limits.
///
/// # Errors
/// `graph-too-large` beyond the limits, `malformed-json` if the input is not in this format.
pub fn decompress(compressed: &Bytes, compression: Compression, limits: DecompressionLimits) -> Result<Bytes> {
    match compression {
        Compression::None if compressed.len() > limits.bytes => Err(too_large("bytes", limits.bytes)),
        Compression::None => Ok(compressed.clone()),
        Compression::Gzip => read(flate2::read::MultiGzDecoder::new(&compressed[..]), compressed.len(), limits),
        Compression::Zstd => {
            let zstd_decoder = zstd_decoder(&compressed[..], UNTRUSTED_WINDOW).map_err(malformed)?;
            read(zstd_decoder, compressed.len(), limits)
        }
    }
}

/// Streaming zstd decoder.
pub(crate) type ZstdDecoder<R> = zstd::stream::read::Decoder<'static, R>;

/// Window size in bytes of frames compressed with [`LEVEL`].
pub(crate) const WINDOW: usize = 2 << 20;
/// Window size in bytes that every decoder must support; larger windows let a client allocate memory.
const UNTRUSTED_WINDOW: usize = 8 << 20;

/// Creates a streaming decoder with a maximum window size in bytes.
pub(crate) fn zstd_decoder<R: BufRead>(compressed: R, window: usize) -> io::Result<ZstdDecoder<R>> {
    let mut zstd_decoder = ZstdDecoder::with_buffer(compressed)?;
    zstd_decoder.window_log_max(window.ilog2())?;
    Ok(zstd_decoder)
}

/// Decompresses output of [`compress_zstd`] with a known size. Returns `None` if the input differs.
pub(crate) fn decompress_exact(compressed: &[u8], size: usize) -> Option<Bytes> {
    let bytes = zstd::bulk::decompress(compressed, size).ok()?;
    (bytes.len() == size).then(|| bytes.into())
}

fn read(reader: impl Read, compressed: usize, limits: DecompressionLimits) -> Result<Bytes> {
    let limit = limits.limit(compressed);
    let mut bytes = Vec::new();
    reader.take(limit as u64 + 1).read_to_end(&mut bytes).map_err(malformed)?;
    match bytes.len() <= limit {
        true => Ok(shrink(bytes).into()),
        false if limit == limits.bytes => Err(too_large("bytes", limit)),
        false => Err(too_large("times the compressed size", limits.ratio)),
    }
}

/// Releases the spare capacity of bytes that are kept.
fn shrink(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.shrink_to_fit();
    bytes
}

fn too_large(what: &'static str, limit: usize) -> Error {
    Error::GraphTooLarge { what, limit: limit as u64 }
}

fn malformed(error: io::Error) -> Error {
    Error::MalformedJson { detail: format!("Invalid compressed data: {error}"), offset: 0 }
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
    fn compression_round_trips() {
        let text = Bytes::from_static(b"{\"nodes\":[]}");
        let compressed = compress_zstd(&text).expect("memory");
        assert_eq!(decompress_exact(&compressed, text.len()), Some(text.clone()));
        assert_eq!(decompress_exact(&compressed, text.len() - 1), None);
        assert_eq!(decompress_exact(&compressed, text.len() + 1), None);
        assert_eq!(decompress_exact(&compressed[..compressed.len() - 1], text.len()), None);
        assert_eq!(decompress(&compressed.into(), Compression::Zstd, DecompressionLimits::UNTRUSTED), Ok(text.clone()));
        assert_eq!(decompress(&gzip(&text), Compression::Gzip, DecompressionLimits::UNTRUSTED), Ok(text.clone()));
        let gzipped = compress_gzip(&text).expect("memory").into();
        assert_eq!(decompress(&gzipped, Compression::Gzip, DecompressionLimits::UNTRUSTED), Ok(text.clone()));
        assert_eq!(decompress(&text, Compression::None, DecompressionLimits::UNTRUSTED), Ok(text));
    }

    #[test]
    fn compressed_bytes_have_no_excess_capacity() {
        let text = "a valve ".repeat(10_000).into_bytes();
        for compressed in [compress_zstd(&text).expect("memory"), compress_gzip(&text).expect("memory")] {
            assert_eq!(compressed.capacity(), compressed.len());
        }
    }

    #[test]
    fn decompression_bombs_are_rejected() {
        let zeros = vec![0; 4 << 20];
        let bounds = DecompressionLimits { bytes: 1 << 20, ratio: 1 << 20 };
        for (bomb, compression) in
            [(gzip(&zeros), Compression::Gzip), (compress_zstd(&zeros).expect("memory").into(), Compression::Zstd)]
        {
            let size = |bounds| decompress(&bomb, compression, bounds).map(|bytes| bytes.len());
            assert_eq!(size(bounds), Err(too_large("bytes", 1 << 20)));
            assert_eq!(size(DecompressionLimits::UNTRUSTED), Err(too_large("times the compressed size", 200)));
        }
    }

    #[test]
    fn invalid_compressed_data_is_an_error() {
        for compression in [Compression::Gzip, Compression::Zstd] {
            for bytes in ["{}", "", "\x1f\u{8b}"] {
                let found = decompress(&Bytes::from(bytes), compression, DecompressionLimits::UNTRUSTED);
                let is_empty_zstd = bytes.is_empty() && compression == Compression::Zstd;
                assert!(
                    is_empty_zstd || matches!(found, Err(Error::MalformedJson { .. })),
                    "{compression:?} {bytes:?} {found:?}"
                );
            }
        }
    }
}
