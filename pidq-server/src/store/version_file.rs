//! File format of a version: a skippable zstd frame with metadata, followed by a zstd frame with the JSON. `zstd -d`
//! decompresses the file as is.

use bytes::Bytes;
use data_encoding::HEXLOWER;
use pidq_core::{Graph, Object, Value};
use sha2::{Digest, Sha256};

use super::compression::{compress_zstd, decompress_exact};
use super::error::Result;
use super::{Coding, GraphId, GraphMeta, Timestamp, Version, unhex};
use crate::store::validation::GraphDraft;
use crate::store::validation::json_offsets::quoted;

/// Magic number of a skippable frame (RFC 8878).
const SKIPPABLE_FRAME_MAGIC: [u8; 4] = 0x184d_2a50_u32.to_le_bytes();
/// Size in bytes of the magic number, the frame length, and the metadata checksum.
const PREFIX_SIZE: usize = 16;
/// Number of bytes read first; enough for the metadata unless the drawing name is very long.
pub(super) const INITIAL_READ_SIZE: usize = 1024;

/// Version that is ready to be stored.
pub(super) struct CompressedVersion {
    pub meta: GraphMeta,
    /// One zstd frame.
    pub body: Vec<u8>,
}

impl CompressedVersion {
    /// Assigns a version to a draft, hashes and compresses it. CPU-bound.
    pub fn new(draft: &GraphDraft, version: Version) -> Result<CompressedVersion> {
        let json = draft.to_json(version.as_str());
        let meta = version_meta(draft, version, &json);
        Ok(CompressedVersion { meta, body: compress_zstd(&json)? })
    }

    /// Returns the SHA-256 of the body.
    pub fn body_hash(&self) -> [u8; 32] {
        Sha256::digest(&self.body).into()
    }

    /// Returns the first frame of the file; the second one is the body.
    pub fn head(&self) -> Vec<u8> {
        let metadata = encode_metadata(&self.meta, &self.body);
        let mut head = SKIPPABLE_FRAME_MAGIC.to_vec();
        head.extend((metadata.len() as u32 + 8).to_le_bytes());
        head.extend(&Sha256::digest(&metadata)[..8]);
        head.extend(metadata.as_bytes());
        head
    }
}

/// Returns the metadata of a draft with its assigned version.
pub(crate) fn version_meta(draft: &GraphDraft, version: Version, json: &[u8]) -> GraphMeta {
    GraphMeta {
        graph_id: draft.graph_id.clone(),
        version,
        schema_version: draft.schema_version.clone(),
        drawing_name: draft.drawing_name.clone(),
        nodes: draft.nodes,
        edges: draft.edges,
        size: json.len() as u64,
        sha256: Sha256::digest(json).into(),
        content_hash: draft.content_hash,
        created_on: Timestamp::now(),
    }
}

/// Parsed header of a version file.
pub(super) struct VersionHeader {
    pub meta: GraphMeta,
    body_sha256: [u8; 32],
    body_offset: usize,
}

/// Result of parsing the beginning of a file.
pub(super) enum HeaderParse {
    /// Parsed header.
    Complete(Box<VersionHeader>),
    /// The header has this many bytes.
    Incomplete(usize),
    /// The file is not a valid version file.
    Corrupt,
}

impl VersionHeader {
    pub fn parse(bytes: &[u8], graph_id: &GraphId) -> HeaderParse {
        let Some((head, rest)) = bytes.split_at_checked(PREFIX_SIZE) else { return HeaderParse::Corrupt };
        let len = u32::from_le_bytes([head[4], head[5], head[6], head[7]]) as usize;
        if head[..4] != SKIPPABLE_FRAME_MAGIC || !(8..1 << 20).contains(&len) {
            return HeaderParse::Corrupt;
        }
        let Some(metadata) = rest.get(..len - 8) else { return HeaderParse::Incomplete(len + 8) };
        let checksum_matches = Sha256::digest(metadata)[..8] == head[8..];
        match checksum_matches.then(|| parse_metadata(metadata, graph_id)).flatten() {
            Some((meta, body_sha256)) => {
                HeaderParse::Complete(Box::new(VersionHeader { meta, body_sha256, body_offset: len + 8 }))
            }
            None => HeaderParse::Corrupt,
        }
    }

    /// Returns the content of a complete file in the given coding, or `None` if its hash does not match.
    pub fn content(&self, file: &Bytes, coding: Coding) -> Option<Bytes> {
        content(&self.meta, &self.body_sha256, file.slice(self.body_offset.min(file.len())..), coding)
    }

    /// Verifies all hashes of a complete file.
    pub fn is_intact(&self, file: &Bytes) -> bool {
        is_intact(&self.meta, self.content(file, Coding::Identity))
    }
}

/// Returns a body in the given coding, or `None` if its hash does not match.
pub(super) fn content(meta: &GraphMeta, body_sha256: &[u8], body: Bytes, coding: Coding) -> Option<Bytes> {
    let hash_matches = Sha256::digest(&body)[..] == *body_sha256;
    match coding {
        _ if !hash_matches => None,
        Coding::Zstd => Some(body),
        Coding::Identity => decompress_exact(&body, meta.size.try_into().ok()?),
    }
}

/// Verifies the hash of the JSON.
pub(super) fn is_intact(meta: &GraphMeta, json: Option<Bytes>) -> bool {
    json.is_some_and(|json| Sha256::digest(&json)[..] == meta.sha256)
}

fn encode_metadata(meta: &GraphMeta, body: &[u8]) -> String {
    let drawing = meta.drawing_name.as_deref().map_or("null".into(), quoted);
    format!(
        concat!(
            "{{\"format\":1,\"graph_id\":{},\"version\":{},\"schema_version\":{},\"drawing_name\":{},",
            "\"nodes\":{},\"edges\":{},\"size\":{},\"created_on\":{},",
            "\"sha256\":\"{}\",\"content\":\"{}\",\"packed\":\"{}\"}}"
        ),
        quoted(meta.graph_id.as_str()),
        quoted(meta.version.as_str()),
        quoted(&meta.schema_version),
        drawing,
        meta.nodes,
        meta.edges,
        meta.size,
        meta.created_on.0,
        HEXLOWER.encode(&meta.sha256),
        HEXLOWER.encode(&meta.content_hash),
        HEXLOWER.encode(&Sha256::digest(body)),
    )
}

fn parse_metadata(metadata: &[u8], graph_id: &GraphId) -> Option<(GraphMeta, [u8; 32])> {
    let graph = Graph::from_json(metadata).ok()?;
    let metadata = graph.root().as_object()?;
    let is_of_graph = number(metadata, "format")? == 1 && text(metadata, "graph_id")? == graph_id.as_str();
    let meta = GraphMeta {
        graph_id: graph_id.clone(),
        version: Version::named(text(metadata, "version")?),
        schema_version: text(metadata, "schema_version")?.into(),
        drawing_name: text(metadata, "drawing_name").map(str::to_owned),
        nodes: number(metadata, "nodes")?,
        edges: number(metadata, "edges")?,
        size: number(metadata, "size")?,
        sha256: unhex(text(metadata, "sha256")?)?,
        content_hash: unhex(text(metadata, "content")?)?,
        created_on: Timestamp(number(metadata, "created_on")?.try_into().ok()?),
    };
    is_of_graph.then_some((meta, unhex(text(metadata, "packed")?)?))
}

fn text<'g>(metadata: Object<'g>, key: &str) -> Option<&'g str> {
    metadata.get(key).and_then(Value::as_str)
}

/// Returns a number of the metadata; all stay far below 2^53.
fn number(metadata: Object<'_>, key: &str) -> Option<u64> {
    metadata.get(key).and_then(Value::as_f64).map(|number| number as u64)
}
