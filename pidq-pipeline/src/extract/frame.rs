//! What parent and child say to each other: a mark, a header as JSON with its length, then bytes: an answer has their
//! length before them; a request comes in pieces with a length each, and 0 is the end, since whoever sends it may not have
//! all of it.

use std::io::{self, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// What every message begins with; its last byte is the version.
const MARK: &[u8; 8] = b"pidqext\x02";
/// Bytes of a header: pages, warnings.
const MAX_HEADER: u64 = 64 << 20;

/// Writes an answer.
pub fn write(mut out: impl Write, header: &impl Serialize, body: &[u8]) -> io::Result<()> {
    begin(&mut out, header)?;
    write_part(&mut out, body)?;
    out.flush()
}

/// Writes a request. One that breaks off has no end, and is none.
pub fn write_pieces(
    mut out: impl Write,
    header: &impl Serialize,
    pieces: impl IntoIterator<Item = io::Result<Vec<u8>>>,
) -> io::Result<()> {
    begin(&mut out, header)?;
    for piece in pieces {
        let piece = piece?;
        if !piece.is_empty() {
            write_part(&mut out, &piece)?;
        }
    }
    write_part(&mut out, &[])?;
    out.flush()
}

fn begin(out: &mut impl Write, header: &impl Serialize) -> io::Result<()> {
    out.write_all(MARK)?;
    write_part(out, &serde_json::to_vec(header)?)
}

fn write_part(out: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    out.write_all(&(bytes.len() as u64).to_le_bytes())?;
    out.write_all(bytes)
}

/// Reads an answer whose body is within a limit.
///
/// # Errors
/// When the input is something else, or ends too early. No more is allocated than was read.
pub fn read<H: DeserializeOwned>(mut input: impl Read, limit: u64) -> io::Result<(H, Vec<u8>)> {
    let header = header(&mut input)?;
    Ok((header, part(&mut input, limit)?))
}

/// Reads a request.
///
/// # Errors
/// As [`read`].
pub fn read_pieces<H: DeserializeOwned>(mut input: impl Read) -> io::Result<(H, Vec<u8>)> {
    let header = header(&mut input)?;
    let mut bytes = Vec::new();
    while append(&mut input, u64::MAX, &mut bytes)? > 0 {}
    Ok((header, bytes))
}

fn header<H: DeserializeOwned>(input: &mut impl Read) -> io::Result<H> {
    let mut mark = [0; MARK.len()];
    input.read_exact(&mut mark)?;
    if mark != *MARK {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "not a message"));
    }
    Ok(serde_json::from_slice(&part(input, MAX_HEADER)?)?)
}

fn part(input: &mut impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    append(input, limit, &mut bytes).map(|_| bytes)
}

/// Reads bytes behind others, and says how many.
fn append(input: &mut impl Read, limit: u64, bytes: &mut Vec<u8>) -> io::Result<u64> {
    let mut length = [0; 8];
    input.read_exact(&mut length)?;
    let length = u64::from_le_bytes(length);
    if length > limit {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "the message is longer than it may be"));
    }
    match input.take(length).read_to_end(bytes)? as u64 {
        count if count == length => Ok(count),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}
