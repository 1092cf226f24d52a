//! Evaluation metrics of rankings, computed as by trec_eval.

use std::collections::BTreeMap;

/// Relevance judgments of a query by document; 0 means not relevant.
pub type Judgments = BTreeMap<String, i64>;

/// A metric: a row of [`MEASURES`].
pub struct Measure {
    /// Name in trec_eval.
    pub name: &'static str,
    /// Computes the metric from the relevance of the found documents, best first, and of all judged documents.
    compute: fn(&[i64], &[i64]) -> f64,
}

/// All metrics.
pub const MEASURES: &[Measure] = &[
    Measure { name: "P_5", compute: |found, _| precision(found, 5) },
    Measure { name: "P_10", compute: |found, _| precision(found, 10) },
    Measure { name: "map", compute: average_precision },
    Measure { name: "ndcg_cut_5", compute: |found, judged| ndcg(found, judged, 5) },
    Measure { name: "ndcg_cut_10", compute: |found, judged| ndcg(found, judged, 10) },
    Measure { name: "recall_5", compute: |found, judged| recall(found, judged, 5) },
    Measure { name: "recall_10", compute: |found, judged| recall(found, judged, 10) },
    Measure { name: "recall_20", compute: |found, judged| recall(found, judged, 20) },
    Measure { name: "recall_100", compute: |found, judged| recall(found, judged, 100) },
    Measure { name: "recip_rank", compute: |found, _| reciprocal_rank(found) },
    Measure { name: "success_1", compute: |found, _| success(found, 1) },
    Measure { name: "success_5", compute: |found, _| success(found, 5) },
    Measure { name: "success_10", compute: |found, _| success(found, 10) },
];

/// Computes all metrics of a ranking, given as documents with scores in any order. As in trec_eval, the greater name comes
/// first among equal scores, and scores are compared in single precision.
pub fn measure(ranking: &[(String, f64)], judged: &Judgments) -> Vec<(&'static str, f64)> {
    let mut ranking: Vec<_> = ranking.iter().map(|(name, score)| (name, *score as f32)).collect();
    ranking.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(a.0)));
    let found: Vec<i64> = ranking.iter().map(|(name, _)| judged.get(*name).copied().unwrap_or(0)).collect();
    let all: Vec<i64> = judged.values().copied().collect();
    MEASURES.iter().map(|measure| (measure.name, (measure.compute)(&found, &all))).collect()
}

fn relevant(relevances: &[i64]) -> usize {
    relevances.iter().filter(|&&relevance| relevance > 0).count()
}

fn top(found: &[i64], depth: usize) -> &[i64] {
    &found[..depth.min(found.len())]
}

fn precision(found: &[i64], depth: usize) -> f64 {
    relevant(top(found, depth)) as f64 / depth as f64
}

fn recall(found: &[i64], judged: &[i64], depth: usize) -> f64 {
    ratio(relevant(top(found, depth)) as f64, relevant(judged) as f64)
}

fn success(found: &[i64], depth: usize) -> f64 {
    if relevant(top(found, depth)) > 0 { 1.0 } else { 0.0 }
}

fn reciprocal_rank(found: &[i64]) -> f64 {
    found.iter().position(|&relevance| relevance > 0).map_or(0.0, |at| 1.0 / (at + 1) as f64)
}

fn average_precision(found: &[i64], judged: &[i64]) -> f64 {
    let mut hits = 0.0;
    let mut sum = 0.0;
    for (at, _) in found.iter().enumerate().filter(|&(_, &relevance)| relevance > 0) {
        hits += 1.0;
        sum += hits / (at + 1) as f64;
    }
    ratio(sum, relevant(judged) as f64)
}

/// K. Järvelin, J. Kekäläinen: Cumulated gain-based evaluation of IR techniques, 2002, with the relevance as the gain.
fn ndcg(found: &[i64], judged: &[i64], depth: usize) -> f64 {
    let mut ideal = judged.to_vec();
    ideal.sort_unstable_by(|a, b| b.cmp(a));
    ratio(gain(top(found, depth)), gain(top(&ideal, depth)))
}

fn gain(relevances: &[i64]) -> f64 {
    relevances.iter().enumerate().map(|(at, &relevance)| relevance.max(0) as f64 / ((at + 2) as f64).log2()).sum()
}

fn ratio(part: f64, whole: f64) -> f64 {
    if whole == 0.0 { 0.0 } else { part / whole }
}
