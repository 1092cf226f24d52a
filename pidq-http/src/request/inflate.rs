//! Compressed request bodies: what comes out is bounded while it comes out, by size and by ratio.

use std::io::{self, Write};

use flate2::write::GzDecoder;

use crate::problem::Problem;

/// What a compressed body may at most grow by. Real graphs stay below 40.
const RATIO: u64 = 200;

/// The first bytes may be any ratio: a small body of zeros is no attack.
const FREE: u64 = 1 << 20;

/// A body of gzip may have so many members, and one more for so many bytes: each costs its decoder, however short it is.
const MEMBERS: u64 = 1000;
const MEMBER: u64 = 512;

/// The largest window of zstd that we make room for, as RFC 9659 has it: 8 MiB.
const WINDOW_LOG: u32 = 23;

/// Takes compressed bytes and holds what they were before.
pub(crate) struct Inflater {
    decoder: Decoder,
    taken: u64,
    /// Members of gzip that have ended.
    members: u64,
}

enum Decoder {
    Gzip(Box<GzDecoder<Bounded>>),
    Zstd(Box<zstd::stream::write::Decoder<'static, Bounded>>),
}

/// A buffer that refuses to grow further than it may.
#[derive(Default)]
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
        Ok(Some(Inflater { decoder, taken: 0, members: 0 }))
    }

    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Problem> {
        self.taken += bytes.len() as u64;
        let allowed = FREE.max(self.taken.saturating_mul(RATIO));
        self.target().allowed = allowed;
        let written = match &mut self.decoder {
            Decoder::Gzip(decoder) => members(decoder, bytes, &mut self.members, MEMBERS + self.taken / MEMBER),
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

/// A body of gzip is a series of members (RFC 1952 2.2), each with its own header and checksum. What follows one is another.
fn members(decoder: &mut GzDecoder<Bounded>, mut bytes: &[u8], ended: &mut u64, most: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let taken = decoder.write(bytes)?;
        bytes = &bytes[taken..];
        if taken == 0 {
            *ended += 1;
            if *ended > most {
                return Err(io::ErrorKind::InvalidData.into());
            }
            decoder.try_finish()?;
            *decoder = GzDecoder::new(std::mem::take(decoder.get_mut()));
        }
    }
    Ok(())
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
    fn gzip_may_come_in_members_and_the_bounds_are_for_all_of_them() {
        let series = [gzip(b"a pump"), gzip(b""), gzip(b" and a valve")].concat();
        assert_eq!(inflate("gzip", &series, 18), Ok(b"a pump and a valve".to_vec()));
        assert_eq!(inflate("gzip", &series, 17), Err("payload-too-large".into()));
        for cut in 1..series.len() {
            let mut inflater = Inflater::new("gzip", 18).ok().flatten().expect("gzip is known");
            let written = inflater.write(&series[..cut]).and_then(|()| inflater.write(&series[cut..]));
            let whole = written.and_then(|()| inflater.finish()).map_err(|p| p.code().to_owned());
            assert_eq!(whole, Ok(b"a pump and a valve".to_vec()), "cut at {cut}");
        }
        let zeros = gzip(&vec![0; 1 << 20]).repeat(8);
        assert_eq!(inflate("gzip", &zeros, 1 << 30), Err("compression-ratio".into()));
    }

    #[test]
    fn what_follows_a_member_is_a_member() {
        let one = gzip(b"a pump");
        for rest in [&b"x"[..], b"\x1f", b"garbage after the end", &[0; 512], &one[..9], &one[..one.len() - 1]] {
            let body = [&one[..], rest].concat();
            assert_eq!(inflate("gzip", &body, 99), Err("malformed-compression".into()), "{rest:?}");
        }
    }

    #[test]
    fn members_without_an_end_are_refused() {
        assert_eq!(inflate("gzip", &gzip(b"").repeat(900), 99), Ok(Vec::new()));
        assert_eq!(inflate("gzip", &gzip(b"").repeat(100_000), 99), Err("malformed-compression".into()));
    }

    #[test]
    fn what_is_not_compressed_or_cut_is_malformed() {
        assert_eq!(inflate("gzip", b"no gzip at all", 99), Err("malformed-compression".into()));
        assert_eq!(inflate("zstd", b"no zstd at all", 99), Err("malformed-compression".into()));
        let cut = gzip(b"a pump");
        assert_eq!(inflate("gzip", &cut[..cut.len() - 4], 99), Err("malformed-compression".into()));
    }
}
