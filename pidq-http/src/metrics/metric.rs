//! Rows of the metrics tables: name, type, unit, labels and description of a metric.

use std::fmt;
use std::marker::PhantomData;

use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, MetricEncoder};
use prometheus_client::metrics::{MetricType, TypedMetric};
use prometheus_client::registry::{Registry, Unit};

/// Definition of a metric with `N` labels. Rows are declared with [`metrics!`](crate::metrics!).
pub struct Metric<M, const N: usize> {
    name: &'static str,
    labels: [&'static str; N],
    summary: &'static str,
    metric: PhantomData<fn() -> M>,
}

impl<M: TypedMetric, const N: usize> Metric<M, N> {
    /// Creates a row from the name, the names of the labels, and the description in one sentence. A name that ends in
    /// `_seconds` or `_bytes` defines the unit (OpenMetrics 1.0, "Metric Naming and Namespaces").
    pub const fn new(name: &'static str, labels: [&'static str; N], summary: &'static str) -> Metric<M, N> {
        Metric { name, labels, summary, metric: PhantomData }
    }

    /// Returns the labels with these values.
    pub fn labels<V>(&self, values: [V; N]) -> [(&'static str, V); N] {
        let mut names = self.labels.into_iter();
        // There are as many names as values.
        values.map(|value| (names.next().unwrap_or_default(), value))
    }

    /// Writes the description of the metric, and returns the encoder of its values, for a
    /// [`Collector`](prometheus_client::collector::Collector).
    ///
    /// # Errors
    /// If the writer fails.
    pub fn encode<'s>(&self, encoder: &'s mut DescriptorEncoder<'_>) -> Result<MetricEncoder<'s>, fmt::Error> {
        encoder.encode_descriptor(self.base_name(), self.summary, self.unit(), M::TYPE)
    }

    fn unit(&self) -> Option<&'static Unit> {
        static SECONDS: Unit = Unit::Seconds;
        static BYTES: Unit = Unit::Bytes;
        match self.name.rsplit_once('_') {
            Some((_, "seconds")) => Some(&SECONDS),
            Some((_, "bytes")) => Some(&BYTES),
            _ => None,
        }
    }

    /// Returns the name without the unit, which the encoder appends.
    fn base_name(&self) -> &'static str {
        match (self.unit(), self.name.rsplit_once('_')) {
            (Some(_), Some((base, _))) => base,
            _ => self.name,
        }
    }
}

impl<M, const N: usize> Metric<M, N>
where
    M: TypedMetric + EncodeMetric + fmt::Debug + Send + Sync + 'static,
{
    /// Registers a metric of this row.
    pub fn register(&self, registry: &mut Registry, metric: M) {
        // The registry appends a period.
        let (name, help) = (self.base_name(), self.summary.trim_end_matches('.'));
        match self.unit() {
            Some(unit) => registry.register_with_unit(name, help, unit.clone(), AlwaysDescribed(metric)),
            None => registry.register(name, help, AlwaysDescribed(metric)),
        }
    }
}

/// Metric whose description is exposed before its first value is recorded.
#[derive(Debug)]
struct AlwaysDescribed<M>(M);

impl<M: EncodeMetric> EncodeMetric for AlwaysDescribed<M> {
    fn encode(&self, encoder: MetricEncoder<'_>) -> fmt::Result {
        self.0.encode(encoder)
    }

    fn metric_type(&self) -> MetricType {
        self.0.metric_type()
    }

    fn is_empty(&self) -> bool {
        false
    }
}

/// Metric of any type, as a row of a table.
pub trait AnyMetric: Sync {
    /// Returns the name of the metric family, with the unit.
    fn name(&self) -> &'static str;

    /// Returns the type: `counter`, `gauge` or `histogram`.
    fn kind(&self) -> &'static str;

    /// Returns the names of the labels.
    fn label_names(&self) -> &[&'static str];

    /// Returns the description, in one sentence.
    fn summary(&self) -> &'static str;
}

impl<M: TypedMetric, const N: usize> AnyMetric for Metric<M, N> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn kind(&self) -> &'static str {
        M::TYPE.as_str()
    }

    fn label_names(&self) -> &[&'static str] {
        &self.labels
    }

    fn summary(&self) -> &'static str {
        self.summary
    }
}

/// Table of metrics.
pub type MetricTable = &'static [&'static dyn AnyMetric];

/// Returns a Markdown table with a row per metric. Counters have the suffix of their sample, `_total`.
pub fn metrics_table(tables: &[MetricTable]) -> String {
    let mut text = String::from("| metric | type | labels | description |\n|---|---|---|---|\n");
    for row in tables.iter().flat_map(|table| table.iter()) {
        let suffix = if row.kind() == "counter" { "_total" } else { "" };
        let labels: Vec<String> = row.label_names().iter().map(|label| format!("`{label}`")).collect();
        let (name, kind, labels, summary) = (row.name(), row.kind(), labels.join(", "), row.summary());
        text.push_str(&format!("| `{name}{suffix}` | {kind} | {labels} | {summary} |\n"));
    }
    text
}

/// Declares metrics and their table. A row has the name of its constant, its type, and the arguments of [`Metric::new`].
///
/// ```
/// use pidq_http::metrics;
/// use pidq_http::prometheus_client::metrics::counter::Counter;
/// use pidq_http::prometheus_client::metrics::family::Family;
///
/// metrics! {
///     /// Metrics of the example.
///     pub METRICS {
///         pub PUMPS: Family<[(&'static str, String); 1], Counter> = ("plant_pumps", ["unit"], "Pumps that started.");
///     }
/// }
/// let pumps = Family::<_, Counter>::default();
/// pumps.get_or_create(&PUMPS.labels(["20".to_owned()])).inc();
/// ```
///
/// The table does not refer to the constants, so that the compiler reports a private metric that is never registered.
#[macro_export]
macro_rules! metrics {
    (
        $(#[$attribute:meta])* $visibility:vis $table:ident {
            $($row_visibility:vis $name:ident: $type:ty = ($text:literal, [$($label:literal),*], $summary:literal);)*
        }
    ) => {
        $(
            #[doc = concat!("`", $text, "`: ", $summary)]
            $row_visibility const $name: $crate::Metric<$type, { 0 $(+ [$label].len())* }> =
                $crate::Metric::new($text, [$($label),*], $summary);
        )*

        $(#[$attribute])*
        $visibility const $table: $crate::MetricTable = &[$({
            const ROW: &$crate::Metric<$type, { 0 $(+ [$label].len())* }> =
                &$crate::Metric::new($text, [$($label),*], $summary);
            ROW
        }),*];
    };
}

#[cfg(test)]
mod tests {
    use prometheus_client::encoding::text;
    use prometheus_client::metrics::counter::Counter;
    use prometheus_client::metrics::family::Family;
    use prometheus_client::metrics::gauge::Gauge;

    use super::*;

    metrics! {
        TABLE {
            PUMPS: Family<[(&'static str, &'static str); 2], Counter> = ("plant_pumps", ["unit", "state"], "Pumps that started.");
            RUN_SECONDS: Gauge = ("plant_run_seconds", [], "Time of the last run.");
        }
    }

    #[test]
    fn a_metric_is_described_before_it_has_values() {
        let (mut registry, pumps) = (Registry::default(), Family::default());
        PUMPS.register(&mut registry, pumps.clone());
        RUN_SECONDS.register(&mut registry, Gauge::default());
        let encode = || {
            let mut text = String::new();
            text::encode(&mut text, &registry).map(|()| text).expect("a string")
        };
        let described = "# HELP plant_pumps Pumps that started.\n# TYPE plant_pumps counter\n";
        let run = "# HELP plant_run_seconds Time of the last run.\n# TYPE plant_run_seconds gauge\n\
                   # UNIT plant_run_seconds seconds\nplant_run_seconds 0\n# EOF\n";
        assert_eq!(encode(), format!("{described}{run}"));
        pumps.get_or_create(&PUMPS.labels(["20", "on"])).inc();
        assert_eq!(encode(), format!("{described}plant_pumps_total{{unit=\"20\",state=\"on\"}} 1\n{run}"));
    }

    #[test]
    fn the_reference_names_samples_and_labels() {
        let table = metrics_table(&[TABLE]);
        assert!(table.ends_with(
            "| `plant_pumps_total` | counter | `unit`, `state` | Pumps that started. |\n\
             | `plant_run_seconds` | gauge |  | Time of the last run. |\n"
        ));
    }
}
