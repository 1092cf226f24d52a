//! Whether the servers that the platform can do without are there: what `/readyz` and the metrics say of them.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pidq_http::prometheus_client::collector::Collector;
use pidq_http::prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use pidq_http::prometheus_client::metrics::MetricType;
use pidq_http::prometheus_client::metrics::gauge::ConstGauge;

/// A server that may go away while the platform goes on. Clones are of one server.
#[derive(Clone)]
pub struct Health(Arc<Known>);

struct Known {
    name: &'static str,
    without: &'static str,
    up: AtomicBool,
    told: AtomicBool,
    /// Why it could not be reached the last time.
    why: Mutex<String>,
}

impl Health {
    /// A server that nobody has reached yet, and what is different without it.
    pub fn of(name: &'static str, without: &'static str) -> Health {
        let (up, told) = (AtomicBool::new(false), AtomicBool::new(false));
        Health(Arc::new(Known { name, without, up, told, why: Mutex::default() }))
    }

    /// What it is called.
    pub fn name(&self) -> &'static str {
        self.0.name
    }

    /// Whether it answered when it was last asked.
    pub fn is_up(&self) -> bool {
        self.0.up.load(Ordering::Relaxed)
    }

    /// Notes what somebody found. A change is a line in the log, and only a change.
    pub fn found(&self, up: bool) {
        let changed = self.0.up.swap(up, Ordering::Relaxed) != up;
        let first = !self.0.told.swap(true, Ordering::Relaxed);
        let Known { name, without, .. } = *self.0;
        if up {
            self.reason().clear();
        }
        match (changed || first, up) {
            (false, _) => {}
            (true, true) => tracing::info!(server = name, "it answers"),
            (true, false) => tracing::warn!(server = name, without, "it does not answer"),
        }
    }

    /// Notes why somebody could not reach it. Another reason is a line in the log, and the same one is none.
    pub fn failed(&self, why: &str) {
        let Known { name, without, .. } = *self.0;
        let before = std::mem::replace(&mut *self.reason(), why.to_owned());
        self.0.told.store(true, Ordering::Relaxed);
        if self.0.up.swap(false, Ordering::Relaxed) || before != why {
            tracing::warn!(server = name, why, without, "it cannot be reached");
        }
    }

    /// Why it could not be reached, if it cannot and that is known.
    pub fn why(&self) -> String {
        self.reason().clone()
    }

    fn reason(&self) -> MutexGuard<'_, String> {
        self.0.why.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0.name, if self.is_up() { "up" } else { "down" })
    }
}

/// Servers as the metrics show them: 1 for one that answers.
#[derive(Debug)]
pub(crate) struct Servers(pub Vec<Health>);

impl Collector for Servers {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let help = "Whether a server answers that the platform can do without";
        let mut metric = encoder.encode_descriptor("pidq_pipeline_server_up", help, None, MetricType::Gauge)?;
        for server in &self.0 {
            let up = ConstGauge::new(i64::from(server.is_up()));
            up.encode(metric.encode_family(&[("server", server.name())])?)?;
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
    fn the_metrics_have_a_line_for_each_server() {
        let (redis, nats) = (Health::of("redis", ""), Health::of("nats", ""));
        nats.found(true);
        let mut registry = Registry::default();
        registry.register_collector(Box::new(Servers(vec![redis, nats])));
        let mut text = String::new();
        encode(&mut text, &registry).expect("a string takes all");
        let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(
            lines,
            ["pidq_pipeline_server_up{server=\"redis\"} 0", "pidq_pipeline_server_up{server=\"nats\"} 1"]
        );
    }
}
