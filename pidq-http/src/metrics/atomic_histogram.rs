//! Lock-free histogram.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use prometheus_client::encoding::{EncodeMetric, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::{MetricType, TypedMetric};

/// Histogram of atomic counters. Clones share them.
#[derive(Clone, Debug)]
pub(super) struct AtomicHistogram(Arc<Buckets>);

#[derive(Debug)]
struct Buckets {
    /// Upper bounds with the counts between them and the previous bound; the last one is infinite.
    buckets: Vec<(f64, AtomicU64)>,
    /// Bits of an `f64`.
    sum: AtomicU64,
}

impl AtomicHistogram {
    pub fn new(bounds: impl Iterator<Item = f64>) -> AtomicHistogram {
        let buckets = bounds.chain([f64::INFINITY]).map(|bound| (bound, AtomicU64::new(0))).collect();
        AtomicHistogram(Arc::new(Buckets { buckets, sum: AtomicU64::new(0f64.to_bits()) }))
    }

    pub fn observe(&self, value: f64) {
        if let Some((_, count)) = self.0.buckets.iter().find(|(bound, _)| value <= *bound) {
            count.fetch_add(1, Relaxed);
        }
        let add = |bits| Some((f64::from_bits(bits) + value).to_bits());
        // Cannot fail: the closure always returns a value.
        let _ = self.0.sum.fetch_update(Relaxed, Relaxed, add);
    }
}

impl EncodeMetric for AtomicHistogram {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> fmt::Result {
        let buckets: Vec<(f64, u64)> =
            self.0.buckets.iter().map(|(bound, count)| (*bound, count.load(Relaxed))).collect();
        let count = buckets.iter().map(|(_, count)| count).sum();
        encoder.encode_histogram::<NoLabelSet>(f64::from_bits(self.0.sum.load(Relaxed)), count, &buckets, None)
    }

    fn metric_type(&self) -> MetricType {
        AtomicHistogram::TYPE
    }
}

impl TypedMetric for AtomicHistogram {
    const TYPE: MetricType = MetricType::Histogram;
}

#[cfg(test)]
mod tests {
    use prometheus_client::encoding::text;
    use prometheus_client::registry::Registry;

    use super::*;

    #[test]
    fn values_are_counted_in_their_bucket() {
        let histogram = AtomicHistogram::new([1.0, 10.0].into_iter());
        [0.5, 1.0, 3.0, 1000.0].into_iter().for_each(|value| histogram.observe(value));
        let mut registry = Registry::default();
        registry.register("fuel", "Fuel", histogram.clone());
        let mut shown = String::new();
        text::encode(&mut shown, &registry).expect("a string");
        for line in
            ["fuel_sum 1004.5", "fuel_count 4", "{le=\"1.0\"} 2", "{le=\"10.0\"} 3", "{le=\"+Inf\"} 4", "histogram"]
        {
            assert!(shown.contains(line), "{line} in {shown}");
        }
    }
}
