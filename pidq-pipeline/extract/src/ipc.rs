//! Message framing between parent and sandboxed child: a magic number, a length-prefixed JSON header, then bytes.
//!
//! A reply has a body with a length prefix, and lists of parts: their number, and a length prefix for each part. The body of a
//! request is streamed as chunks, each with a length prefix; the length 0 ends it.

use std::io::{self, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Magic number of every message; its last byte is the version.
const MAGIC: &[u8; 8] = b"pidqext\x07";
/// Maximum size of a header (pages, warnings), in bytes.
const MAX_HEADER_SIZE: u64 = 64 << 20;

/// Maximum number of parts in a list.
const MAX_PARTS: u64 = 1_000_000;

/// Number of lists of a reply.
const LISTS: usize = 2;

/// Writes a reply.
pub fn write(mut out: impl Write, header: &impl Serialize, body: &[u8], lists: [Vec<&[u8]>; LISTS]) -> io::Result<()> {
    write_header(&mut out, header)?;
    write_part(&mut out, body)?;
    for list in lists {
        out.write_all(&(list.len() as u64).to_le_bytes())?;
        list.into_iter().try_for_each(|part| write_part(&mut out, part))?;
    }
    out.flush()
}

/// Writes a request. If `chunks` fails, the end mark is missing and the reader rejects the request.
pub fn write_stream(
    mut out: impl Write,
    header: &impl Serialize,
    chunks: impl IntoIterator<Item = io::Result<Vec<u8>>>,
) -> io::Result<()> {
    write_header(&mut out, header)?;
    for chunk in chunks {
        let chunk = chunk?;
        if !chunk.is_empty() {
            write_part(&mut out, &chunk)?;
        }
    }
    write_part(&mut out, &[])?;
    out.flush()
}

fn write_header(out: &mut impl Write, header: &impl Serialize) -> io::Result<()> {
    out.write_all(MAGIC)?;
    write_part(out, &serde_json::to_vec(header)?)
}

fn write_part(out: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    out.write_all(&(bytes.len() as u64).to_le_bytes())?;
    out.write_all(bytes)
}

/// A reply: header, body and lists.
pub type Message<H> = (H, Vec<u8>, [Vec<Vec<u8>>; LISTS]);

/// Reads a reply whose body has a limited size, as have the parts of each list together.
///
/// # Errors
/// Fails if the input is not a message or is truncated. Allocates no more than it reads.
pub fn read<H: DeserializeOwned>(
    mut input: impl Read,
    body_limit: u64,
    list_limits: [u64; LISTS],
) -> io::Result<Message<H>> {
    let header = header(&mut input)?;
    let body = part(&mut input, body_limit)?;
    let mut lists = [const { Vec::new() }; LISTS];
    for (parts, limit) in lists.iter_mut().zip(list_limits) {
        *parts = list(&mut input, limit)?;
    }
    Ok((header, body, lists))
}

fn list(input: &mut impl Read, limit: u64) -> io::Result<Vec<Vec<u8>>> {
    let count = length(input)?;
    if count > MAX_PARTS {
        return Err(too_large());
    }
    let (mut parts, mut left) = (Vec::new(), limit);
    for _ in 0..count {
        let part = part(input, left)?;
        left -= part.len() as u64;
        parts.push(part);
    }
    Ok(parts)
}

/// Reads a request.
///
/// # Errors
/// As [`read`].
pub fn read_stream<H: DeserializeOwned>(mut input: impl Read) -> io::Result<(H, Vec<u8>)> {
    let header = header(&mut input)?;
    let mut bytes = Vec::new();
    while append(&mut input, u64::MAX, &mut bytes)? > 0 {}
    Ok((header, bytes))
}

fn header<H: DeserializeOwned>(input: &mut impl Read) -> io::Result<H> {
    let mut magic = [0; MAGIC.len()];
    input.read_exact(&mut magic)?;
    if magic != *MAGIC {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "not a message"));
    }
    Ok(serde_json::from_slice(&part(input, MAX_HEADER_SIZE)?)?)
}

fn part(input: &mut impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    append(input, limit, &mut bytes).map(|_| bytes)
}

/// Appends a length-prefixed block to `bytes` and returns its length.
fn append(input: &mut impl Read, limit: u64, bytes: &mut Vec<u8>) -> io::Result<u64> {
    let length = length(input)?;
    if length > limit {
        return Err(too_large());
    }
    match input.take(length).read_to_end(bytes)? as u64 {
        count if count == length => Ok(count),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

fn length(input: &mut impl Read) -> io::Result<u64> {
    let mut length = [0; 8];
    input.read_exact(&mut length)?;
    Ok(u64::from_le_bytes(length))
}

fn too_large() -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, "the message exceeds the size limit")
}
