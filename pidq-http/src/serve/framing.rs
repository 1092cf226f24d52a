//! Where one request ends and the next begins, read a second time: heads that two servers might read
//! differently are noticed, so that they can be refused (request smuggling).
//!
//! hyper is right about where a body ends, and forgets that there was something to doubt: with both
//! `Content-Length` and `Transfer-Encoding`, handlers see only the latter, and bare line feeds end lines.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Whether it is clear where a request ends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Framing {
    Sound,
    Ambiguous,
}

/// Counts the requests of a connection, and knows from which on there is doubt.
pub(super) struct Doubt {
    from: Arc<AtomicU64>,
    next: AtomicU64,
}

impl Doubt {
    pub fn new() -> Self {
        Doubt { from: Arc::new(AtomicU64::new(u64::MAX)), next: AtomicU64::new(0) }
    }

    /// Of the next request, whose head has been read.
    pub fn next(&self) -> Framing {
        let this = self.next.fetch_add(1, Relaxed);
        if this >= self.from.load(Relaxed) { Framing::Ambiguous } else { Framing::Sound }
    }

    pub fn scanner(&self, head_size: usize) -> Scanner {
        Scanner {
            from: self.from.clone(),
            heads: 0,
            state: State::Head(Head::default()),
            line: Vec::new(),
            longest: head_size,
        }
    }
}

/// Reads along.
pub(super) struct Scanner {
    from: Arc<AtomicU64>,
    heads: u64,
    state: State,
    line: Vec<u8>,
    /// A longer line is refused by hyper, so there is nothing more to read.
    longest: usize,
}

enum State {
    /// Lines up to an empty one.
    Head(Head),
    /// A body of so many bytes, or a chunk with its line end.
    Skip {
        left: u64,
        then: Then,
    },
    ChunkSize,
    Trailers,
    /// hyper has refused it, or will.
    Over,
}

#[derive(Clone, Copy)]
enum Then {
    NextRequest,
    NextChunk,
}

#[derive(Default)]
struct Head {
    begun: bool,
    lengths: u32,
    length: Option<u64>,
    encodings: u32,
    chunked: bool,
    doubt: bool,
}

impl Scanner {
    pub fn read(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            bytes = match self.state {
                State::Over => return,
                State::Skip { left, then } => self.skip(left, then, bytes),
                State::Head(_) | State::ChunkSize | State::Trailers => self.collect(bytes),
            };
        }
    }

    fn skip<'a>(&mut self, left: u64, then: Then, bytes: &'a [u8]) -> &'a [u8] {
        let taken = left.min(bytes.len() as u64);
        self.state = match (left - taken, then) {
            (0, Then::NextRequest) => State::Head(Head::default()),
            (0, Then::NextChunk) => State::ChunkSize,
            (left, then) => State::Skip { left, then },
        };
        &bytes[taken as usize..]
    }

    /// Collects a line, and acts on it when it is whole.
    fn collect<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let end = memchr::memchr(b'\n', bytes);
        let (part, rest) = bytes.split_at(end.map_or(bytes.len(), |end| end + 1));
        // Hot: nearly all lines come whole.
        if end.is_some() && self.line.is_empty() && part.len() <= self.longest {
            self.act(part);
            return rest;
        }
        self.line.extend_from_slice(part);
        if self.line.len() > self.longest {
            self.state = State::Over;
        } else if end.is_some() {
            let line = std::mem::take(&mut self.line);
            self.act(&line);
            self.line = line;
            self.line.clear();
        }
        rest
    }

    fn act(&mut self, line: &[u8]) {
        let bare = !line.ends_with(b"\r\n");
        let line = line.trim_ascii_end();
        match &mut self.state {
            State::Head(head) if line.is_empty() && head.begun => {
                head.doubt |= bare;
                self.end_of_head();
            }
            State::Head(head) => head.line(line, bare),
            State::ChunkSize => self.state = chunk(line),
            State::Trailers if line.is_empty() => self.state = State::Head(Head::default()),
            State::Trailers | State::Skip { .. } | State::Over => {}
        }
    }

    fn end_of_head(&mut self) {
        let State::Head(head) = &self.state else { return };
        if head.is_ambiguous() {
            self.from.fetch_min(self.heads, Relaxed);
            self.state = State::Over;
            return;
        }
        self.heads += 1;
        self.state = match head.length {
            _ if head.encodings > 0 => State::ChunkSize,
            Some(left) if left > 0 => State::Skip { left, then: Then::NextRequest },
            _ => State::Head(Head::default()),
        };
    }
}

impl Head {
    fn line(&mut self, line: &[u8], bare: bool) {
        // Empty lines before a request are allowed, and mean nothing.
        self.begun |= !line.is_empty();
        self.doubt |= bare;
        // Hot: no other line tells of a length.
        if !matches!(line.first(), Some(b'C' | b'c' | b'T' | b't')) {
            return;
        }
        let Some(colon) = line.iter().position(|&byte| byte == b':') else { return };
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        if name.eq_ignore_ascii_case(b"content-length") {
            self.lengths += 1;
            self.length = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
            self.doubt |= !value.iter().all(u8::is_ascii_digit);
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            self.encodings += 1;
            self.chunked = value.eq_ignore_ascii_case(b"chunked");
        }
    }

    fn is_ambiguous(&self) -> bool {
        let twice = self.lengths + self.encodings > 1;
        let unknown = self.encodings == 1 && !self.chunked;
        self.doubt || twice || unknown
    }
}

fn chunk(line: &[u8]) -> State {
    let digits = line.split(|&byte| byte == b';').next().unwrap_or_default().trim_ascii();
    let size = std::str::from_utf8(digits).ok().and_then(|digits| u64::from_str_radix(digits, 16).ok());
    match size {
        Some(0) => State::Trailers,
        Some(size) => State::Skip { left: size.saturating_add(2), then: Then::NextChunk },
        None => State::Over,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which request is the first in doubt, read in pieces of every size.
    fn first_in_doubt(text: &str) -> Option<u64> {
        let mut found = Vec::new();
        for size in 1..=text.len() {
            let doubt = Doubt::new();
            let mut scanner = doubt.scanner(1 << 14);
            text.as_bytes().chunks(size).for_each(|piece| scanner.read(piece));
            found.push(doubt.from.load(Relaxed));
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
    fn bodies_are_no_heads() {
        assert_eq!(first_in_doubt(&[PLAIN, LENGTH, CHUNKED, PLAIN].concat()), None);
        assert_eq!(first_in_doubt(&[PLAIN, LENGTH, CHUNKED, "\r\n", PLAIN, BOTH].concat()), Some(4));
    }

    #[test]
    fn whatever_two_servers_could_read_differently_is_in_doubt() {
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
            assert_eq!(first_in_doubt(&format!("POST / HTTP/1.1\r\n{head}\r\n\r\n")), Some(0), "{head:?}");
        }
    }
}
