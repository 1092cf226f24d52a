//! Health of optional dependencies, for `/readyz` and the metrics.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pidq_http::prometheus_client::collector::Collector;
use pidq_http::prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use pidq_http::prometheus_client::metrics::gauge::ConstGauge;

use crate::metrics::DEPENDENCY_UP;

/// Health of an optional dependency. Clones share it.
#[derive(Clone)]
pub struct DependencyHealth(Arc<Inner>);

struct Inner {
    name: &'static str,
    /// Setting with its URL.
    setting: &'static str,
    impact: &'static str,
    up: AtomicBool,
    logged: AtomicBool,
    /// Reason of the last failure.
    reason: Mutex<String>,
}

impl DependencyHealth {
    /// Creates the health of a dependency, initially down, with the setting of its URL and the impact of its absence.
    pub fn new(name: &'static str, setting: &'static str, impact: &'static str) -> DependencyHealth {
        let (up, logged) = (AtomicBool::new(false), AtomicBool::new(false));
        DependencyHealth(Arc::new(Inner { name, setting, impact, up, logged, reason: Mutex::default() }))
    }

    /// Returns the name.
    pub fn name(&self) -> &'static str {
        self.0.name
    }

    /// Returns true if the last attempt succeeded.
    pub fn is_up(&self) -> bool {
        self.0.up.load(Ordering::Relaxed)
    }

    /// Records a result. Only changes are logged.
    pub fn record(&self, up: bool) {
        let changed = self.0.up.swap(up, Ordering::Relaxed) != up;
        let first = !self.0.logged.swap(true, Ordering::Relaxed);
        let Inner { name, setting, impact, .. } = *self.0;
        if up {
            self.reason().clear();
        }
        match (changed || first, up) {
            (false, _) => {}
            (true, true) => tracing::info!(dependency = name, "dependency reachable"),
            (true, false) => tracing::warn!(dependency = name, setting, impact, "dependency unreachable"),
        }
    }

    /// Records a failure. Only new reasons are logged.
    pub fn record_failure(&self, reason: &str) {
        let Inner { name, setting, impact, .. } = *self.0;
        let before = std::mem::replace(&mut *self.reason(), reason.to_owned());
        self.0.logged.store(true, Ordering::Relaxed);
        if self.0.up.swap(false, Ordering::Relaxed) || before != reason {
            tracing::warn!(dependency = name, setting, reason, impact, "dependency unreachable");
        }
    }

    /// Returns the reason of the last failure; empty if it is up or unknown.
    pub fn failure_reason(&self) -> String {
        self.reason().clone()
    }

    fn reason(&self) -> MutexGuard<'_, String> {
        self.0.reason.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for DependencyHealth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0.name, if self.is_up() { "up" } else { "down" })
    }
}

/// Metrics collector of the availability of dependencies: 1 up, 0 down.
#[derive(Debug)]
pub(crate) struct DependencyCollector(pub Vec<DependencyHealth>);

impl Collector for DependencyCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut metric = DEPENDENCY_UP.encode(&mut encoder)?;
        for dependency in &self.0 {
            let up = ConstGauge::new(i64::from(dependency.is_up()));
            up.encode(metric.encode_family(&DEPENDENCY_UP.labels([dependency.name()]))?)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use pidq_http::prometheus_client::encoding::text::encode;
    use pidq_http::prometheus_client::registry::Registry;

    use super::*;

    #[test]
    fn the_metrics_have_a_line_for_each_dependency() {
        let (redis, nats) = (DependencyHealth::new("redis", "", ""), DependencyHealth::new("nats", "", ""));
        nats.record(true);
        let mut registry = Registry::default();
        registry.register_collector(Box::new(DependencyCollector(vec![redis, nats])));
        let mut text = String::new();
        encode(&mut text, &registry).expect("a string");
        let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(
            lines,
            [
                "pidq_pipeline_dependency_up{dependency=\"redis\"} 0",
                "pidq_pipeline_dependency_up{dependency=\"nats\"} 1"
            ]
        );
    }
}
