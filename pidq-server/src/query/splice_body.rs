//! Response body that splices ranges of the source document with generated text, so that a large result is never copied
//! as a whole.

use std::sync::Arc;

use bytes::Bytes;
use pidq_core::{Graph, OutputChunk, RunResult};
use pidq_http::{BodyProducer, VectoredBody};

use crate::memory::buffer_pool::BufferPool;
use crate::memory::memory_pool::ResponseReservation;

/// Source ranges shorter than this are copied: a splice takes as much memory.
const MIN_SPLICE_SIZE: usize = 32;
/// Minimum average bytes per splice for vectored I/O. Below, passing each range to the kernel costs more than copying.
const VECTORED_MIN_SIZE: usize = 512;

/// Response body of source ranges with generated text between them.
pub(crate) struct SpliceBody {
    graph: Arc<Graph>,
    text_bytes: Vec<u8>,
    splices: Vec<Splice>,
    len: usize,
}

/// Generated text up to an offset, followed by a source range.
#[derive(Clone, Copy)]
struct Splice {
    text_end: usize,
    from: usize,
    to: usize,
}

impl SpliceBody {
    /// Creates a body that starts with a text.
    pub fn new(graph: Arc<Graph>, head: Vec<u8>) -> SpliceBody {
        SpliceBody { graph, len: head.len(), text_bytes: head, splices: Vec::new() }
    }

    /// Appends a text.
    pub fn add(&mut self, text: &[u8]) {
        self.len += text.len();
        self.text_bytes.extend_from_slice(text);
    }

    /// Appends a result as JSON.
    pub fn add_result(&mut self, outcome: &RunResult<'_>) -> pidq_core::Result<()> {
        let graph = self.graph.clone();
        outcome.write_chunks(&graph, &mut |written| match written {
            OutputChunk::Source(range) if range.len() < MIN_SPLICE_SIZE => self.add(graph.source()[range].as_bytes()),
            OutputChunk::Source(range) => {
                self.len += range.len();
                self.splices.push(Splice { text_end: self.text_bytes.len(), from: range.start, to: range.end });
            }
            OutputChunk::Text(text) => self.add(text.as_bytes()),
        })
    }

    /// Returns the total length in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns the memory of the body in bytes, excluding the document.
    pub fn size(&self) -> usize {
        self.text_bytes.capacity() + self.splices.capacity() * size_of::<Splice>()
    }

    /// Returns true if vectored I/O is cheaper than copying.
    pub fn is_coarse(&self) -> bool {
        self.len / (self.splices.len() + 1) >= VECTORED_MIN_SIZE
    }

    /// Collects the body into one buffer.
    pub fn into_bytes(self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.len);
        (0..).map_while(|index| self.part(index)).for_each(|part| bytes.extend_from_slice(part));
        bytes
    }

    /// Converts the body into one that is copied buffer by buffer.
    pub fn into_buffered(self, buffers: &Arc<BufferPool>, reservation: ResponseReservation) -> BufferedSplice {
        BufferedSplice {
            remaining: self.len,
            body: self,
            index: 0,
            offset: 0,
            buffers: buffers.clone(),
            _reservation: reservation,
        }
    }

    /// Converts the body into one that is sent with vectored I/O.
    pub fn into_vectored(self, reservation: ResponseReservation) -> VectoredSplice {
        VectoredSplice { body: self, _reservation: reservation }
    }

    /// Returns part `index`: even parts are generated text (possibly empty), odd parts are source ranges.
    fn part(&self, index: usize) -> Option<&[u8]> {
        let (at, is_source) = (index / 2, index % 2 == 1);
        let splice = self.splices.get(at);
        if is_source {
            return splice.map(|splice| &self.graph.source().as_bytes()[splice.from..splice.to]);
        }
        let from = at.checked_sub(1).map_or(Some(0), |before| Some(self.splices.get(before)?.text_end))?;
        Some(&self.text_bytes[from..splice.map_or(self.text_bytes.len(), |splice| splice.text_end)])
    }
}

/// Body that is copied into buffers while the client reads it.
pub(crate) struct BufferedSplice {
    body: SpliceBody,
    /// Next part, and the number of its bytes already written.
    index: usize,
    offset: usize,
    remaining: usize,
    buffers: Arc<BufferPool>,
    _reservation: ResponseReservation,
}

impl BodyProducer for BufferedSplice {
    fn remaining(&self) -> u64 {
        self.remaining as u64
    }

    fn next_chunk(&mut self, limit: usize) -> Bytes {
        let BufferedSplice { body, index, offset, .. } = self;
        let bytes = self.buffers.fill(limit.min(self.remaining), |into, limit| {
            while let Some(part) = body.part(*index).filter(|_| into.len() < limit) {
                let text = &part[*offset..];
                let fits = text.len().min(limit - into.len());
                into.extend_from_slice(&text[..fits]);
                (*index, *offset) = if fits == text.len() { (*index + 1, 0) } else { (*index, *offset + fits) };
            }
        });
        self.remaining -= bytes.len();
        bytes
    }
}

/// Body that is sent with vectored I/O.
pub(crate) struct VectoredSplice {
    body: SpliceBody,
    _reservation: ResponseReservation,
}

impl VectoredBody for VectoredSplice {
    fn size(&self) -> usize {
        self.body.len
    }

    fn part(&self, index: usize) -> Option<&[u8]> {
        self.body.part(index)
    }
}

#[cfg(test)]
mod tests {
    use pidq_core::{Limits, Query, Scratch};

    use super::*;
    use crate::memory::buffer_pool::LARGE_BUFFER_SIZE;
    use crate::memory::memory_pool::MemoryPool;

    /// Builds the body of a query on a generated document.
    fn body(text: &str) -> (SpliceBody, Vec<u8>) {
        let node = |n: usize| format!(r#"{{"id": "N-{n}", "kind": {}, "text": "{}"}}"#, n % 2, "x".repeat(n % 97));
        let nodes: Vec<String> = (0..3000).map(node).collect();
        let graph = Arc::new(Graph::from_json(format!("[{}]", nodes.join(", "))).expect("a document"));
        let (query, scratch) = (Query::parse(text).expect(text), Scratch::new());
        let outcome = query.run(&graph, &scratch, Limits::default()).expect(text);
        let mut expected = b"head ".to_vec();
        outcome.write_json(&mut expected).expect(text);
        expected.extend(b" tail");
        let mut body = SpliceBody::new(graph.clone(), b"head ".to_vec());
        body.add_result(&outcome).expect(text);
        body.add(b" tail");
        assert_eq!(body.len(), expected.len(), "{text}");
        (body, expected)
    }

    const QUERIES: [&str; 5] = ["get()", "filter(.kind == 1)", "map(.id)", "pick(.id, .text)", "size()"];

    #[test]
    fn a_splice_body_equals_the_result() {
        for text in QUERIES {
            let (body, expected) = body(text);
            assert_eq!(body.into_bytes(), expected, "{text}");
        }
    }

    #[test]
    fn a_buffered_body_equals_the_result() {
        for (text, limit) in QUERIES.into_iter().flat_map(|text| [(text, 1000), (text, usize::MAX)]) {
            let (body, expected) = body(text);
            let memory = Arc::new(MemoryPool::new(1 << 20));
            let reservation = memory.reserve(&"ann".into(), body.size()).expect("free memory");
            let mut buffered = body.into_buffered(&Arc::new(BufferPool::default()), reservation);
            let mut found = Vec::new();
            while buffered.remaining() > 0 {
                let bytes = buffered.next_chunk(limit);
                assert!(bytes.len() == limit.min(LARGE_BUFFER_SIZE) || buffered.remaining() == 0, "{text}");
                found.extend(bytes);
            }
            assert!(found == expected, "{text}");
        }
    }

    #[test]
    fn a_vectored_body_equals_the_result() {
        for (text, is_coarse) in QUERIES.into_iter().zip([true, false, true, false, false]) {
            let (body, expected) = body(text);
            assert_eq!(body.is_coarse(), is_coarse, "{text}");
            let reservation =
                Arc::new(MemoryPool::new(1 << 20)).reserve(&"ann".into(), body.size()).expect("free memory");
            let parts = body.into_vectored(reservation);
            let found: Vec<u8> = (0..).map_while(|index| parts.part(index)).flatten().copied().collect();
            assert!(found == expected && parts.size() == expected.len(), "{text}");
        }
    }

    #[test]
    fn unchanged_values_are_not_copied() {
        let (body, expected) = body("filter(.kind == 1)");
        assert!(expected.len() > 100_000);
        assert!(body.text_bytes.len() < 5_000, "{}", body.text_bytes.len());
    }
}
