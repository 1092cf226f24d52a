//! What parent and child say to each other: a mark, a header as JSON with its length, then bytes with their length.

use std::io::{self, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// What every message begins with; its last byte is the version.
const MARK: &[u8; 8] = b"pidqext\x01";
/// Bytes of a header: pages, warnings.
const MAX_HEADER: u64 = 64 << 20;

/// Writes a message.
pub fn write(mut out: impl Write, header: &impl Serialize, body: &[u8]) -> io::Result<()> {
    let header = serde_json::to_vec(header)?;
    out.write_all(MARK)?;
    out.write_all(&(header.len() as u64).to_le_bytes())?;
    out.write_all(&header)?;
    out.write_all(&(body.len() as u64).to_le_bytes())?;
    out.write_all(body)?;
    out.flush()
}

/// Reads a message whose body is within a limit.
///
/// # Errors
/// When the input is something else, or ends too early. No more is allocated than was read.
pub fn read<H: DeserializeOwned>(mut input: impl Read, limit: u64) -> io::Result<(H, Vec<u8>)> {
    let mut mark = [0; MARK.len()];
    input.read_exact(&mut mark)?;
    if mark != *MARK {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "not a message"));
    }
    let header = serde_json::from_slice(&part(&mut input, MAX_HEADER)?)?;
    Ok((header, part(&mut input, limit)?))
}

fn part(input: &mut impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut length = [0; 8];
    input.read_exact(&mut length)?;
    let length = u64::from_le_bytes(length);
    if length > limit {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "the message is longer than it may be"));
    }
    let mut bytes = Vec::new();
    match input.take(length).read_to_end(&mut bytes)? as u64 {
        count if count == length => Ok(bytes),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}
