//! Answers that were asked for before, ready to be sent again; and what is remembered of those that were not kept.
//!
//! An answer depends on the version of a graph and on the request alone. Who asks is checked before anybody looks in
//! here, and the tenant is a part of the key.

use std::convert::Infallible;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use bytes::Bytes;
use pidq_http::Fingerprint;
use pidq_http::header::HeaderValue;

use crate::graphs::GraphKey;
use crate::graphs::cache::{Cache, ENTRY, Held};
use crate::store::{Meta, Tenant};

/// Answers that are kept. Most are small.
const ANSWERS: usize = 10_000;
/// Questions that are remembered.
const QUESTIONS: usize = 1 << 14;

/// A question: the body of a request about a version of a graph.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) struct ResultKey {
    graph: GraphKey,
    body: Bytes,
}

impl ResultKey {
    pub fn new(tenant: &Tenant, meta: &Meta, body: &Bytes) -> ResultKey {
        ResultKey { graph: GraphKey::new(tenant, meta), body: body.clone() }
    }

    /// The same without what else came over the connection.
    fn alone(&self) -> ResultKey {
        ResultKey { graph: self.graph.clone(), body: Bytes::copy_from_slice(&self.body) }
    }
}

/// An answer that is ready to be sent.
#[derive(Debug)]
pub(crate) struct Ready {
    pub body: Bytes,
    pub headers: Headers,
}

/// What the headers of an answer tell, and its line in the log.
#[derive(Clone, Debug)]
pub(crate) struct Headers {
    pub kind: &'static str,
    pub fuel: u64,
    pub fuel_used: HeaderValue,
    pub version: Option<HeaderValue>,
    pub query: Fingerprint,
}

/// How long an answer takes to be found.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Effort {
    /// Less than handing it to another thread.
    Short,
    Long,
}

/// Where a question is remembered, and what it is known by there.
#[derive(Clone, Copy)]
pub(crate) struct Question<'r> {
    slot: &'r AtomicU64,
    fingerprint: u64,
}

/// The bytes of an answer until nobody has them.
struct Alive {
    body: Bytes,
    all: Arc<AtomicUsize>,
}

impl AsRef<[u8]> for Alive {
    fn as_ref(&self) -> &[u8] {
        &self.body
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.all.fetch_sub(self.body.len(), Relaxed);
    }
}

/// Answers, and questions.
#[derive(Debug)]
pub struct Results {
    kept: Cache<ResultKey, Ready, Infallible>,
    /// Bytes of those that are kept, of those that are read beyond that, and of one.
    bytes: usize,
    most: usize,
    /// Bytes of answers that were kept here and are kept, or being read.
    alive: Arc<AtomicUsize>,
    hasher: RandomState,
    /// Fingerprints of questions; the lowest bit is whether the answer takes long. A newer one takes the place of another.
    questions: Box<[AtomicU64]>,
}

impl Results {
    /// Takes so many bytes for answers.
    pub fn new(bytes: usize) -> Results {
        let questions = (0..QUESTIONS).map(|_| AtomicU64::new(0)).collect();
        let (bytes, most) = (bytes / 2, bytes * 3 / 8);
        let kept = Cache::new(bytes, ANSWERS);
        Results { kept, bytes, most, alive: Arc::default(), hasher: RandomState::new(), questions }
    }

    /// The answer, if it is kept.
    pub(crate) fn get(&self, key: &ResultKey) -> Option<Arc<Ready>> {
        self.kept.get(key)
    }

    /// Keeps an answer, and gives back its bytes.
    pub(crate) fn put(&self, key: &ResultKey, body: Bytes, headers: Headers) -> Bytes {
        let bytes = body.len() + key.body.len();
        self.alive.fetch_add(body.len(), Relaxed);
        let body = Bytes::from_owner(Alive { body, all: self.alive.clone() });
        self.kept.put(&key.alone(), &Arc::new(Ready { body: body.clone(), headers }), bytes);
        body
    }

    /// Whether an answer of such a length is to be kept. Those that went from here and are still being read count: they
    /// and those that are kept have half of the bytes each.
    pub(crate) fn have_room_for(&self, len: usize) -> bool {
        let kept = self.kept.held().bytes;
        let read = self.alive.load(Relaxed).saturating_sub(kept);
        len + ENTRY <= self.most && read + len <= self.bytes
    }

    /// What is remembered of a question.
    pub(crate) fn question(&self, key: &ResultKey) -> Question<'_> {
        let hash = self.hasher.hash_one(key);
        // Never that of an empty slot.
        let fingerprint = hash & !1 | 1 << 63;
        Question { slot: &self.questions[hash as usize >> 1 & (QUESTIONS - 1)], fingerprint }
    }

    /// What is kept.
    pub fn held(&self) -> Held {
        self.kept.held()
    }
}

impl Question<'_> {
    /// How long its answer took, if it was asked before and that is remembered.
    pub(crate) fn effort(self) -> Option<Effort> {
        match self.slot.load(Relaxed) ^ self.fingerprint {
            0 => Some(Effort::Short),
            1 => Some(Effort::Long),
            _ => None,
        }
    }

    /// Remembers that it was asked, and how long its answer took.
    pub(crate) fn asked(self, effort: Effort) {
        self.slot.store(self.fingerprint | u64::from(effort == Effort::Long), Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{JobId, Timestamp, Version};

    fn key(tenant: &str, version: u64, body: &'static str) -> ResultKey {
        let meta = Meta {
            job: JobId::parse("unit-7").expect("a job"),
            version: Version::number(version),
            schema_version: "1".into(),
            drawing_name: None,
            nodes: 0,
            edges: 0,
            size: 0,
            sha256: [0; 32],
            content: [0; 32],
            created_on: Timestamp(0),
        };
        ResultKey::new(&Tenant::parse(tenant).expect("a tenant"), &meta, &Bytes::from_static(body.as_bytes()))
    }

    fn put(results: &Results, key: &ResultKey, body: &'static str) -> Bytes {
        let (fuel_used, query) = (HeaderValue::from_static("1"), Fingerprint::of("get()"));
        let headers = Headers { kind: "array", fuel: 1, fuel_used, version: None, query };
        results.put(key, Bytes::from_static(body.as_bytes()), headers)
    }

    #[test]
    fn an_answer_is_for_one_question_about_one_version_of_one_tenant() {
        let results = Results::new(1 << 20);
        put(&results, &key("acme", 1, "q"), "a");
        let found = |key| results.get(&key).map(|ready| ready.body.clone());
        assert_eq!(found(key("acme", 1, "q")), Some(Bytes::from("a")));
        assert_eq!(found(key("rival", 1, "q")), None);
        assert_eq!(found(key("acme", 2, "q")), None);
        assert_eq!(found(key("acme", 1, "r")), None);
    }

    #[test]
    fn what_is_kept_has_a_bound() {
        let results = Results::new(8 * ENTRY);
        for version in 0..100 {
            put(&results, &key("acme", version, "q"), "a");
        }
        assert!(results.held().bytes <= 4 * ENTRY && results.held().count > 0);
        assert!(results.have_room_for(2 * ENTRY) && !results.have_room_for(2 * ENTRY + 1));
    }

    #[test]
    fn what_is_still_read_counts_after_it_went() {
        const TEXT: &str = "0123456789";
        let results = Results::new(16 * ENTRY);
        let read: Vec<Bytes> = (0..900).map(|version| put(&results, &key("acme", version, "q"), TEXT)).collect();
        assert!(!results.have_room_for(1));
        drop(read);
        assert!(results.have_room_for(1));
    }

    #[test]
    fn a_question_is_remembered_with_its_effort() {
        let results = Results::new(0);
        let effort = |version| results.question(&key("acme", version, "q")).effort();
        assert_eq!(effort(1), None);
        for found in [Effort::Short, Effort::Long, Effort::Short] {
            results.question(&key("acme", 1, "q")).asked(found);
            assert_eq!(effort(1), Some(found));
        }
        assert_eq!(effort(2), None);
    }
}
