//! Decompression of request bodies, with limits on size and ratio.

use std::io::{self, Write};

use flate2::write::GzDecoder;

use crate::problem::{Problem, codes};

/// Maximum compression ratio. Real graphs stay below 40.
const MAX_RATIO: u64 = 200;

/// Output size to which any ratio is allowed, so that a small body of zeros is accepted.
const RATIO_FREE_SIZE: u64 = 1 << 20;

/// Maximum number of gzip members, and one more per this many bytes: each member costs a decoder, however short it
/// is.
const MEMBER_LIMIT: u64 = 1000;
const BYTES_PER_MEMBER: u64 = 512;

/// Largest zstd window, as RFC 9659 requires: 8 MiB.
const WINDOW_LOG: u32 = 23;

/// Maximum number of compressed bytes in a step of [`Inflater::write`]: up to 66 KB of output in gzip and 2 MB
/// in zstd, which are repeated bytes.
const STEP_SIZE: usize = 64;

/// Output size after which other tasks of the thread run.
const OUTPUT_BEFORE_YIELD: u64 = 64 << 10;

/// Decompressor with limits.
pub(crate) struct Inflater {
    decoder: Decoder,
    received: u64,
    /// Size of the output when other tasks last ran.
    yielded_at: u64,
    /// Number of gzip members that have ended.
    member_count: u64,
}

enum Decoder {
    Gzip(Box<GzDecoder<BoundedBuf>>),
    Zstd(Box<zstd::stream::write::Decoder<'static, BoundedBuf>>),
}

/// Buffer with a size limit.
#[derive(Default)]
struct BoundedBuf {
    bytes: Vec<u8>,
    /// Number of bytes already taken out.
    drained: u64,
    limit: u64,
    allowed: u64,
    exceeded: Option<LimitExceeded>,
}

#[derive(Clone, Copy)]
enum LimitExceeded {
    Size,
    Ratio,
}

impl Inflater {
    /// Creates an inflater for a `Content-Encoding`. `None` means that the body is not compressed.
    pub fn new(coding: &str, limit: u64) -> Result<Option<Self>, Problem> {
        let target = BoundedBuf { bytes: Vec::new(), drained: 0, limit, allowed: RATIO_FREE_SIZE, exceeded: None };
        let decoder = match coding.trim().to_ascii_lowercase().as_str() {
            "" | "identity" => return Ok(None),
            "gzip" | "x-gzip" => Decoder::Gzip(Box::new(GzDecoder::new(target))),
            "zstd" => Decoder::Zstd(Box::new(zstd_decoder(target).map_err(|_| Problem::internal())?)),
            _ => return Err(unsupported()),
        };
        Ok(Some(Inflater { decoder, received: 0, yielded_at: 0, member_count: 0 }))
    }

    /// Decompresses bytes, and lets other tasks of the thread run in between: a few compressed bytes may stand for many.
    pub async fn write(&mut self, bytes: &[u8]) -> Result<(), Problem> {
        self.received += bytes.len() as u64;
        self.target().allowed = RATIO_FREE_SIZE.max(self.received.saturating_mul(MAX_RATIO));
        for step in bytes.chunks(STEP_SIZE) {
            self.write_step(step).map_err(|_| self.problem())?;
            let produced = self.target().size();
            if produced - self.yielded_at >= OUTPUT_BEFORE_YIELD {
                self.yielded_at = produced;
                tokio::task::yield_now().await;
            }
        }
        Ok(())
    }

    fn write_step(&mut self, bytes: &[u8]) -> io::Result<()> {
        let member_limit = MEMBER_LIMIT + self.received / BYTES_PER_MEMBER;
        match &mut self.decoder {
            Decoder::Gzip(decoder) => write_members(decoder, bytes, &mut self.member_count, member_limit),
            Decoder::Zstd(decoder) => decoder.write_all(bytes),
        }
    }

    /// Takes out the bytes decompressed so far.
    pub fn drain(&mut self) -> Vec<u8> {
        let target = self.target();
        target.drained += target.bytes.len() as u64;
        std::mem::take(&mut target.bytes)
    }

    /// Returns the remaining bytes. A stream that ends early is malformed.
    pub fn finish(mut self) -> Result<Vec<u8>, Problem> {
        let finished = match &mut self.decoder {
            Decoder::Gzip(decoder) => decoder.try_finish(),
            Decoder::Zstd(decoder) => decoder.flush(),
        };
        finished.map_err(|_| self.problem())?;
        Ok(std::mem::take(&mut self.target().bytes))
    }

    fn target(&mut self) -> &mut BoundedBuf {
        match &mut self.decoder {
            Decoder::Gzip(decoder) => decoder.get_mut(),
            Decoder::Zstd(decoder) => decoder.get_mut(),
        }
    }

    fn problem(&mut self) -> Problem {
        let limit = self.target().limit;
        match self.target().exceeded {
            Some(LimitExceeded::Size) => Problem::payload_too_large(limit),
            Some(LimitExceeded::Ratio) => Problem::new(codes::COMPRESSION_RATIO)
                .detail(format!("The body exceeds the maximum compression ratio of {MAX_RATIO}.")),
            None => Problem::new(codes::MALFORMED_COMPRESSION).detail("The body cannot be decompressed."),
        }
    }
}

/// Writes a series of gzip members (RFC 1952 2.2), each with its own header and checksum.
fn write_members(
    decoder: &mut GzDecoder<BoundedBuf>,
    mut bytes: &[u8],
    member_count: &mut u64,
    limit: u64,
) -> io::Result<()> {
    while !bytes.is_empty() {
        let taken = decoder.write(bytes)?;
        bytes = &bytes[taken..];
        if taken == 0 {
            *member_count += 1;
            if *member_count > limit {
                return Err(io::ErrorKind::InvalidData.into());
            }
            decoder.try_finish()?;
            *decoder = GzDecoder::new(std::mem::take(decoder.get_mut()));
        }
    }
    Ok(())
}

impl BoundedBuf {
    /// Returns the number of bytes written so far.
    fn size(&self) -> u64 {
        self.drained + self.bytes.len() as u64
    }
}

impl Write for BoundedBuf {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let size = self.size() + bytes.len() as u64;
        self.exceeded = match size {
            _ if size > self.limit => Some(LimitExceeded::Size),
            _ if size > self.allowed => Some(LimitExceeded::Ratio),
            _ => None,
        };
        if self.exceeded.is_some() {
            return Err(io::Error::from(io::ErrorKind::FileTooLarge));
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn zstd_decoder(target: BoundedBuf) -> io::Result<zstd::stream::write::Decoder<'static, BoundedBuf>> {
    let mut decoder = zstd::stream::write::Decoder::new(target)?;
    decoder.window_log_max(WINDOW_LOG)?;
    Ok(decoder)
}

fn unsupported() -> Problem {
    Problem::new(codes::UNSUPPORTED_CONTENT_ENCODING)
        .detail("Unsupported content encoding; see `allowed`.")
        .with("allowed", vec!["gzip", "zstd"])
        .header(hyper::header::ACCEPT_ENCODING, "gzip, zstd")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize;
    use std::sync::atomic::Ordering::Relaxed;

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("memory does not fail")
    }

    fn zstd(bytes: &[u8]) -> Vec<u8> {
        zstd::encode_all(bytes, 19).expect("memory does not fail")
    }

    fn inflate(coding: &str, bytes: &[u8], limit: u64) -> Result<Vec<u8>, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(inflate_chunks(coding, bytes, limit))
    }

    async fn inflate_chunks(coding: &str, bytes: &[u8], limit: u64) -> Result<Vec<u8>, String> {
        let code = |p: Problem| p.code().to_owned();
        let mut inflater = Inflater::new(coding, limit).map_err(code)?.ok_or("nothing to do")?;
        for chunk in bytes.chunks(7000) {
            inflater.write(chunk).await.map_err(code)?;
        }
        inflater.finish().map_err(code)
    }

    #[tokio::test]
    async fn other_tasks_run_while_a_bomb_is_decompressed() {
        let runs = Arc::new(AtomicUsize::new(0));
        let counter = runs.clone();
        tokio::spawn(async move {
            loop {
                counter.fetch_add(1, Relaxed);
                tokio::task::yield_now().await;
            }
        });
        let bomb = gzip(&vec![0; 64 << 20]);
        let mut inflater = Inflater::new("gzip", 1 << 30).ok().flatten().expect("gzip is known");
        assert!(inflater.write(&bomb).await.is_err(), "the ratio is limited");
        // A step of 64 bytes is up to 66 KB of output, of which the other task waits for two at most.
        let least = bomb.len() * MAX_RATIO as usize / (132 << 10);
        assert!(runs.load(Relaxed) >= least && least > 50, "{runs:?} of at least {least}");
    }

    #[test]
    fn both_codings_round_trip() {
        let text = "a pump and a valve ".repeat(5000).into_bytes();
        assert_eq!(inflate("gzip", &gzip(&text), 1 << 20), Ok(text.clone()));
        assert_eq!(inflate("ZSTD", &zstd(&text), 1 << 20), Ok(text.clone()));
        assert_eq!(inflate("br", &text, 1 << 20), Err("unsupported-content-encoding".into()));
        assert_eq!(inflate("gzip, gzip", &text, 1 << 20), Err("unsupported-content-encoding".into()));
    }

    #[test]
    fn decompression_is_limited_by_size_and_by_ratio() {
        let zeros = vec![0; 64 << 20];
        for (coding, bomb) in [("gzip", gzip(&zeros)), ("zstd", zstd(&zeros))] {
            assert_eq!(inflate(coding, &bomb, 1 << 19), Err("payload-too-large".into()), "{coding}");
            assert_eq!(inflate(coding, &bomb, 1 << 30), Err("compression-ratio".into()), "{coding}");
        }
    }

    #[tokio::test]
    async fn gzip_members_share_the_limits() {
        let series = [gzip(b"a pump"), gzip(b""), gzip(b" and a valve")].concat();
        assert_eq!(inflate_chunks("gzip", &series, 18).await, Ok(b"a pump and a valve".to_vec()));
        assert_eq!(inflate_chunks("gzip", &series, 17).await, Err("payload-too-large".into()));
        for cut in 1..series.len() {
            let mut inflater = Inflater::new("gzip", 18).ok().flatten().expect("gzip is known");
            for part in [&series[..cut], &series[cut..]] {
                inflater.write(part).await.expect("it is within the limit");
            }
            let output = inflater.finish().map_err(|p| p.code().to_owned());
            assert_eq!(output, Ok(b"a pump and a valve".to_vec()), "cut at {cut}");
        }
        let zeros = gzip(&vec![0; 1 << 20]).repeat(8);
        assert_eq!(inflate_chunks("gzip", &zeros, 1 << 30).await, Err("compression-ratio".into()));
    }

    #[test]
    fn bytes_after_a_member_must_be_a_member() {
        let one = gzip(b"a pump");
        for rest in [&b"x"[..], b"\x1f", b"garbage after the end", &[0; 512], &one[..9], &one[..one.len() - 1]] {
            let body = [&one[..], rest].concat();
            assert_eq!(inflate("gzip", &body, 99), Err("malformed-compression".into()), "{rest:?}");
        }
    }

    #[test]
    fn too_many_members_are_rejected() {
        assert_eq!(inflate("gzip", &gzip(b"").repeat(900), 99), Ok(Vec::new()));
        assert_eq!(inflate("gzip", &gzip(b"").repeat(100_000), 99), Err("malformed-compression".into()));
    }

    #[test]
    fn uncompressed_and_truncated_bodies_are_malformed() {
        assert_eq!(inflate("gzip", b"no gzip at all", 99), Err("malformed-compression".into()));
        assert_eq!(inflate("zstd", b"no zstd at all", 99), Err("malformed-compression".into()));
        let cut = gzip(b"a pump");
        assert_eq!(inflate("gzip", &cut[..cut.len() - 4], 99), Err("malformed-compression".into()));
    }
}
