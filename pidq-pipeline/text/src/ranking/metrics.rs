//! Evaluation metrics of rankings, computed as by trec_eval.

use std::collections::BTreeMap;

/// Relevance judgments of a query by document; 0 means not relevant.
pub type Judgments = BTreeMap<String, i64>;

/// A metric: a row of [`MEASURES`].
pub struct Measure {
    /// Name in trec_eval.
    pub name: &'static str,
    /// Computes the metric from the relevance of the retrieved documents, best first, and of all judged documents.
    compute: fn(&[i64], &[i64]) -> f64,
}

/// All metrics.
pub const MEASURES: &[Measure] = &[
    Measure { name: "P_5", compute: |retrieved, _| precision(retrieved, 5) },
    Measure { name: "P_10", compute: |retrieved, _| precision(retrieved, 10) },
    Measure { name: "map", compute: average_precision },
    Measure { name: "ndcg_cut_5", compute: |retrieved, judged| ndcg(retrieved, judged, 5) },
    Measure { name: "ndcg_cut_10", compute: |retrieved, judged| ndcg(retrieved, judged, 10) },
    Measure { name: "recall_5", compute: |retrieved, judged| recall(retrieved, judged, 5) },
    Measure { name: "recall_10", compute: |retrieved, judged| recall(retrieved, judged, 10) },
    Measure { name: "recall_20", compute: |retrieved, judged| recall(retrieved, judged, 20) },
    Measure { name: "recall_100", compute: |retrieved, judged| recall(retrieved, judged, 100) },
    Measure { name: "recip_rank", compute: |retrieved, _| reciprocal_rank(retrieved) },
    Measure { name: "success_1", compute: |retrieved, _| success(retrieved, 1) },
    Measure { name: "success_5", compute: |retrieved, _| success(retrieved, 5) },
    Measure { name: "success_10", compute: |retrieved, _| success(retrieved, 10) },
];

/// Computes all metrics of a ranking, given as documents with scores in any order. As in trec_eval, the greater name comes
/// first among equal scores, and scores are compared in single precision.
pub fn measure(ranking: &[(String, f64)], judged: &Judgments) -> Vec<(&'static str, f64)> {
    let mut ranking: Vec<_> = ranking.iter().map(|(name, score)| (name, *score as f32)).collect();
    ranking.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(a.0)));
    let retrieved: Vec<i64> = ranking.iter().map(|(name, _)| judged.get(*name).copied().unwrap_or(0)).collect();
    let all: Vec<i64> = judged.values().copied().collect();
    MEASURES.iter().map(|measure| (measure.name, (measure.compute)(&retrieved, &all))).collect()
}

fn relevant(relevances: &[i64]) -> usize {
    relevances.iter().filter(|&&relevance| relevance > 0).count()
}

fn top(retrieved: &[i64], depth: usize) -> &[i64] {
    &retrieved[..depth.min(retrieved.len())]
}

fn precision(retrieved: &[i64], depth: usize) -> f64 {
    relevant(top(retrieved, depth)) as f64 / depth as f64
}

fn recall(retrieved: &[i64], judged: &[i64], depth: usize) -> f64 {
    ratio(relevant(top(retrieved, depth)) as f64, relevant(judged) as f64)
}

fn success(retrieved: &[i64], depth: usize) -> f64 {
    if relevant(top(retrieved, depth)) > 0 { 1.0 } else { 0.0 }
}

fn reciprocal_rank(retrieved: &[i64]) -> f64 {
    retrieved.iter().position(|&relevance| relevance > 0).map_or(0.0, |index| 1.0 / (index + 1) as f64)
}

fn average_precision(retrieved: &[i64], judged: &[i64]) -> f64 {
    let mut hits = 0.0;
    let mut sum = 0.0;
    for (index, _) in retrieved.iter().enumerate().filter(|&(_, &relevance)| relevance > 0) {
        hits += 1.0;
        sum += hits / (index + 1) as f64;
    }
    ratio(sum, relevant(judged) as f64)
}

/// K. Järvelin, J. Kekäläinen: Cumulated gain-based evaluation of IR techniques, 2002, with the relevance as the gain.
fn ndcg(retrieved: &[i64], judged: &[i64], depth: usize) -> f64 {
    let mut ideal = judged.to_vec();
    ideal.sort_unstable_by(|a, b| b.cmp(a));
    ratio(gain(top(retrieved, depth)), gain(top(&ideal, depth)))
}

fn gain(relevances: &[i64]) -> f64 {
    relevances.iter().enumerate().map(|(index, &relevance)| relevance.max(0) as f64 / ((index + 2) as f64).log2()).sum()
}

fn ratio(part: f64, whole: f64) -> f64 {
    if whole == 0.0 { 0.0 } else { part / whole }
}
