//! Check of the metrics of a service against its tables.

use std::collections::BTreeMap;

use pidq_http::{AnyMetric, MetricTable};

/// Checks that exactly the documented families are exposed, each with its type, description and labels.
pub fn check_families(text: &str, tables: &[MetricTable]) {
    let rows: Vec<&dyn AnyMetric> = tables.concat();
    let documented = rows.iter().map(|row| (row.name(), (row.kind(), row.summary())));
    let lines = |prefix: &'static str| text.lines().filter_map(move |line| line.strip_prefix(prefix)?.split_once(' '));
    let kinds: BTreeMap<&str, &str> = lines("# TYPE ").collect();
    let exposed = lines("# HELP ").map(|(name, help)| (name, (kinds[name], help)));
    assert_eq!(BTreeMap::from_iter(exposed), BTreeMap::from_iter(documented));
    for (sample, labels) in text.lines().filter_map(|line| line.split_once('{')) {
        let is_sample_of = |row: &&&dyn AnyMetric| {
            sample
                .strip_prefix(row.name())
                .is_some_and(|suffix| ["", "_total", "_bucket", "_sum", "_count"].contains(&suffix))
        };
        let row = rows.iter().find(is_sample_of).unwrap_or_else(|| panic!("{sample}"));
        let names = labels.split("\",").filter_map(|label| Some(label.split_once("=\"")?.0));
        let names: Vec<&str> = names.filter(|name| *name != "le").collect();
        assert_eq!(names, row.label_names(), "{sample}{{{labels}");
    }
}
