//! Measurement of the calibration of a model on judged datasets.

use std::fmt;
use std::io;

use super::IndexedDataset;
use super::unrelated::UNRELATED_QUESTIONS;
use crate::embedding::Calibration;
use crate::search::Mode;

/// Weights that are tried.
const WEIGHTS: [f64; 9] = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8];
/// Largest loss of nDCG@10 on a dataset, compared with the weight 0.
const MAX_LOSS: f64 = 0.005;
/// Steps per unit of the cosine.
const SIMILARITY_STEPS: f64 = 100.0;

/// Measurement of a model on several datasets, displayed as a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurement {
    /// The calibration that follows from it.
    pub calibration: Calibration,
    /// nDCG@10 of hybrid search by weight, one list per dataset.
    gains: Vec<[f64; WEIGHTS.len()]>,
    /// Highest cosine of a passage and an unrelated question, by dataset.
    unrelated: Vec<f64>,
}

/// Measures the weight and the similarity of a model whose vectors the datasets contain.
///
/// The weight is that with the highest mean of nDCG@10 among those that lose at most 0.005 on every dataset. The similarity is
/// above the cosines of all unrelated questions on every dataset.
///
/// # Errors
/// Fails if a query cannot be embedded.
pub fn measure_calibration(datasets: &mut [IndexedDataset<'_>]) -> io::Result<Measurement> {
    let unrelated = datasets.iter().map(IndexedDataset::unrelated_similarity).collect::<io::Result<Vec<f64>>>()?;
    let gains = datasets.iter_mut().map(gains_by_weight).collect::<io::Result<Vec<_>>>()?;
    let calibration = Calibration { weight: best_weight(&gains), min_similarity: similarity_above(&unrelated) };
    Ok(Measurement { calibration, gains, unrelated })
}

fn gains_by_weight(dataset: &mut IndexedDataset<'_>) -> io::Result<[f64; WEIGHTS.len()]> {
    let mut gains = [0.0; WEIGHTS.len()];
    for (gain, weight) in gains.iter_mut().zip(WEIGHTS) {
        dataset.calibration.weight = weight;
        let values = dataset.values(Mode::Hybrid)?;
        *gain = values.iter().map(|[ndcg, ..]| ndcg).sum::<f64>() / values.len().max(1) as f64;
    }
    Ok(gains)
}

/// Returns the best weight; the lowest of equal ones.
fn best_weight(gains: &[[f64; WEIGHTS.len()]]) -> f64 {
    let (mut best, mut best_sum) = (0.0, f64::NEG_INFINITY);
    for (index, weight) in WEIGHTS.into_iter().enumerate() {
        let is_no_loss = gains.iter().all(|gains| gains[index] >= gains[0] - MAX_LOSS);
        let sum = gains.iter().map(|gains| gains[index]).sum::<f64>();
        if is_no_loss && sum > best_sum {
            (best, best_sum) = (weight, sum);
        }
    }
    best
}

/// Returns the lowest step above all cosines, at most 1.
fn similarity_above(cosines: &[f64]) -> f64 {
    let highest = cosines.iter().copied().fold(0.0, f64::max);
    (((highest * SIMILARITY_STEPS).floor() + 1.0) / SIMILARITY_STEPS).min(1.0)
}

impl fmt::Display for Measurement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "weight  nDCG@10 of hybrid search, by collection")?;
        for (index, weight) in WEIGHTS.iter().enumerate() {
            write!(f, "\n{weight:<6}")?;
            self.gains.iter().try_for_each(|gains| write!(f, "  {:.4}", gains[index]))?;
        }
        write!(f, "\nhighest cosine of {} unrelated questions:", UNRELATED_QUESTIONS.len())?;
        self.unrelated.iter().try_for_each(|cosine| write!(f, " {cosine:.3}"))?;
        let Calibration { weight, min_similarity } = self.calibration;
        write!(f, "\nweight {weight}, min_similarity {min_similarity}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gains(values: &[(usize, f64)]) -> [f64; WEIGHTS.len()] {
        let mut gains = [0.5; WEIGHTS.len()];
        values.iter().for_each(|(index, gain)| gains[*index] = *gain);
        gains
    }

    #[test]
    fn the_weight_is_best_on_average_and_costs_nothing_anywhere() {
        for (datasets, weight, cause) in [
            (vec![gains(&[])], 0.0, "no weight helps"),
            (vec![gains(&[(3, 0.6), (5, 0.55)])], 0.3, "the best one"),
            (vec![gains(&[(3, 0.6), (5, 0.6)])], 0.3, "the lowest of equal ones"),
            (vec![gains(&[(3, 0.6), (5, 0.7)]), gains(&[(5, 0.494)])], 0.3, "the best one has a loss on a dataset"),
            (vec![gains(&[(3, 0.6), (5, 0.7)]), gains(&[(5, 0.496)])], 0.5, "a loss that is tolerated"),
            (vec![gains(&[(1, 0.51), (2, 0.4)]), gains(&[(1, 0.4), (2, 0.51)])], 0.0, "each has a loss"),
        ] {
            assert!((best_weight(&datasets) - weight).abs() < 1e-9, "{cause}");
        }
    }

    #[test]
    fn the_similarity_is_above_all_cosines() {
        for (cosines, expected) in [
            (vec![], 0.01),
            (vec![0.5], 0.51),
            (vec![0.612, 0.3], 0.62),
            (vec![0.999], 1.0),
            (vec![1.0], 1.0),
            (vec![-0.2], 0.01),
        ] {
            assert!((similarity_above(&cosines) - expected).abs() < 1e-9, "{cosines:?}");
        }
    }
}
