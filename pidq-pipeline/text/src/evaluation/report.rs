//! Result of an evaluation: means with confidence intervals, shown as a table and stored as JSON.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::bootstrap;

/// Metrics of the report: the name in trec_eval, and the displayed name.
pub const REPORTED: [(&str, &str); 5] = [
    ("ndcg_cut_10", "nDCG@10"),
    ("recall_5", "recall@5"),
    ("recall_10", "recall@10"),
    ("recall_100", "recall@100"),
    ("recip_rank", "MRR"),
];

/// Result of an evaluation, displayed as a table.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Report {
    /// Number of documents.
    pub documents: usize,
    /// Number of judged queries.
    pub queries: usize,
    /// Metrics by mode.
    rows: Vec<Row>,
    /// Decisions of the relevance gate in hybrid mode.
    pub gate: Gate,
}

/// Metrics of one mode.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Row {
    mode: String,
    cells: Vec<Cell>,
}

/// Mean of a metric with its 95 % confidence interval.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Cell {
    metric: String,
    mean: f64,
    interval: [f64; 2],
}

/// Decisions of the relevance gate.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Gate {
    /// Relevance below which a search finds nothing.
    pub threshold: f64,
    /// Cosine that is sufficient as well, if the vectors count.
    #[serde(default)]
    pub min_similarity: Option<f64>,
    /// Share of the judged queries that are refused.
    pub false_refusals: f64,
    /// Share of unrelated everyday questions that are accepted.
    pub false_accepts: f64,
}

impl Row {
    /// Creates the row of a mode from the values of each query, in the order of [`REPORTED`].
    pub fn new(mode: &str, values: &[[f64; REPORTED.len()]]) -> Self {
        let cell = |(index, (_, name)): (usize, &(&str, &str))| {
            let values: Vec<f64> = values.iter().map(|values| values[index]).collect();
            let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
            Cell { metric: (*name).to_owned(), mean, interval: bootstrap::interval(&values) }
        };
        Row { mode: mode.to_owned(), cells: REPORTED.iter().enumerate().map(cell).collect() }
    }
}

impl Report {
    /// Creates a report.
    pub fn new(documents: usize, queries: usize, rows: Vec<Row>, gate: Gate) -> Self {
        Report { documents, queries, rows, gate }
    }

    /// Returns a mean by the names of the mode and the metric, such as `("hybrid", "nDCG@10")`.
    pub fn mean(&self, mode: &str, metric: &str) -> Option<f64> {
        self.cell(mode, metric).map(|cell| cell.mean)
    }

    /// Returns the 95 % confidence interval of a mean.
    pub fn interval(&self, mode: &str, metric: &str) -> Option<[f64; 2]> {
        self.cell(mode, metric).map(|cell| cell.interval)
    }

    fn cell(&self, mode: &str, metric: &str) -> Option<&Cell> {
        self.rows.iter().find(|row| row.mode == mode)?.cells.iter().find(|cell| cell.metric == metric)
    }

    /// Returns the changes of the first metric since an earlier report, one line per mode.
    pub fn changes_since(&self, earlier: &Report) -> Vec<String> {
        let metric = REPORTED[0].1;
        let change = |row: &Row| {
            let (before, now) = (earlier.mean(&row.mode, metric)?, self.mean(&row.mode, metric)?);
            let [low, high] = earlier.interval(&row.mode, metric)?;
            let note = if (low..=high).contains(&now) { "" } else { ", outside the earlier interval" };
            Some(format!("{}: {metric} {before:.4} -> {now:.4} ({:+.4}{note})", row.mode, now - before))
        };
        self.rows.iter().filter_map(change).collect()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} documents, {} queries; means with 95 % confidence intervals", self.documents, self.queries)?;
        write!(f, "{:8}", "mode")?;
        REPORTED.iter().try_for_each(|(_, name)| write!(f, "  {name:<22}"))?;
        for row in &self.rows {
            write!(f, "\n{:8}", row.mode)?;
            for Cell { mean, interval: [low, high], .. } in &row.cells {
                write!(f, "  {mean:.4} [{low:.4}, {high:.4}]")?;
            }
        }
        let Gate { threshold, min_similarity, false_refusals, false_accepts } = self.gate;
        let percent = |share: f64| 100.0 * share;
        write!(f, "\nrelevance threshold {threshold}")?;
        min_similarity.map_or(Ok(()), |cosine| write!(f, " or a cosine of {cosine}"))?;
        write!(
            f,
            ": {:.1} % of the queries refused, {:.1} % of unrelated questions accepted",
            percent(false_refusals),
            percent(false_accepts)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(value: f64) -> Report {
        Report::new(3, 2, vec![Row::new("sparse", &[[value; 5]; 2])], Gate::default())
    }

    #[test]
    fn a_report_survives_serialization() {
        let json = serde_json::to_string(&report(0.1 + 0.2)).expect("a report is JSON");
        assert_eq!(serde_json::from_str::<Report>(&json).expect("a report"), report(0.1 + 0.2));
    }

    #[test]
    fn changes_outside_the_earlier_interval_are_marked() {
        assert_eq!(report(0.5).changes_since(&report(0.5)), ["sparse: nDCG@10 0.5000 -> 0.5000 (+0.0000)"]);
        assert_eq!(
            report(0.25).changes_since(&report(0.5)),
            ["sparse: nDCG@10 0.5000 -> 0.2500 (-0.2500, outside the earlier interval)"]
        );
    }
}
