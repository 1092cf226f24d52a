//! Response compression: selection of the content coding, size threshold, and encoders.

use std::io::{self, Write};

use bytes::Bytes;
use flate2::write::GzEncoder;
use hyper::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue};

use crate::message::etag::suffix_etag;
use crate::message::negotiate::{preferred_coding, refuses_identity};

/// Supported codings, the preferred one first.
pub(crate) const CODINGS: [&str; 3] = ["zstd", "br", "gzip"];

/// Brotli quality, from 0 to 11. At 4, JSON is a sixth smaller than in gzip; 5 takes three times as long without a
/// gain in this window.
const BROTLI_QUALITY: u32 = 4;

/// Brotli window size, as a power of two: a stream takes about 1 MB of memory instead of 9 MB.
const BROTLI_WINDOW: u32 = 18;

/// Output buffer of Brotli.
const BROTLI_BUFFER_SIZE: usize = 16 << 10;

/// Minimum size to compress; smaller bodies fit in a packet anyway.
const MIN_COMPRESSED_SIZE: u64 = 1024;

/// Compressor of one response.
pub(crate) struct Encoder {
    coding: &'static str,
    /// Created with the first bytes: HEAD and 304 responses have none.
    kind: Option<EncoderKind>,
    /// True if each chunk must be decodable as soon as it arrives.
    flush: bool,
}

enum EncoderKind {
    Brotli(Box<brotli::CompressorWriter<Vec<u8>>>),
    Gzip(Box<GzEncoder<Vec<u8>>>),
    Zstd(Box<zstd::stream::write::Encoder<'static, Vec<u8>>>),
}

impl Encoder {
    fn new(coding: &'static str, flush: bool) -> Self {
        Encoder { coding, kind: None, flush }
    }

    pub fn write(&mut self, bytes: &[u8]) -> io::Result<Bytes> {
        let flush = self.flush;
        let kind = self.kind()?;
        let writer: &mut dyn Write = match kind {
            EncoderKind::Brotli(encoder) => &mut **encoder,
            EncoderKind::Gzip(encoder) => &mut **encoder,
            EncoderKind::Zstd(encoder) => &mut **encoder,
        };
        writer.write_all(bytes)?;
        if flush {
            writer.flush()?;
        }
        Ok(kind.take())
    }

    pub fn finish(&mut self) -> io::Result<Bytes> {
        let kind = self.kind.take().map_or_else(|| EncoderKind::new(self.coding), Ok)?;
        kind.finish()
    }

    fn kind(&mut self) -> io::Result<&mut EncoderKind> {
        Ok(match &mut self.kind {
            Some(kind) => kind,
            none => none.insert(EncoderKind::new(self.coding)?),
        })
    }
}

impl EncoderKind {
    fn new(coding: &str) -> io::Result<Self> {
        Ok(match coding {
            "br" => EncoderKind::Brotli(Box::new(brotli::CompressorWriter::new(
                Vec::new(),
                BROTLI_BUFFER_SIZE,
                BROTLI_QUALITY,
                BROTLI_WINDOW,
            ))),
            "gzip" => EncoderKind::Gzip(Box::new(GzEncoder::new(Vec::new(), flate2::Compression::fast()))),
            _ => EncoderKind::Zstd(Box::new(zstd::stream::write::Encoder::new(Vec::new(), 1)?)),
        })
    }

    fn take(&mut self) -> Bytes {
        let written = match self {
            EncoderKind::Brotli(encoder) => encoder.get_mut(),
            EncoderKind::Gzip(encoder) => encoder.get_mut(),
            EncoderKind::Zstd(encoder) => encoder.get_mut(),
        };
        std::mem::take(written).into()
    }

    fn finish(self) -> io::Result<Bytes> {
        let written = match self {
            EncoderKind::Brotli(encoder) => encoder.into_inner(),
            EncoderKind::Gzip(encoder) => encoder.finish()?,
            EncoderKind::Zstd(encoder) => encoder.finish()?,
        };
        Ok(written.into())
    }
}

/// Returns the encoder for a response body of this length if the client accepts a coding and the body is large enough,
/// or if the client refuses content without a coding. Sets the headers also for responses without a body: the tag is
/// that of the content that would be sent.
pub(crate) fn encoder(
    request_headers: &HeaderMap,
    headers: &mut HeaderMap,
    length: Option<u64>,
    flush: bool,
) -> Option<Encoder> {
    if let Some(coding) = headers.get(CONTENT_ENCODING).and_then(|c| c.to_str().ok()).map(str::to_owned) {
        suffix_etag(headers, &coding);
        return None;
    }
    let is_large_enough = length.is_none_or(|length| length >= MIN_COMPRESSED_SIZE);
    let is_worthwhile = is_large_enough && compressible(headers);
    if !is_worthwhile && (length == Some(0) || !refuses_identity(&request_headers.get_all(ACCEPT_ENCODING))) {
        return None;
    }
    let coding = preferred_coding(request_headers.get_all(ACCEPT_ENCODING), CODINGS)?;
    headers.insert(CONTENT_ENCODING, HeaderValue::from_static(coding));
    suffix_etag(headers, coding);
    Some(Encoder::new(coding, flush))
}

/// Returns whether a content type is compressible. Event streams are not: each event must leave at once.
fn compressible(headers: &HeaderMap) -> bool {
    let media = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media = media.split(';').next().unwrap_or_default().trim();
    let text = media.starts_with("text/") && media != "text/event-stream";
    let known = ["application/json", "application/x-ndjson", "application/xml", "application/openmetrics-text"];
    text || known.contains(&media) || media.ends_with("+json") || media.ends_with("+xml")
}

#[cfg(test)]
mod tests {
    use hyper::header::ETAG;

    use super::*;

    fn encoded(accept: &'static str, media: &'static str, length: u64) -> String {
        let mut request_headers = HeaderMap::new();
        request_headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(accept));
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(media));
        headers.insert(ETAG, HeaderValue::from_static("\"7\""));
        let encoder = encoder(&request_headers, &mut headers, Some(length), false);
        let coding = encoder.map_or("plain", |encoder| encoder.coding);
        format!("{coding} {}", headers[ETAG].to_str().unwrap_or("?"))
    }

    #[test]
    fn the_coding_follows_accept_encoding_and_the_size() {
        assert_eq!(encoded("gzip, zstd, br", "application/json", 2000), "zstd \"7-zstd\"");
        assert_eq!(encoded("gzip, deflate, br", "text/html", 2000), "br \"7-br\"");
        assert_eq!(encoded("br;q=0.5, gzip", "text/html", 2000), "gzip \"7-gzip\"");
        assert_eq!(encoded("zstd;q=0.1, gzip", "application/problem+json", 2000), "gzip \"7-gzip\"");
        assert_eq!(encoded("*", "text/plain", 2000), "zstd \"7-zstd\"");
        assert_eq!(encoded("zstd;q=0", "text/plain", 2000), "plain \"7\"");
        assert_eq!(encoded("gzip", "application/json", 1023), "plain \"7\"");
        assert_eq!(encoded("gzip", "text/event-stream", 2000), "plain \"7\"");
        assert_eq!(encoded("gzip", "application/pdf", 2000), "plain \"7\"");
        assert_eq!(encoded("gzip, identity;q=0", "application/pdf", 10), "gzip \"7-gzip\"");
        assert_eq!(encoded("gzip, identity;q=0", "application/json", 0), "plain \"7\"");
    }

    #[test]
    fn compressed_streams_round_trip() {
        for coding in CODINGS {
            let mut encoder = Encoder::new(coding, true);
            let mut output = encoder.write(b"a pump ").expect("memory does not fail").to_vec();
            assert!(!output.is_empty(), "{coding}: a piece of a stream leaves at once");
            output.extend(encoder.write(b"and a valve").expect("memory does not fail"));
            output.extend(encoder.finish().expect("memory does not fail"));
            let mut text = String::new();
            let read = match coding {
                "br" => io::Read::read_to_string(&mut brotli::Decompressor::new(&output[..], 4096), &mut text),
                "gzip" => io::Read::read_to_string(&mut flate2::read::GzDecoder::new(&output[..]), &mut text),
                _ => io::Read::read_to_string(&mut zstd::Decoder::new(&output[..]).expect("zstd"), &mut text),
            };
            assert_eq!((read.is_ok(), text.as_str()), (true, "a pump and a valve"), "{coding}");
        }
    }
}
