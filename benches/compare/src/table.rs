//! Report of the measurements, as Markdown.

use std::fmt::{self, Display, Formatter};

use crate::goals;
use crate::measure::{Outcome, Score};

/// Results of the contestants in one task.
pub struct TaskResult {
    pub group: &'static str,
    /// Number of nodes of the drawing; 0 if there is none.
    pub nodes: usize,
    pub task: String,
    pub scores: Vec<Score>,
}

impl TaskResult {
    pub fn score(&self, name: &str) -> Option<&Score> {
        self.scores.iter().find(|score| score.name == name)
    }

    /// Returns the ratio of another contestant's time to pidq's.
    pub fn ratio(&self, name: &str) -> Option<f64> {
        Some(self.score(name)?.median()? / self.score(goals::PIDQ)?.median()?)
    }
}

/// Measurement other than a time.
pub struct Measurement {
    pub group: &'static str,
    pub nodes: usize,
    pub name: String,
    pub quantity: &'static str,
    pub value: f64,
}

impl Measurement {
    pub fn new(group: &'static str, nodes: usize, name: &str, quantity: &'static str, value: f64) -> Self {
        Self { group, nodes, name: name.to_string(), quantity, value }
    }
}

#[derive(Default)]
pub struct ReportData {
    pub results: Vec<TaskResult>,
    pub measurements: Vec<Measurement>,
}

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
        writeln!(f, "CPU time on {}, medians; in brackets how many times as long as {}.\n", processor(), goals::PIDQ)?;
        for (group, title) in TITLES {
            for nodes in distinct(results.iter().filter(|result| result.group == group).map(|result| result.nodes)) {
                let chosen: Vec<&TaskResult> =
                    results.iter().filter(|result| result.group == group && result.nodes == nodes).collect();
                writeln!(f, "## {title}{}\n\n{}", of_nodes(nodes), times(&chosen))?;
            }
        }
        write!(f, "{}{}", Functions(results), Measurements(measurements))?;
        write!(f, "{}{}", goals::Growth(results), goals::GoalReport(&self.0))
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
        (_, Some(seconds)) => match result.ratio(name).filter(|_| name != goals::PIDQ) {
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
        let columns = sizes
            .iter()
            .flat_map(|&nodes| [goals::PIDQ, "jsonquery JS"].map(|name| format!("{} {name}", short(nodes))));
        let columns: Vec<String> = std::iter::once(String::new()).chain(columns).collect();
        let mut grid = Grid::new(columns.iter().map(String::as_str));
        for task in distinct(results.iter().map(|result| result.task.as_str())) {
            let at = |nodes: usize| results.iter().find(|result| result.task == task && result.nodes == nodes);
            let cells = sizes.iter().flat_map(|&nodes| {
                [goals::PIDQ, "jsonquery JS"]
                    .map(|name| at(nodes).map_or_else(String::new, |result| cell(result, name)))
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

/// A Markdown table.
pub struct Grid {
    columns: usize,
    text: String,
}

impl Grid {
    pub fn new<'a>(titles: impl Iterator<Item = &'a str>) -> Self {
        let mut grid = Self { columns: 0, text: String::new() };
        grid.row(titles.map(str::to_string));
        grid.text += &format!("|{}\n", "---|".repeat(grid.columns));
        grid
    }

    pub fn row(&mut self, cells: impl Iterator<Item = String>) {
        let cells: Vec<String> = cells.map(|cell| cell.replace('|', "\\|")).collect();
        self.columns = cells.len();
        self.text += &format!("| {} |\n", cells.join(" | "));
    }
}

impl Display for Grid {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Formats a number with three significant digits.
pub fn significant(value: f64) -> String {
    let digits = if value.abs() >= 100.0 || value == 0.0 {
        0
    } else if value.abs() >= 10.0 {
        1
    } else {
        2
    };
    format!("{value:.digits$}")
}

pub fn times_as_long(ratio: f64) -> String {
    format!("{}×", significant(ratio))
}

fn duration(seconds: f64) -> String {
    let (factor, unit) = match seconds {
        1.0.. => (1.0, "s"),
        1e-3.. => (1e3, "ms"),
        1e-6.. => (1e6, "µs"),
        _ => (1e9, "ns"),
    };
    format!("{} {unit}", significant(seconds * factor))
}

/// Formats a size: 10,000 is `10k`.
pub fn short(nodes: usize) -> String {
    match nodes {
        0 => String::new(),
        nodes if nodes % 1_000_000 == 0 => format!("{}M", nodes / 1_000_000),
        nodes if nodes % 1_000 == 0 => format!("{}k", nodes / 1_000),
        nodes => nodes.to_string(),
    }
}

fn capital(text: &str) -> String {
    text[..1].to_uppercase() + &text[1..]
}

/// Returns the distinct values, in order of first appearance.
pub fn distinct<T: PartialEq>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    for item in items {
        if !found.contains(&item) {
            found.push(item);
        }
    }
    found
}
