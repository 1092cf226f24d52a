//! Compressed request bodies: what comes out is bounded while it comes out, by size and by ratio.

use std::io::{self, Write};

use flate2::write::GzDecoder;

use crate::problem::Problem;

/// What a compressed body may at most grow by. Real graphs stay below 40.
const RATIO: u64 = 200;

/// The first bytes may be any ratio: a small body of zeros is no attack.
const FREE: u64 = 1 << 20;

/// The largest window of zstd that we make room for, as RFC 9659 has it: 8 MiB.
const WINDOW_LOG: u32 = 23;

/// Takes compressed bytes and holds what they were before.
pub(crate) struct Inflater {
    decoder: Decoder,
    taken: u64,
}

enum Decoder {
    Gzip(Box<GzDecoder<Bounded>>),
    Zstd(Box<zstd::stream::write::Decoder<'static, Bounded>>),
}

/// A buffer that refuses to grow further than it may.
struct Bounded {
    bytes: Vec<u8>,
    /// How many were there before, and were taken.
    drained: u64,
    limit: u64,
    allowed: u64,
    full: Option<Full>,
}

#[derive(Clone, Copy)]
enum Full {
    Size,
    Ratio,
}

impl Inflater {
    /// For a `Content-Encoding`. None means that nothing needs to be done.
    pub fn new(coding: &str, limit: u64) -> Result<Option<Self>, Problem> {
        let target = Bounded { bytes: Vec::new(), drained: 0, limit, allowed: FREE, full: None };
        let decoder = match coding.trim().to_ascii_lowercase().as_str() {
            "" | "identity" => return Ok(None),
            "gzip" | "x-gzip" => Decoder::Gzip(Box::new(GzDecoder::new(target))),
            "zstd" => Decoder::Zstd(Box::new(zstd_decoder(target).map_err(|_| Problem::internal())?)),
            _ => return Err(unsupported()),
        };
        Ok(Some(Inflater { decoder, taken: 0 }))
    }

    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Problem> {
        self.taken += bytes.len() as u64;
        let allowed = FREE.max(self.taken.saturating_mul(RATIO));
        self.target().allowed = allowed;
        let written = match &mut self.decoder {
            Decoder::Gzip(decoder) => decoder.write_all(bytes),
            Decoder::Zstd(decoder) => decoder.write_all(bytes),
        };
        written.map_err(|_| self.problem())
    }

    /// What came out by now, and is held no more.
    pub fn drain(&mut self) -> Vec<u8> {
        let target = self.target();
        target.drained += target.bytes.len() as u64;
        std::mem::take(&mut target.bytes)
    }

    /// What the body was before, or the rest of it. A stream that ends early is malformed.
    pub fn finish(mut self) -> Result<Vec<u8>, Problem> {
        let finished = match &mut self.decoder {
            Decoder::Gzip(decoder) => decoder.try_finish(),
            Decoder::Zstd(decoder) => decoder.flush(),
        };
        finished.map_err(|_| self.problem())?;
        Ok(std::mem::take(&mut self.target().bytes))
    }

    fn target(&mut self) -> &mut Bounded {
        match &mut self.decoder {
            Decoder::Gzip(decoder) => decoder.get_mut(),
            Decoder::Zstd(decoder) => decoder.get_mut(),
        }
    }

    fn problem(&mut self) -> Problem {
        let limit = self.target().limit;
        match self.target().full {
            Some(Full::Size) => Problem::too_large("payload-too-large", limit),
            Some(Full::Ratio) => Problem::new(hyper::StatusCode::PAYLOAD_TOO_LARGE, "compression-ratio")
                .detail(format!("The body grows by more than {RATIO} times when it is decompressed.")),
            None => Problem::bad_request("malformed-compression", "The body cannot be decompressed."),
        }
    }
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let size = self.drained + (self.bytes.len() + bytes.len()) as u64;
        self.full = match size {
            _ if size > self.limit => Some(Full::Size),
            _ if size > self.allowed => Some(Full::Ratio),
            _ => None,
        };
        if self.full.is_some() {
            return Err(io::Error::from(io::ErrorKind::FileTooLarge));
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn zstd_decoder(target: Bounded) -> io::Result<zstd::stream::write::Decoder<'static, Bounded>> {
    let mut decoder = zstd::stream::write::Decoder::new(target)?;
    decoder.window_log_max(WINDOW_LOG)?;
    Ok(decoder)
}

fn unsupported() -> Problem {
    Problem::new(hyper::StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported-content-encoding")
        .detail("The content encoding is not one that this takes.")
        .with("allowed", vec!["gzip", "zstd"])
        .header(hyper::header::ACCEPT_ENCODING, "gzip, zstd")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("memory does not fail")
    }

    fn zstd(bytes: &[u8]) -> Vec<u8> {
        zstd::encode_all(bytes, 19).expect("memory does not fail")
    }

    fn inflate(coding: &str, bytes: &[u8], limit: u64) -> Result<Vec<u8>, String> {
        let code = |p: Problem| p.code().to_owned();
        let mut inflater = Inflater::new(coding, limit).map_err(code)?.ok_or("nothing to do")?;
        for chunk in bytes.chunks(7000) {
            inflater.write(chunk).map_err(code)?;
        }
        inflater.finish().map_err(code)
    }

    #[test]
    fn both_codings_give_back_what_went_in() {
        let text = "a pump and a valve ".repeat(5000).into_bytes();
        assert_eq!(inflate("gzip", &gzip(&text), 1 << 20), Ok(text.clone()));
        assert_eq!(inflate("ZSTD", &zstd(&text), 1 << 20), Ok(text.clone()));
        assert_eq!(inflate("br", &text, 1 << 20), Err("unsupported-content-encoding".into()));
        assert_eq!(inflate("gzip, gzip", &text, 1 << 20), Err("unsupported-content-encoding".into()));
    }

    #[test]
    fn bombs_end_at_the_size_or_at_the_ratio() {
        let zeros = vec![0; 64 << 20];
        for (coding, bomb) in [("gzip", gzip(&zeros)), ("zstd", zstd(&zeros))] {
            assert_eq!(inflate(coding, &bomb, 1 << 19), Err("payload-too-large".into()), "{coding}");
            assert_eq!(inflate(coding, &bomb, 1 << 30), Err("compression-ratio".into()), "{coding}");
        }
    }

    #[test]
    fn what_is_not_compressed_or_cut_is_malformed() {
        assert_eq!(inflate("gzip", b"no gzip at all", 99), Err("malformed-compression".into()));
        assert_eq!(inflate("zstd", b"no zstd at all", 99), Err("malformed-compression".into()));
        let cut = gzip(b"a pump");
        assert_eq!(inflate("gzip", &cut[..cut.len() - 4], 99), Err("malformed-compression".into()));
    }
}
