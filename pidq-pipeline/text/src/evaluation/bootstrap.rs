//! Confidence intervals of means by the bootstrap.
//!
//! B. Efron, R. Tibshirani: An Introduction to the Bootstrap, 1993 (percentile intervals).

/// Number of resamples.
const RESAMPLES: usize = 2000;
/// Probability outside the interval, on each side.
const TAIL: f64 = 0.025;

/// Returns the 95 % confidence interval of the mean of values. It is the same for the same values.
pub fn interval(values: &[f64]) -> [f64; 2] {
    if values.is_empty() {
        return [0.0; 2];
    }
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut means: Vec<f64> = (0..RESAMPLES).map(|_| resampled_mean(values, &mut random)).collect();
    means.sort_by(f64::total_cmp);
    let quantile = |share: f64| means[((RESAMPLES - 1) as f64 * share).round() as usize];
    [quantile(TAIL), quantile(1.0 - TAIL)]
}

fn resampled_mean(values: &[f64], random: &mut Random) -> f64 {
    let sum: f64 = values.iter().map(|_| values[random.below(values.len())]).sum();
    sum / values.len() as f64
}

/// The generator SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) % limit as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_have_an_interval_without_width() {
        assert_eq!((interval(&[]), interval(&[0.5; 20])), ([0.0; 2], [0.5; 2]));
    }

    #[test]
    fn the_interval_is_that_of_the_normal_approximation() {
        let values: Vec<f64> = (0..400).map(|index| f64::from(index % 2)).collect();
        // The standard error of a share of 0.5 of 400 is 0.025.
        for (found, expected) in interval(&values).into_iter().zip([0.451, 0.549]) {
            assert!((found - expected).abs() < 0.006, "{found}");
        }
    }
}
