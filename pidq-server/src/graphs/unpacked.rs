//! A graph that is unpacked while it is sent, for those who know no packing when there is little memory left.

use std::io::{Cursor, Read};
use std::sync::Arc;

use bytes::Bytes;
use pidq_http::Filling;

use crate::buffers::Buffers;
use crate::memory::Held;
use crate::store::packing::{self, Unpacker};
use crate::store::{Error, Result};

/// Bytes that are unpacked at once, on a thread that others wait for.
const PIECE: usize = 64 << 10;

/// What is left of a packed graph.
pub(crate) struct Unpacked {
    unpacker: Unpacker<Cursor<Bytes>>,
    left: u64,
    buffers: Arc<Buffers>,
    _room: Held,
}

impl Unpacked {
    /// Memory that one takes beside the packed bytes.
    pub const ROOM: usize = packing::WINDOW + PIECE;

    /// The bytes of a graph of so many, in memory that was made room for.
    pub fn new(packed: Bytes, size: u64, buffers: &Arc<Buffers>, room: Held) -> Result<Unpacked> {
        let failure = |error| Error::StorageFailure(format!("unpacking failed: {error}"));
        let unpacker = packing::unpacker(Cursor::new(packed), packing::WINDOW).map_err(failure)?;
        Ok(Unpacked { unpacker, left: size, buffers: buffers.clone(), _room: room })
    }
}

impl Filling for Unpacked {
    fn left(&self) -> u64 {
        self.left
    }

    fn next(&mut self, most: usize) -> Bytes {
        let most = self.left.min(most.min(PIECE) as u64);
        let bytes = self.buffers.fill(most as usize, |into, _| {
            // What cannot be read is missing at the end, and the reader is told a length that does not come.
            let _ = self.unpacker.by_ref().take(most).read_to_end(into);
        });
        self.left = if bytes.is_empty() { 0 } else { self.left - bytes.len() as u64 };
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Memory;

    fn sent(packed: Vec<u8>, size: usize) -> Vec<u8> {
        let room = Arc::new(Memory::new(1 << 20)).hold(&"ann".into(), Unpacked::ROOM).expect("room");
        let mut body = Unpacked::new(packed.into(), size as u64, &Arc::default(), room).expect("a packed graph");
        let mut all = Vec::new();
        while body.left() > 0 {
            all.extend(body.next(1000 + all.len() % 7 * 30_000));
        }
        all
    }

    #[test]
    fn what_was_packed_comes_piece_by_piece() {
        let text: Vec<u8> = (0..200_000_u32).flat_map(|n| format!("{{\"id\": {}}}", n % 977).into_bytes()).collect();
        assert!(sent(packing::pack(&text).expect("packs"), text.len()) == text);
    }

    #[test]
    fn what_is_damaged_ends_early() {
        let text = b"a graph ".repeat(50_000);
        let mut packed = packing::pack(&text).expect("packs");
        packed.truncate(packed.len() / 2);
        let sent = sent(packed, text.len());
        assert!(sent.len() < text.len() && text.starts_with(&sent));
    }
}
