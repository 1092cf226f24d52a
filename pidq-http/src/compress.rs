//! Compressed answers: which coding, whether it pays, and the bytes of it.

use std::io::{self, Write};

use bytes::Bytes;
use flate2::write::GzEncoder;
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, ETAG, HeaderMap, HeaderValue};

use crate::negotiate::quality;
use crate::response::{Content, Response};

/// The codings that we write, the one we like best first.
const CODINGS: [&str; 3] = ["zstd", "br", "gzip"];

/// How hard Brotli works, from 0 to 11. At 4 JSON is a sixth smaller than in gzip; 5 takes three times as long, and in this
/// window for nothing.
const BROTLI_QUALITY: u32 = 4;

/// How far Brotli looks back, as a power of two: a stream takes about a megabyte then, and not nine.
const BROTLI_WINDOW: u32 = 18;

/// What Brotli hands on at once.
const BROTLI_BUFFER: usize = 16 << 10;

/// Less than this fits a packet anyway.
const WORTH_IT: u64 = 1024;

/// A compressor of one answer.
pub(crate) struct Encoder {
    coding: &'static str,
    /// Made for the first bytes: an answer to HEAD, or one that the client has, sends none.
    kind: Option<Kind>,
    /// Whether each piece has to be readable as soon as it is there.
    flush: bool,
}

enum Kind {
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
            Kind::Brotli(encoder) => &mut **encoder,
            Kind::Gzip(encoder) => &mut **encoder,
            Kind::Zstd(encoder) => &mut **encoder,
        };
        writer.write_all(bytes)?;
        if flush {
            writer.flush()?;
        }
        Ok(kind.take())
    }

    pub fn finish(&mut self) -> io::Result<Bytes> {
        let kind = self.kind.take().map_or_else(|| Kind::new(self.coding), Ok)?;
        kind.finish()
    }

    fn kind(&mut self) -> io::Result<&mut Kind> {
        Ok(match &mut self.kind {
            Some(kind) => kind,
            none => none.insert(Kind::new(self.coding)?),
        })
    }
}

impl Kind {
    fn new(coding: &str) -> io::Result<Self> {
        Ok(match coding {
            "br" => Kind::Brotli(Box::new(brotli::CompressorWriter::new(
                Vec::new(),
                BROTLI_BUFFER,
                BROTLI_QUALITY,
                BROTLI_WINDOW,
            ))),
            "gzip" => Kind::Gzip(Box::new(GzEncoder::new(Vec::new(), flate2::Compression::fast()))),
            _ => Kind::Zstd(Box::new(zstd::stream::write::Encoder::new(Vec::new(), 1)?)),
        })
    }

    fn take(&mut self) -> Bytes {
        let written = match self {
            Kind::Brotli(encoder) => encoder.get_mut(),
            Kind::Gzip(encoder) => encoder.get_mut(),
            Kind::Zstd(encoder) => encoder.get_mut(),
        };
        std::mem::take(written).into()
    }

    fn finish(self) -> io::Result<Bytes> {
        let written = match self {
            Kind::Brotli(encoder) => encoder.into_inner(),
            Kind::Gzip(encoder) => encoder.finish()?,
            Kind::Zstd(encoder) => encoder.finish()?,
        };
        Ok(written.into())
    }
}

/// The compressor for an answer, if the client wants one and it pays. Sets the headers that belong to it, also for those
/// who get no body: the tag is that of the bytes that would be sent.
pub(crate) fn encoder(wanted: &HeaderMap, response: &mut Response) -> Option<Encoder> {
    if let Some(coding) = response.headers.get(CONTENT_ENCODING).and_then(|c| c.to_str().ok()).map(str::to_owned) {
        mark_etag(&mut response.headers, &coding);
        return None;
    }
    let pays = response.body.length().is_none_or(|length| length >= WORTH_IT);
    if !pays || !compressible(&response.headers) {
        return None;
    }
    let coding = preferred(wanted)?;
    let encoder = Encoder::new(coding, matches!(response.body, Content::Stream(_)));
    response.headers.insert(CONTENT_ENCODING, HeaderValue::from_static(coding));
    mark_etag(&mut response.headers, coding);
    Some(encoder)
}

/// The coding that the client likes best; ours among equals. None when it likes the plain bytes better.
fn preferred(wanted: &HeaderMap) -> Option<&'static str> {
    let quality = |coding| quality(wanted.get_all(hyper::header::ACCEPT_ENCODING), coding);
    let best = CODINGS.into_iter().rev().max_by_key(|&coding| quality(coding))?;
    (quality(best) > 0).then_some(best)
}

/// Text pays. Events do not: each has to leave at once.
fn compressible(headers: &HeaderMap) -> bool {
    let media = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media = media.split(';').next().unwrap_or_default().trim();
    let text = media.starts_with("text/") && media != "text/event-stream";
    let known = ["application/json", "application/x-ndjson", "application/xml", "application/openmetrics-text"];
    text || known.contains(&media) || media.ends_with("+json") || media.ends_with("+xml")
}

/// Strong validators name bytes (RFC 9110 8.8.3.3): other bytes, another tag.
fn mark_etag(headers: &mut HeaderMap, coding: &str) {
    let marked = headers.get(ETAG).and_then(|tag| tag.to_str().ok()?.strip_suffix('"').map(str::to_owned));
    if let Some(value) = marked.and_then(|tag| HeaderValue::from_str(&format!("{tag}-{coding}\"")).ok()) {
        headers.insert(ETAG, value);
    }
}

/// Whether one of the tags of `If-None-Match` is this one, whatever coding it was sent with.
pub(crate) fn matches_etag(condition: &str, tag: &str) -> bool {
    let plain = |tag: &str| {
        let tag = tag.trim().trim_start_matches("W/").trim_matches('"').to_owned();
        let suffix = ["-zstd", "-gzip", "-br"].into_iter().find_map(|suffix| tag.strip_suffix(suffix));
        suffix.map(str::to_owned).unwrap_or(tag)
    };
    condition.trim() == "*" || condition.split(',').any(|one| plain(one) == plain(tag))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(accept: &'static str, media: &'static str, length: usize) -> String {
        let mut wanted = HeaderMap::new();
        wanted.insert(hyper::header::ACCEPT_ENCODING, HeaderValue::from_static(accept));
        let mut response = Response::ok(media, vec![b'x'; length]).etag("7");
        let coding = encoder(&wanted, &mut response).map_or("plain", |encoder| encoder.coding);
        format!("{coding} {}", response.headers[ETAG].to_str().unwrap_or("?"))
    }

    #[test]
    fn a_coding_is_used_when_it_is_wanted_and_pays() {
        assert_eq!(encoded("gzip, zstd, br", "application/json", 2000), "zstd \"7-zstd\"");
        assert_eq!(encoded("gzip, deflate, br", "text/html", 2000), "br \"7-br\"");
        assert_eq!(encoded("br;q=0.5, gzip", "text/html", 2000), "gzip \"7-gzip\"");
        assert_eq!(encoded("zstd;q=0.1, gzip", "application/problem+json", 2000), "gzip \"7-gzip\"");
        assert_eq!(encoded("*", "text/plain", 2000), "zstd \"7-zstd\"");
        assert_eq!(encoded("zstd;q=0", "text/plain", 2000), "plain \"7\"");
        assert_eq!(encoded("gzip", "application/json", 1023), "plain \"7\"");
        assert_eq!(encoded("gzip", "text/event-stream", 2000), "plain \"7\"");
        assert_eq!(encoded("gzip", "application/pdf", 2000), "plain \"7\"");
    }

    #[test]
    fn tags_are_compared_without_their_coding() {
        assert!(matches_etag("\"7-zstd\"", "\"7\""));
        assert!(matches_etag("\"6\", W/\"7\"", "\"7-gzip\""));
        assert!(matches_etag("*", "\"7\""));
        assert!(!matches_etag("\"7-a\"", "\"7\""));
    }

    #[test]
    fn what_was_compressed_can_be_read_again() {
        for coding in CODINGS {
            let mut encoder = Encoder::new(coding, true);
            let mut whole = encoder.write(b"a pump ").expect("memory does not fail").to_vec();
            assert!(!whole.is_empty(), "{coding}: a piece of a stream leaves at once");
            whole.extend(encoder.write(b"and a valve").expect("memory does not fail"));
            whole.extend(encoder.finish().expect("memory does not fail"));
            let mut text = String::new();
            let read = match coding {
                "br" => io::Read::read_to_string(&mut brotli::Decompressor::new(&whole[..], 4096), &mut text),
                "gzip" => io::Read::read_to_string(&mut flate2::read::GzDecoder::new(&whole[..]), &mut text),
                _ => io::Read::read_to_string(&mut zstd::Decoder::new(&whole[..]).expect("zstd"), &mut text),
            };
            assert_eq!((read.is_ok(), text.as_str()), (true, "a pump and a valve"), "{coding}");
        }
    }
}
