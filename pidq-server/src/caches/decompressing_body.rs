//! Response body that decompresses a stored graph while it is sent, for clients without zstd or gzip when memory is
//! low.

use std::io::{Cursor, Read};
use std::sync::Arc;

use bytes::Bytes;
use pidq_http::BodyProducer;

use crate::memory::buffer_pool::BufferPool;
use crate::memory::memory_pool::ResponseReservation;
use crate::store::compression::{self, ZstdDecoder};
use crate::store::{Error, Result};

/// Maximum number of bytes decompressed at once on a connection thread.
const CHUNK_SIZE: usize = 64 << 10;

/// Remaining part of a compressed graph.
pub(crate) struct DecompressingBody {
    decoder: ZstdDecoder<Cursor<Bytes>>,
    remaining: u64,
    buffers: Arc<BufferPool>,
    _reservation: ResponseReservation,
}

impl DecompressingBody {
    /// Memory of the decoder in bytes, excluding the compressed graph.
    pub const MEMORY: usize = compression::WINDOW + CHUNK_SIZE;

    /// Creates a body from a compressed graph with a known decompressed size.
    pub fn new(
        compressed: Bytes,
        size: u64,
        buffers: &Arc<BufferPool>,
        reservation: ResponseReservation,
    ) -> Result<DecompressingBody> {
        let failure = |error| Error::StorageFailure(format!("decompression failed: {error}"));
        let decoder = compression::zstd_decoder(Cursor::new(compressed), compression::WINDOW).map_err(failure)?;
        Ok(DecompressingBody { decoder, remaining: size, buffers: buffers.clone(), _reservation: reservation })
    }
}

impl BodyProducer for DecompressingBody {
    fn remaining(&self) -> u64 {
        self.remaining
    }

    fn next_chunk(&mut self, limit: usize) -> Bytes {
        let limit = self.remaining.min(limit.min(CHUNK_SIZE) as u64);
        let bytes = self.buffers.fill(limit as usize, |into, _| {
            // A decoding error truncates the body, so it is shorter than its announced length.
            let _ = self.decoder.by_ref().take(limit).read_to_end(into);
        });
        self.remaining = if bytes.is_empty() { 0 } else { self.remaining - bytes.len() as u64 };
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::memory_pool::MemoryPool;

    fn sent(compressed: Vec<u8>, size: usize) -> Vec<u8> {
        let reservation =
            Arc::new(MemoryPool::new(1 << 20)).reserve(&"ann".into(), DecompressingBody::MEMORY).expect("free memory");
        let mut body = DecompressingBody::new(compressed.into(), size as u64, &Arc::default(), reservation)
            .expect("a compressed graph");
        let mut all = Vec::new();
        while body.remaining() > 0 {
            all.extend(body.next_chunk(1000 + all.len() % 7 * 30_000));
        }
        all
    }

    #[test]
    fn a_compressed_graph_is_sent_in_chunks() {
        let text: Vec<u8> = (0..200_000_u32).flat_map(|n| format!("{{\"id\": {}}}", n % 977).into_bytes()).collect();
        assert!(sent(compression::compress_zstd(&text).expect("it compresses"), text.len()) == text);
    }

    #[test]
    fn a_corrupt_graph_ends_early() {
        let text = b"a graph ".repeat(50_000);
        let mut compressed = compression::compress_zstd(&text).expect("it compresses");
        compressed.truncate(compressed.len() / 2);
        let sent = sent(compressed, text.len());
        assert!(sent.len() < text.len() && text.starts_with(&sent));
    }
}
