//! Detection of ambiguous request framing, which enables request smuggling.
//!
//! hyper determines the end of a body correctly, but hides ambiguity: with both `Content-Length` and
//! `Transfer-Encoding`, handlers see only the latter, and bare line feeds end lines. So the heads are parsed a second
//! time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::message::conn_info::Framing;

/// Request counter of a connection, with the first ambiguous request.
pub(super) struct FramingMonitor {
    first_ambiguous: Arc<AtomicU64>,
    next: AtomicU64,
}

impl FramingMonitor {
    pub fn new() -> Self {
        FramingMonitor { first_ambiguous: Arc::new(AtomicU64::new(u64::MAX)), next: AtomicU64::new(0) }
    }

    /// Returns the framing of the next request, whose head has been read.
    pub fn next(&self) -> Framing {
        let this = self.next.fetch_add(1, Relaxed);
        if this >= self.first_ambiguous.load(Relaxed) { Framing::Ambiguous } else { Framing::Unambiguous }
    }

    pub fn scanner(&self, head_size: usize) -> HeadScanner {
        HeadScanner {
            first_ambiguous: self.first_ambiguous.clone(),
            heads: 0,
            state: State::Head(Head::default()),
            line: Vec::new(),
            line_limit: head_size,
        }
    }
}

/// Incremental parser of request heads.
pub(super) struct HeadScanner {
    first_ambiguous: Arc<AtomicU64>,
    heads: u64,
    state: State,
    line: Vec<u8>,
    /// Maximum line length; hyper rejects longer lines.
    line_limit: usize,
}

enum State {
    /// Lines up to an empty one.
    Head(Head),
    /// Bytes of a body, or a chunk with its line end.
    Skip {
        left: u64,
        then: AfterSkip,
    },
    ChunkSize,
    Trailers,
    /// hyper rejects the rest.
    Ignore,
}

#[derive(Clone, Copy)]
enum AfterSkip {
    NextRequest,
    NextChunk,
}

#[derive(Default)]
struct Head {
    has_started: bool,
    lengths: u32,
    length: Option<u64>,
    encodings: u32,
    chunked: bool,
    is_malformed: bool,
}

impl HeadScanner {
    pub fn read(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            bytes = match self.state {
                State::Ignore => return,
                State::Skip { left, then } => self.skip(left, then, bytes),
                State::Head(_) | State::ChunkSize | State::Trailers => self.collect_line(bytes),
            };
        }
    }

    fn skip<'a>(&mut self, left: u64, then: AfterSkip, bytes: &'a [u8]) -> &'a [u8] {
        let taken = left.min(bytes.len() as u64);
        self.state = match (left - taken, then) {
            (0, AfterSkip::NextRequest) => State::Head(Head::default()),
            (0, AfterSkip::NextChunk) => State::ChunkSize,
            (left, then) => State::Skip { left, then },
        };
        &bytes[taken as usize..]
    }

    /// Collects a line, and processes it when it is complete.
    fn collect_line<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let end = memchr::memchr(b'\n', bytes);
        let (part, rest) = bytes.split_at(end.map_or(bytes.len(), |end| end + 1));
        // Hot: nearly all lines arrive complete.
        if end.is_some() && self.line.is_empty() && part.len() <= self.line_limit {
            self.process_line(part);
            return rest;
        }
        self.line.extend_from_slice(part);
        if self.line.len() > self.line_limit {
            self.state = State::Ignore;
        } else if end.is_some() {
            let line = std::mem::take(&mut self.line);
            self.process_line(&line);
            self.line = line;
            self.line.clear();
        }
        rest
    }

    fn process_line(&mut self, line: &[u8]) {
        let bare = !line.ends_with(b"\r\n");
        let line = line.trim_ascii_end();
        match &mut self.state {
            State::Head(head) if line.is_empty() && head.has_started => {
                head.is_malformed |= bare;
                self.finish_head();
            }
            State::Head(head) => head.line(line, bare),
            State::ChunkSize => self.state = parse_chunk_size(line),
            State::Trailers if line.is_empty() => self.state = State::Head(Head::default()),
            State::Trailers | State::Skip { .. } | State::Ignore => {}
        }
    }

    fn finish_head(&mut self) {
        let State::Head(head) = &self.state else { return };
        if head.is_ambiguous() {
            self.first_ambiguous.fetch_min(self.heads, Relaxed);
            self.state = State::Ignore;
            return;
        }
        self.heads += 1;
        self.state = match head.length {
            _ if head.encodings > 0 => State::ChunkSize,
            Some(left) if left > 0 => State::Skip { left, then: AfterSkip::NextRequest },
            _ => State::Head(Head::default()),
        };
    }
}

impl Head {
    fn line(&mut self, line: &[u8], bare: bool) {
        // Empty lines before a request are allowed.
        self.has_started |= !line.is_empty();
        self.is_malformed |= bare;
        // Hot: no other header affects the framing.
        if !matches!(line.first(), Some(b'C' | b'c' | b'T' | b't')) {
            return;
        }
        let Some(colon) = line.iter().position(|&byte| byte == b':') else { return };
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        if name.eq_ignore_ascii_case(b"content-length") {
            self.lengths += 1;
            self.length = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
            self.is_malformed |= !value.iter().all(u8::is_ascii_digit);
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            self.encodings += 1;
            self.chunked = value.eq_ignore_ascii_case(b"chunked");
        }
    }

    fn is_ambiguous(&self) -> bool {
        let twice = self.lengths + self.encodings > 1;
        let unknown = self.encodings == 1 && !self.chunked;
        self.is_malformed || twice || unknown
    }
}

fn parse_chunk_size(line: &[u8]) -> State {
    let digits = line.split(|&byte| byte == b';').next().unwrap_or_default().trim_ascii();
    let size = std::str::from_utf8(digits).ok().and_then(|digits| u64::from_str_radix(digits, 16).ok());
    match size {
        Some(0) => State::Trailers,
        Some(size) => State::Skip { left: size.saturating_add(2), then: AfterSkip::NextChunk },
        None => State::Ignore,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the index of the first ambiguous request; the input is read in chunks of every size.
    fn first_ambiguous_request(text: &str) -> Option<u64> {
        let mut found = Vec::new();
        for size in 1..=text.len() {
            let monitor = FramingMonitor::new();
            let mut scanner = monitor.scanner(1 << 14);
            text.as_bytes().chunks(size).for_each(|piece| scanner.read(piece));
            found.push(monitor.first_ambiguous.load(Relaxed));
        }
        assert!(found.iter().all(|f| *f == found[0]), "the same, however it arrives: {found:?}");
        Some(found[0]).filter(|&f| f != u64::MAX)
    }

    const PLAIN: &str = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
    const LENGTH: &str = "POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nab\n\n:";
    const CHUNKED: &str = "POST / HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n\r\n\
        1;x=y\r\na\r\n0a\r\n0123456789\r\n0\r\nTrailer: 1\r\n\r\n";
    const BOTH: &str = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\ncontent-LENGTH: 5\r\n\r\n";

    #[test]
    fn bodies_are_not_parsed_as_heads() {
        assert_eq!(first_ambiguous_request(&[PLAIN, LENGTH, CHUNKED, PLAIN].concat()), None);
        assert_eq!(first_ambiguous_request(&[PLAIN, LENGTH, CHUNKED, "\r\n", PLAIN, BOTH].concat()), Some(4));
    }

    #[test]
    fn ambiguous_heads_are_detected() {
        let heads = [
            "Content-Length: 5\r\nTransfer-Encoding: chunked",
            "Transfer-Encoding: chunked\r\nContent-Length: 5",
            "Content-Length: 5\r\nContent-Length: 5",
            "Content-Length: +5",
            "Content-Length: 5, 5",
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
            "Transfer-Encoding: gzip, chunked",
            "Transfer-Encoding: xchunked",
            "Transfer-Encoding: identity",
            "Host: x\nHost: y",
            "Host: x\n",
        ];
        for head in heads {
            assert_eq!(first_ambiguous_request(&format!("POST / HTTP/1.1\r\n{head}\r\n\r\n")), Some(0), "{head:?}");
        }
    }
}
