//! Conversion of OpenMetrics text to the Prometheus text format 0.0.4, for readers that do not know OpenMetrics.
//!
//! The older format describes a counter under the name of its samples, with `_total`, and has no units and no end.

/// Content type of the Prometheus text format.
pub(crate) const PROMETHEUS_TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Converts OpenMetrics text.
pub(crate) fn to_prometheus_text(open_metrics: &str) -> String {
    let is_counter = |name: &str| open_metrics.contains(&format!("# TYPE {name} counter\n"));
    let mut text = String::with_capacity(open_metrics.len());
    for line in open_metrics.lines() {
        let mut parts = line.splitn(4, ' ');
        match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some("#"), Some("EOF" | "UNIT"), ..) => continue,
            (Some("#"), Some(kind), Some(name), Some(rest)) if is_counter(name) => {
                text.extend(["# ", kind, " ", name, "_total ", rest]);
            }
            _ => text.push_str(line),
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_is_described_under_the_name_of_its_samples() {
        let open_metrics = "# HELP a Items of a kind.\n# TYPE a counter\na_total{kind=\"b\"} 1\n\
            # HELP c_seconds Time.\n# TYPE c_seconds histogram\n# UNIT c_seconds seconds\nc_seconds_sum 2.0\n# EOF\n";
        let text = "# HELP a_total Items of a kind.\n# TYPE a_total counter\na_total{kind=\"b\"} 1\n\
            # HELP c_seconds Time.\n# TYPE c_seconds histogram\nc_seconds_sum 2.0\n";
        assert_eq!(to_prometheus_text(open_metrics), text);
    }
}
