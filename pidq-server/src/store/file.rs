//! A version as one file: a frame that decoders of zstd skip, with what is known of the version, and a frame of zstd
//! with its JSON. `zstd -d` reads it as it is.

use bytes::Bytes;
use pidq_core::{Graph, Object, Value};
use sha2::{Digest, Sha256};

use super::error::Result;
use super::packing::{pack, unpack_own};
use super::{Coding, JobId, Meta, Timestamp, Version, hex, unhex};
use crate::door::Draft;
use crate::door::json::quoted;

/// A skippable frame of RFC 8878.
const SKIPPED: [u8; 4] = 0x184d_2a50_u32.to_le_bytes();
/// Mark and length of the first frame, and the check of what is known.
const HEAD: usize = 16;
/// Bytes that hold what is known, but for drawings with very long names.
pub(super) const USUAL_HEAD: usize = 1024;

/// A version, ready to be stored.
pub(super) struct Packed {
    pub meta: Meta,
    /// One frame of zstd.
    pub body: Vec<u8>,
}

impl Packed {
    /// Numbers a draft, hashes it and packs it: CPU work.
    pub fn new(draft: &Draft, version: Version) -> Result<Packed> {
        let json = draft.to_json(version.as_str());
        let meta = numbered(draft, version, &json);
        Ok(Packed { meta, body: pack(&json)? })
    }

    /// The SHA-256 of the body.
    pub fn body_hash(&self) -> [u8; 32] {
        Sha256::digest(&self.body).into()
    }

    /// The first frame of the file. The second is the body.
    pub fn head(&self) -> Vec<u8> {
        let known = known(&self.meta, &self.body);
        let mut head = SKIPPED.to_vec();
        head.extend((known.len() as u32 + 8).to_le_bytes());
        head.extend(&Sha256::digest(&known)[..8]);
        head.extend(known.as_bytes());
        head
    }
}

/// What is known of a draft that has got its version.
pub(crate) fn numbered(draft: &Draft, version: Version, json: &[u8]) -> Meta {
    Meta {
        job: draft.job.clone(),
        version,
        schema_version: draft.schema_version.clone(),
        drawing_name: draft.drawing_name.clone(),
        nodes: draft.nodes,
        edges: draft.edges,
        size: json.len() as u64,
        sha256: Sha256::digest(json).into(),
        content: draft.content,
        created_on: Timestamp::now(),
    }
}

/// A file that was read, or its beginning.
pub(super) struct Stored {
    pub meta: Meta,
    packed: [u8; 32],
    /// Where the body begins.
    body: usize,
}

/// What reading the beginning of a file gives.
pub(super) enum Beginning {
    /// All that is known.
    Whole(Box<Stored>),
    /// It takes so many bytes.
    Longer(usize),
    /// It is no file of ours.
    Damaged,
}

impl Stored {
    pub fn begin(bytes: &[u8], job: &JobId) -> Beginning {
        let Some((head, rest)) = bytes.split_at_checked(HEAD) else { return Beginning::Damaged };
        let len = u32::from_le_bytes([head[4], head[5], head[6], head[7]]) as usize;
        if head[..4] != SKIPPED || !(8..1 << 20).contains(&len) {
            return Beginning::Damaged;
        }
        let Some(known) = rest.get(..len - 8) else { return Beginning::Longer(len + 8) };
        let is_ours = Sha256::digest(known)[..8] == head[8..];
        match is_ours.then(|| parse(known, job)).flatten() {
            Some((meta, packed)) => Beginning::Whole(Box::new(Stored { meta, packed, body: len + 8 })),
            None => Beginning::Damaged,
        }
    }

    /// The content of a whole file in a coding, if it is what was stored.
    pub fn content(&self, file: &Bytes, coding: Coding) -> Option<Bytes> {
        content(&self.meta, &self.packed, file.slice(self.body.min(file.len())..), coding)
    }

    /// Whether all hashes of a whole file hold.
    pub fn is_sound(&self, file: &Bytes) -> bool {
        is_sound(&self.meta, self.content(file, Coding::Identity))
    }
}

/// A body in a coding, if it has the hash that it was stored with.
pub(super) fn content(meta: &Meta, packed: &[u8], body: Bytes, coding: Coding) -> Option<Bytes> {
    let is_whole = Sha256::digest(&body)[..] == *packed;
    match coding {
        _ if !is_whole => None,
        Coding::Zstd => Some(body),
        Coding::Identity => unpack_own(&body, meta.size.try_into().ok()?),
    }
}

/// Whether this is the JSON that was stored.
pub(super) fn is_sound(meta: &Meta, json: Option<Bytes>) -> bool {
    json.is_some_and(|json| Sha256::digest(&json)[..] == meta.sha256)
}

fn known(meta: &Meta, body: &[u8]) -> String {
    let drawing = meta.drawing_name.as_deref().map_or("null".into(), quoted);
    format!(
        concat!(
            "{{\"format\":1,\"job\":{},\"version\":{},\"schema_version\":{},\"drawing_name\":{},",
            "\"nodes\":{},\"edges\":{},\"size\":{},\"created_on\":{},",
            "\"sha256\":\"{}\",\"content\":\"{}\",\"packed\":\"{}\"}}"
        ),
        quoted(meta.job.as_str()),
        quoted(meta.version.as_str()),
        quoted(&meta.schema_version),
        drawing,
        meta.nodes,
        meta.edges,
        meta.size,
        meta.created_on.0,
        hex(&meta.sha256),
        hex(&meta.content),
        hex(&Sha256::digest(body)),
    )
}

fn parse(known: &[u8], job: &JobId) -> Option<(Meta, [u8; 32])> {
    let graph = Graph::from_json(known).ok()?;
    let known = graph.root().as_object()?;
    let is_of_job = number(known, "format")? == 1 && text(known, "job")? == job.as_str();
    let meta = Meta {
        job: job.clone(),
        version: Version::named(text(known, "version")?),
        schema_version: text(known, "schema_version")?.into(),
        drawing_name: text(known, "drawing_name").map(str::to_owned),
        nodes: number(known, "nodes")?,
        edges: number(known, "edges")?,
        size: number(known, "size")?,
        sha256: unhex(text(known, "sha256")?)?,
        content: unhex(text(known, "content")?)?,
        created_on: Timestamp(number(known, "created_on")?),
    };
    is_of_job.then_some((meta, unhex(text(known, "packed")?)?))
}

fn text<'g>(known: Object<'g>, key: &str) -> Option<&'g str> {
    known.get(key).and_then(Value::as_str)
}

/// Numbers of files stay far below 2^53.
fn number(known: Object<'_>, key: &str) -> Option<u64> {
    known.get(key).and_then(Value::as_f64).map(|number| number as u64)
}
