//! Markdown tables, and the format of their numbers.

use std::fmt::{self, Display, Formatter};

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

pub fn duration(seconds: f64) -> String {
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

pub fn capital(text: &str) -> String {
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
