//! How good a ranking is, by what people judged: the measures of trec_eval, computed as it does.

use std::collections::BTreeMap;

/// How relevant each document is to a question: 0 is not at all.
pub type Judged = BTreeMap<String, i64>;

/// A measure: a row of [`MEASURES`].
pub struct Measure {
    /// Its name in trec_eval.
    pub name: &'static str,
    /// From the relevance of what was found, best first, and of all that was judged.
    of: fn(&[i64], &[i64]) -> f64,
}

/// All measures.
pub const MEASURES: &[Measure] = &[
    Measure { name: "P_5", of: |found, _| precision(found, 5) },
    Measure { name: "P_10", of: |found, _| precision(found, 10) },
    Measure { name: "map", of: average_precision },
    Measure { name: "ndcg_cut_5", of: |found, judged| ndcg(found, judged, 5) },
    Measure { name: "ndcg_cut_10", of: |found, judged| ndcg(found, judged, 10) },
    Measure { name: "recall_5", of: |found, judged| recall(found, judged, 5) },
    Measure { name: "recall_10", of: |found, judged| recall(found, judged, 10) },
    Measure { name: "recall_20", of: |found, judged| recall(found, judged, 20) },
    Measure { name: "recall_100", of: |found, judged| recall(found, judged, 100) },
    Measure { name: "recip_rank", of: |found, _| reciprocal_rank(found) },
    Measure { name: "success_1", of: |found, _| success(found, 1) },
    Measure { name: "success_5", of: |found, _| success(found, 5) },
    Measure { name: "success_10", of: |found, _| success(found, 10) },
];

/// Every measure of a ranking: documents with their scores, in any order. Of equal scores the greater name comes first,
/// and scores are compared in single precision, as trec_eval does.
pub fn measure(ranking: &[(String, f64)], judged: &Judged) -> Vec<(&'static str, f64)> {
    let mut ranking: Vec<_> = ranking.iter().map(|(name, score)| (name, *score as f32)).collect();
    ranking.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(a.0)));
    let found: Vec<i64> = ranking.iter().map(|(name, _)| judged.get(*name).copied().unwrap_or(0)).collect();
    let all: Vec<i64> = judged.values().copied().collect();
    MEASURES.iter().map(|measure| (measure.name, (measure.of)(&found, &all))).collect()
}

fn relevant(relevances: &[i64]) -> usize {
    relevances.iter().filter(|&&relevance| relevance > 0).count()
}

fn first(found: &[i64], most: usize) -> &[i64] {
    &found[..most.min(found.len())]
}

fn precision(found: &[i64], most: usize) -> f64 {
    relevant(first(found, most)) as f64 / most as f64
}

fn recall(found: &[i64], judged: &[i64], most: usize) -> f64 {
    share(relevant(first(found, most)) as f64, relevant(judged) as f64)
}

fn success(found: &[i64], most: usize) -> f64 {
    if relevant(first(found, most)) > 0 { 1.0 } else { 0.0 }
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
    share(sum, relevant(judged) as f64)
}

/// K. Järvelin, J. Kekäläinen: Cumulated gain-based evaluation of IR techniques, 2002, with the relevance as the gain.
fn ndcg(found: &[i64], judged: &[i64], most: usize) -> f64 {
    let mut ideal = judged.to_vec();
    ideal.sort_unstable_by(|a, b| b.cmp(a));
    share(gain(first(found, most)), gain(first(&ideal, most)))
}

fn gain(relevances: &[i64]) -> f64 {
    relevances.iter().enumerate().map(|(at, &relevance)| relevance.max(0) as f64 / ((at + 2) as f64).log2()).sum()
}

fn share(part: f64, whole: f64) -> f64 {
    if whole == 0.0 { 0.0 } else { part / whole }
}
