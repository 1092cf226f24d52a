//! Report of the measurements, as Markdown.

use std::fmt::{self, Display, Formatter};

use crate::goals::{GoalReport, Growth};
use crate::measure::Outcome;
use crate::result::{Measurement, PIDQ, ReportData, TaskResult};
use crate::table::{Grid, capital, distinct, duration, short, significant, times_as_long};

#[derive(Default)]
pub struct Report(ReportData);

impl Report {
    pub fn add(&mut self, data: ReportData) {
        self.0.results.extend(data.results);
        self.0.measurements.extend(data.measurements);
    }
}

/// Groups in display order, with their titles.
const TITLES: [(&str, &str); 5] = [
    ("load", "Load: JSON text to a value that can be queried"),
    ("warm", "Warm: compiled query, resident drawing, reused buffers"),
    ("walks", "Walks along the flow: compiled query, resident drawing"),
    ("compile", "Compile: query text to plan"),
    ("cold", "Cold: file to result on standard output, whole process"),
];

impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let ReportData { results, measurements } = &self.0;
        writeln!(f, "CPU time on {}, medians; in brackets how many times as long as {}.\n", processor(), PIDQ)?;
        for (group, title) in TITLES {
            for nodes in distinct(results.iter().filter(|result| result.group == group).map(|result| result.nodes)) {
                let chosen: Vec<&TaskResult> =
                    results.iter().filter(|result| result.group == group && result.nodes == nodes).collect();
                writeln!(f, "## {title}{}\n\n{}", of_nodes(nodes), times(&chosen))?;
            }
        }
        write!(f, "{}{}", Functions(results), Measurements(measurements))?;
        write!(f, "{}{}", Growth(results), GoalReport(&self.0))
    }
}

fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    model.map_or("this machine", |(_, name)| name).to_string()
}

fn of_nodes(nodes: usize) -> String {
    if nodes == 0 { String::new() } else { format!(", {} nodes", short(nodes)) }
}

/// Writes a row for each contestant, a column for each task.
fn times(results: &[&TaskResult]) -> Grid {
    let names = distinct(results.iter().flat_map(|result| &result.scores).map(|score| score.name.as_str()));
    let mut grid = Grid::new(std::iter::once("").chain(results.iter().map(|result| result.task.as_str())));
    for name in names {
        let cells = results.iter().map(|result| cell(result, name));
        grid.row(std::iter::once(name.to_string()).chain(cells));
    }
    grid
}

fn cell(result: &TaskResult, name: &str) -> String {
    let Some(score) = result.score(name) else { return String::new() };
    match (&score.outcome, score.median()) {
        (_, Some(seconds)) => match result.ratio(name).filter(|_| name != PIDQ) {
            Some(ratio) => format!("{} ({})", duration(seconds), times_as_long(ratio)),
            None => duration(seconds),
        },
        (Outcome::Failed(error), _) => format!("fails: {}", error.chars().take(60).collect::<String>()),
        _ => "different result".to_string(),
    }
}

/// Writes one row for each function of the language.
struct Functions<'a>(&'a [TaskResult]);

impl Display for Functions<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let results: Vec<&TaskResult> = self.0.iter().filter(|result| result.group == "functions").collect();
        if results.is_empty() {
            return Ok(());
        }
        let sizes = distinct(results.iter().map(|result| result.nodes));
        let columns =
            sizes.iter().flat_map(|&nodes| [PIDQ, "jsonquery JS"].map(|name| format!("{} {name}", short(nodes))));
        let columns: Vec<String> = std::iter::once(String::new()).chain(columns).collect();
        let mut grid = Grid::new(columns.iter().map(String::as_str));
        for task in distinct(results.iter().map(|result| result.task.as_str())) {
            let at = |nodes: usize| results.iter().find(|result| result.task == task && result.nodes == nodes);
            let cells = sizes.iter().flat_map(|&nodes| {
                [PIDQ, "jsonquery JS"].map(|name| at(nodes).map_or_else(String::new, |result| cell(result, name)))
            });
            grid.row(std::iter::once(format!("`{task}`")).chain(cells));
        }
        writeln!(f, "## Functions: a query over all nodes, result not written\n\n{grid}")
    }
}

struct Measurements<'a>(&'a [Measurement]);

impl Display for Measurements<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for group in distinct(self.0.iter().map(|measurement| measurement.group)) {
            let measurements: Vec<&Measurement> =
                self.0.iter().filter(|measurement| measurement.group == group).collect();
            let columns = distinct(measurements.iter().map(|measurement| (measurement.nodes, measurement.quantity)));
            let titles: Vec<String> =
                columns.iter().map(|(nodes, quantity)| format!("{} {quantity}", short(*nodes))).collect();
            let mut grid = Grid::new(std::iter::once("").chain(titles.iter().map(String::as_str)));
            for name in distinct(measurements.iter().map(|measurement| measurement.name.as_str())) {
                let value = |&(nodes, quantity): &(usize, &str)| {
                    let measurement = measurements.iter().find(|measurement| {
                        measurement.name == name && measurement.nodes == nodes && measurement.quantity == quantity
                    });
                    measurement.map_or_else(String::new, |measurement| significant(measurement.value))
                };
                grid.row(std::iter::once(name.to_string()).chain(columns.iter().map(value)));
            }
            writeln!(f, "## {}\n\n{grid}", capital(group))?;
        }
        Ok(())
    }
}
