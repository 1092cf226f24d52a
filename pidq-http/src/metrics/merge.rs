//! Merge of the metrics of two services in one process, as OpenMetrics text.

use std::collections::BTreeMap;

/// Families that describe the process: both services report the same.
const PROCESS_FAMILIES: &str = "pidq_process_";

/// Family: the lines of its description, and its samples in order.
#[derive(Default)]
struct Family<'t> {
    description: Vec<&'t str>,
    samples: Vec<(&'t str, String)>,
}

/// Adds the metrics of a mounted service to those of its host. Values of the same series are added up.
pub(crate) fn merge(host: &str, mounted: &str) -> String {
    let mut families = parse(host);
    for (name, family) in parse(mounted) {
        match families.iter_mut().find(|(known, _)| *known == name) {
            Some(_) if name.starts_with(PROCESS_FAMILIES) => {}
            Some((_, known)) => known.add(family),
            None => families.push((name, family)),
        }
    }
    let mut text = String::with_capacity(host.len() + mounted.len());
    for (_, family) in families {
        family.description.iter().for_each(|line| text.extend([line, "\n"]));
        family.samples.iter().for_each(|(series, value)| text.extend([series, " ", value, "\n"]));
    }
    text + "# EOF\n"
}

fn parse(text: &str) -> Vec<(&str, Family<'_>)> {
    let mut families: Vec<(&str, Family<'_>)> = Vec::new();
    for line in text.lines() {
        if let Some((_, description)) = line.strip_prefix("# ").and_then(|rest| rest.split_once(' ')) {
            let name = description.split(' ').next().unwrap_or_default();
            if families.last().is_none_or(|(known, _)| *known != name) {
                families.push((name, Family::default()));
            }
            families.last_mut().into_iter().for_each(|(_, family)| family.description.push(line));
        } else if let Some((series, value)) = line.rsplit_once(' ').filter(|_| !line.starts_with('#')) {
            families.last_mut().into_iter().for_each(|(_, family)| family.samples.push((series, value.to_owned())));
        }
    }
    families
}

impl<'t> Family<'t> {
    fn add(&mut self, other: Family<'t>) {
        let places: BTreeMap<&str, usize> =
            self.samples.iter().enumerate().map(|(place, (series, _))| (*series, place)).collect();
        for (series, value) in other.samples {
            match places.get(series) {
                Some(place) => self.samples[*place].1 = sum(&self.samples[*place].1, &value),
                None => self.samples.push((series, value)),
            }
        }
    }
}

fn sum(a: &str, b: &str) -> String {
    match (a.parse::<i64>(), b.parse::<i64>()) {
        (Ok(a), Ok(b)) => a.saturating_add(b).to_string(),
        _ => (a.parse().unwrap_or(0.0) + b.parse().unwrap_or(0.0)).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_of_both_services_are_merged() {
        let host = "# HELP r Requests.\n# TYPE r counter\nr_total{route=\"/a b\"} 1\nr_total{route=\"\"} 2\n\
                    # HELP s Time.\n# TYPE s histogram\ns_sum 0.5\ns_count 2\n\
                    # HELP pidq_process_x Size.\n# TYPE pidq_process_x gauge\npidq_process_x 7\n# EOF\n";
        let mounted = "# HELP q Jobs.\n# TYPE q gauge\nq 3\n\
                       # HELP r Requests.\n# TYPE r counter\nr_total{route=\"\"} 5\nr_total{route=\"/c\"} 4\n\
                       # HELP s Time.\n# TYPE s histogram\ns_sum 0.25\ns_count 1\n\
                       # HELP pidq_process_x Size.\n# TYPE pidq_process_x gauge\npidq_process_x 8\n# EOF\n";
        assert_eq!(
            merge(host, mounted),
            "# HELP r Requests.\n# TYPE r counter\nr_total{route=\"/a b\"} 1\nr_total{route=\"\"} 7\n\
             r_total{route=\"/c\"} 4\n# HELP s Time.\n# TYPE s histogram\ns_sum 0.75\ns_count 3\n\
             # HELP pidq_process_x Size.\n# TYPE pidq_process_x gauge\npidq_process_x 7\n\
             # HELP q Jobs.\n# TYPE q gauge\nq 3\n# EOF\n"
        );
    }

    #[test]
    fn a_family_without_samples_keeps_its_description() {
        let empty = "# HELP r Requests.\n# TYPE r counter\n# EOF\n";
        assert_eq!(merge(empty, empty), empty);
        let one = "# HELP r Requests.\n# TYPE r counter\nr_total 1\n# EOF\n";
        assert_eq!((merge(empty, one), merge(one, empty)), (one.to_owned(), one.to_owned()));
    }
}
