//! A histogram that is added to without a lock.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use prometheus_client::encoding::{EncodeMetric, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::{MetricType, TypedMetric};

/// How often values were at most so large. Clones count together.
#[derive(Clone, Debug)]
pub(super) struct Spread(Arc<Counts>);

#[derive(Debug)]
struct Counts {
    /// Bounds, each with the values that are above the one before; the last one is infinite.
    buckets: Vec<(f64, AtomicU64)>,
    /// The bits of an `f64`.
    sum: AtomicU64,
}

impl Spread {
    pub fn new(bounds: impl Iterator<Item = f64>) -> Spread {
        let buckets = bounds.chain([f64::INFINITY]).map(|bound| (bound, AtomicU64::new(0))).collect();
        Spread(Arc::new(Counts { buckets, sum: AtomicU64::new(0f64.to_bits()) }))
    }

    pub fn observe(&self, value: f64) {
        if let Some((_, count)) = self.0.buckets.iter().find(|(bound, _)| value <= *bound) {
            count.fetch_add(1, Relaxed);
        }
        let add = |bits| Some((f64::from_bits(bits) + value).to_bits());
        // It never gives up: the closure always has a value.
        let _ = self.0.sum.fetch_update(Relaxed, Relaxed, add);
    }
}

impl EncodeMetric for Spread {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> fmt::Result {
        let buckets: Vec<(f64, u64)> =
            self.0.buckets.iter().map(|(bound, count)| (*bound, count.load(Relaxed))).collect();
        let count = buckets.iter().map(|(_, count)| count).sum();
        encoder.encode_histogram::<NoLabelSet>(f64::from_bits(self.0.sum.load(Relaxed)), count, &buckets, None)
    }

    fn metric_type(&self) -> MetricType {
        Spread::TYPE
    }
}

impl TypedMetric for Spread {
    const TYPE: MetricType = MetricType::Histogram;
}

#[cfg(test)]
mod tests {
    use prometheus_client::encoding::text;
    use prometheus_client::registry::Registry;

    use super::*;

    #[test]
    fn values_are_counted_where_they_belong() {
        let spread = Spread::new([1.0, 10.0].into_iter());
        [0.5, 1.0, 3.0, 1000.0].into_iter().for_each(|value| spread.observe(value));
        let mut registry = Registry::default();
        registry.register("fuel", "Fuel", spread.clone());
        let mut shown = String::new();
        text::encode(&mut shown, &registry).expect("a text");
        for line in
            ["fuel_sum 1004.5", "fuel_count 4", "{le=\"1.0\"} 2", "{le=\"10.0\"} 3", "{le=\"+Inf\"} 4", "histogram"]
        {
            assert!(shown.contains(line), "{line} in {shown}");
        }
    }
}
