//! What was found for a question a moment ago: by the same caller, under the same label, before anything changed there.
//!
//! The count of changes of the partition is in the name, so nothing is out of date, and so is the revision of the
//! pipeline with its policies. So is whoever asks: how fast an answer comes would tell others what was asked before. What
//! they may see is looked at before any of this.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Found, Passage, Wanted};
use crate::answer::Context;
use crate::cache::{Cache, PASSAGES, VECTORS};
use crate::embedding::{from_blob, to_blob};
use crate::policies::Policy;
use crate::records::Pipeline;

/// A question as it is remembered, if the label lets questions be.
pub(super) struct Remembered<'a> {
    cache: Option<&'a Cache>,
    vector: Vec<String>,
    passages: Vec<String>,
}

/// What was found, on its way.
#[derive(Deserialize, Serialize)]
struct Kept {
    passages: Vec<KeptPassage>,
    has_documents: bool,
}

/// A passage on its way. Scores go as bits: as text they could come back as their neighbours.
#[derive(Deserialize, Serialize)]
struct KeptPassage {
    context: Context,
    title: String,
    metadata: Map<String, Value>,
    /// Of the context, of its words, of its vector.
    scores: [u64; 3],
    rerank: Option<u64>,
}

impl Remembered<'_> {
    /// A question of somebody to a partition after so many changes.
    pub fn of<'a>(cache: &'a Cache, who: &str, pipeline: &Pipeline, changes: i64, wanted: &Wanted) -> Remembered<'a> {
        let (generation, revision) = (pipeline.generation.to_string(), pipeline.revision.to_string());
        let vector = vec![
            who.to_owned(),
            pipeline.id.clone(),
            generation,
            pipeline.embedding_model.clone(),
            wanted.classification.clone(),
            wanted.query.clone(),
        ];
        // A policy that cannot be read is told elsewhere.
        let retains = Policy::of(pipeline, &wanted.classification).is_ok_and(|policy| policy.retains());
        let how = format!("{:?} {} {:x} {:?}", wanted.mode, wanted.top, wanted.min_score.to_bits(), wanted.filter);
        let passages = vector.iter().cloned().chain([revision, changes.to_string(), how]).collect();
        Remembered { cache: retains.then_some(cache), vector, passages }
    }

    pub async fn vector(&self) -> Option<Vec<f32>> {
        from_blob(&self.cache?.get(&VECTORS, &parts(&self.vector)).await?)
    }

    pub async fn keep_vector(&self, vector: &[f32]) {
        if let Some(cache) = self.cache {
            cache.put(&VECTORS, &parts(&self.vector), to_blob(vector).into()).await;
        }
    }

    pub async fn found(&self) -> Option<Found> {
        let bytes = self.cache?.get(&PASSAGES, &parts(&self.passages)).await?;
        serde_json::from_slice::<Kept>(&bytes).ok().map(Kept::back)
    }

    /// Less than could be found is not what is found the next time.
    pub async fn keep(&self, found: &Found) {
        let bytes = serde_json::to_vec(&Kept::of(found));
        if let (Some(cache), Ok(bytes), true) = (self.cache, bytes, found.warnings.is_empty()) {
            cache.put(&PASSAGES, &parts(&self.passages), bytes.into()).await;
        }
    }
}

fn parts(of: &[String]) -> Vec<&str> {
    of.iter().map(String::as_str).collect()
}

impl Kept {
    fn of(found: &Found) -> Kept {
        Kept { passages: found.passages.iter().map(KeptPassage::of).collect(), has_documents: found.has_documents }
    }

    fn back(self) -> Found {
        let passages = self.passages.into_iter().map(KeptPassage::back).collect();
        Found { passages, has_documents: self.has_documents, warnings: Vec::new(), took: [Duration::ZERO; 2] }
    }
}

impl KeptPassage {
    fn of(passage: &Passage) -> KeptPassage {
        let [sparse, dense] = passage.scores;
        KeptPassage {
            context: passage.context.clone(),
            title: passage.title.clone(),
            metadata: passage.metadata.clone(),
            scores: [passage.context.score, sparse, dense].map(f64::to_bits),
            rerank: passage.rerank.map(f64::to_bits),
        }
    }

    fn back(self) -> Passage {
        let [score, sparse, dense] = self.scores.map(f64::from_bits);
        Passage {
            context: Context { score, ..self.context },
            title: self.title,
            metadata: self.metadata,
            scores: [sparse, dense],
            rerank: self.rerank.map(f64::from_bits),
        }
    }
}
