//! Subcommand `pidq manual`: prints the page on P&IDs and the generated pages of `docs/`. The template of the language page is
//! `manual/language.md`, that of the page on deployment `manual/deploy.md`.

#[cfg(feature = "dashboard")]
mod chart;

use std::fmt::Write as _;
use std::io::{self, Write};

use clap::ValueEnum;
use pidq::error::{Code, Stage};
use pidq::{Dialect, Function, Limits, Param};

use crate::cli::failure::{Result, Status};

const LANGUAGE_TEMPLATE: &str = include_str!("manual/language.md");
const PID: &str = include_str!("../../../docs/pid.md");
#[cfg(feature = "dashboard")]
const DEPLOY_TEMPLATE: &str = include_str!("manual/deploy.md");

/// Titles of the function groups.
const GROUP_TITLES: &[(&str, &str)] = &[
    ("structure", "Structure"),
    ("arrays", "Arrays"),
    ("logic", "Logic and comparison"),
    ("numbers", "Numbers"),
    ("strings", "Strings"),
    ("patterns", "Regular expressions"),
    ("bindings", "Variables"),
    ("replacement", "Replacement by regular expressions"),
    ("helpers", "More functions for arrays, objects and strings"),
    ("nested", "Nested values: descent, paths, changes"),
    ("joins", "Joins of arrays"),
    ("sequences", "Positions, ranges and running values"),
    ("dates", "Dates and durations"),
    ("units", "Units"),
    ("formatting", "Formatting"),
    ("json", "JSON in strings"),
    ("encoding", "Encodings of strings"),
    ("graph", "Graph: nodes, walks, paths"),
    ("pid", "P&ID: isolation, lists, loops, checks"),
    ("pid_reports", "P&ID: reports for engineers"),
];

/// Page of the manual.
#[derive(Clone, Copy, Default, ValueEnum)]
pub enum Page {
    /// Query language.
    #[default]
    Language,
    /// Typical questions about P&IDs, and how their answers are to be read.
    Pid,
    /// HTTP endpoints.
    #[cfg(feature = "server")]
    Http,
    /// Operation of the service.
    #[cfg(feature = "server")]
    Operate,
    /// Problem codes of the services.
    #[cfg(feature = "server")]
    Problems,
    /// Document platform.
    #[cfg(feature = "pipeline")]
    Pipeline,
    /// Dashboard.
    #[cfg(feature = "dashboard")]
    Dashboard,
    /// Deployment: image, Compose, Kubernetes, systemd.
    #[cfg(feature = "dashboard")]
    Deploy,
    /// Schema of the values of the Helm chart.
    #[cfg(feature = "dashboard")]
    ChartSchema,
    /// Settings of the processes of the Helm chart.
    #[cfg(feature = "dashboard")]
    ChartSettings,
}

/// Runs the subcommand.
pub fn run(page: Page) -> Result {
    let text = match page {
        Page::Language => language(),
        Page::Pid => PID.to_owned(),
        #[cfg(feature = "server")]
        Page::Http => pidq_server::manual::http(),
        #[cfg(feature = "server")]
        Page::Operate => pidq_server::manual::operate(),
        #[cfg(feature = "server")]
        Page::Problems => pidq_server::manual::problems(),
        #[cfg(feature = "pipeline")]
        Page::Pipeline => pidq_pipeline::manual::pipeline(),
        #[cfg(feature = "dashboard")]
        Page::Dashboard => pidq_dashboard::manual::dashboard(),
        #[cfg(feature = "dashboard")]
        Page::Deploy => DEPLOY_TEMPLATE.replace("{values}", chart::table().trim_end()),
        #[cfg(feature = "dashboard")]
        Page::ChartSchema => chart::values_schema(),
        #[cfg(feature = "dashboard")]
        Page::ChartSettings => chart::variables(),
    };
    io::stdout().lock().write_all(text.as_bytes())?;
    Ok(Status::Done)
}

fn language() -> String {
    let dialect = Dialect::standard();
    let parts = [
        ("{operators}", operators(&dialect)),
        ("{index}", index(&dialect)),
        ("{functions}", functions(&dialect)),
        ("{limits}", limits()),
        ("{codes}", codes()),
    ];
    parts.iter().fold(LANGUAGE_TEMPLATE.to_owned(), |text, (placeholder, content)| {
        text.replace(placeholder, content.trim_end())
    })
}

fn operators(dialect: &Dialect) -> String {
    dialect.operators().enumerate().fold(String::new(), |mut text, (level, rows)| {
        let rows: Vec<String> = rows.iter().map(|(text, name)| format!("`{}` {name}", cell(text))).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| {} | {} |", level + 1, rows.join(" · "));
        text
    })
}

fn index(dialect: &Dialect) -> String {
    dialect.groups().fold(String::new(), |mut text, (group, rows)| {
        let names: Vec<String> = rows.iter().map(|row| format!("[{0}](#{1})", row.name(), anchor(row))).collect();
        let _ = writeln!(text, "**{}**: {}\n", title(group), names.join(" · "));
        text
    })
}

/// Returns the anchor of a function's heading: lower case, without punctuation.
fn anchor(function: &Function) -> String {
    let slug = function.signature().to_lowercase().replace(' ', "-");
    slug.chars().filter(|c| c.is_alphanumeric() || *c == '-').collect()
}

fn functions(dialect: &Dialect) -> String {
    dialect.groups().fold(String::new(), |mut text, (group, rows)| {
        let _ = writeln!(text, "## {}\n", title(group));
        rows.iter().for_each(|row| text.push_str(&entry(row)));
        text
    })
}

fn title(group: &'static str) -> &'static str {
    GROUP_TITLES.iter().find(|(name, _)| *name == group).map_or(group, |(_, title)| title)
}

fn entry(function: &Function) -> String {
    let mut text = format!("### {}\n\n{}\n", function.signature(), function.summary());
    let constants: Vec<String> = names(function, |param| param.expects() == "constant");
    if !constants.is_empty() {
        let _ = writeln!(text, "\nMust be a constant or a `$name`: {}.", constants.join(", "));
    }
    let options: Vec<String> = function.params().iter().flat_map(Param::option_kinds).map(option).collect();
    if !options.is_empty() {
        let _ = writeln!(text, "\nOptions:\n\n{}", options.join("\n"));
    }
    if let Some((query, result)) = function.example().split_once(" => ") {
        let _ = writeln!(text, "\n```text\n{query}\n=> {result}\n```");
    }
    text.push('\n');
    text
}

fn names(function: &Function, keeps: fn(&Param) -> bool) -> Vec<String> {
    function.params().iter().filter(|param| keeps(param)).map(|param| code(&param.name)).collect()
}

fn option((name, kind): (&'static str, String)) -> String {
    format!("- `{name}`: {kind}")
}

fn code(text: &&'static str) -> String {
    format!("`{text}`")
}

/// Escapes text for a table cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn limits() -> String {
    let limits = Limits::default();
    let rows: [(&str, u64, &str, Code); 8] = [
        (
            "fuel",
            limits.fuel,
            "units of work: query parts evaluated, items visited, edges followed, blocks of 64 bytes copied",
            Code::OutOfFuel,
        ),
        ("memory", limits.memory as u64, "bytes of working memory", Code::OutOfMemory),
        ("output", limits.output as u64, "bytes of the printed result", Code::OutputTooLarge),
        ("string", limits.string as u64, "bytes of one string that the query builds", Code::OutOfMemory),
        (
            "backtracks",
            limits.backtracks as u64,
            "backtracks of one regular expression search with lookaround or back-references; they also use fuel",
            Code::RegexBacktracking,
        ),
        ("rows", limits.rows as u64, "rows of a walk, such as `downstream` and `trace`", Code::TooManyRows),
        (
            "paths",
            limits.paths as u64,
            "results of `cycles` without the option `limit`; for `paths`, this limit or 100, whichever is lower",
            Code::TooManyRows,
        ),
        ("depth", limits.depth as u64, "steps of a walk from its start", Code::TooDeep),
    ];
    rows.iter().fold(String::new(), |mut text, (name, amount, description, code)| {
        let _ = writeln!(text, "| {name} | {} | {description} | {} |", with_separators(*amount), code.as_str());
        text
    })
}

/// Formats a number with thousands separators: `20,000,000`.
fn with_separators(amount: u64) -> String {
    let digits = amount.to_string();
    let groups: Vec<&str> = digits.as_bytes().rchunks(3).rev().filter_map(|group| str::from_utf8(group).ok()).collect();
    groups.join(",")
}

fn codes() -> String {
    const STAGES: &[(Stage, &str)] = &[
        (Stage::Parse, "parsing the query"),
        (Stage::Compile, "compiling the query"),
        (Stage::Eval, "running the query"),
        (Stage::Limit, "a limit of the run"),
        (Stage::Input, "parsing the document"),
    ];
    Code::ALL.iter().fold(String::new(), |mut text, code| {
        let stage = STAGES.iter().find(|(stage, _)| *stage == code.stage()).map_or("", |(_, description)| description);
        let _ = writeln!(text, "| {} | {stage} | {} |", code.as_str(), cell(code.summary()));
        text
    })
}
