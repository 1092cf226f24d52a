//! Message framing between parent and sandboxed child: a magic number, a length-prefixed JSON header, then bytes.
//!
//! A reply has a body with a length prefix, and attachments, of which each has one; their number precedes them. The body of a
//! request is streamed as chunks, each with a length prefix; the length 0 ends it.

use std::io::{self, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Magic number of every message; its last byte is the version.
const MAGIC: &[u8; 8] = b"pidqext\x05";
/// Maximum size of a header (pages, warnings), in bytes.
const MAX_HEADER_SIZE: u64 = 64 << 20;

/// Maximum number of attachments of a reply.
const MAX_ATTACHMENTS: u64 = 1_000_000;

/// Writes a reply.
pub fn write(mut out: impl Write, header: &impl Serialize, body: &[u8], attachments: &[Vec<u8>]) -> io::Result<()> {
    write_header(&mut out, header)?;
    write_part(&mut out, body)?;
    out.write_all(&(attachments.len() as u64).to_le_bytes())?;
    attachments.iter().try_for_each(|attachment| write_part(&mut out, attachment))?;
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

/// A reply: header, body and attachments.
pub type Message<H> = (H, Vec<u8>, Vec<Vec<u8>>);

/// Reads a reply whose body has a limited size, as have the attachments together.
///
/// # Errors
/// Fails if the input is not a message or is truncated. Allocates no more than it reads.
pub fn read<H: DeserializeOwned>(mut input: impl Read, body_limit: u64, limit: u64) -> io::Result<Message<H>> {
    let header = header(&mut input)?;
    let body = part(&mut input, body_limit)?;
    let count = length(&mut input)?;
    if count > MAX_ATTACHMENTS {
        return Err(too_large());
    }
    let (mut attachments, mut left) = (Vec::new(), limit);
    for _ in 0..count {
        let attachment = part(&mut input, left)?;
        left -= attachment.len() as u64;
        attachments.push(attachment);
    }
    Ok((header, body, attachments))
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
