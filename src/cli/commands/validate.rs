//! Subcommand `pidq validate`: checks drawings and prints findings as a table or JSON.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use pidq::error::Code;
use pidq::{Error, Query, Scratch, Value};

use crate::cli::drawing;
use crate::cli::failure::{self, Failure, Result, Status};
use crate::cli::limits::LimitOptions;
use crate::cli::output::{self, JsonStyle, field, items};
use crate::cli::sorted_json::json;
use crate::cli::{input, table};

const EXAMPLES: &str = "\
Examples:
  pidq validate plant.json
  pidq validate --severity warning drawings/*.xml
  pidq validate --rules P114,P115 plant.json            heuristics, off by default
  pidq validate --format json plant.json | pidq query 'groupBy(.code) | mapValues(size())'

A rule is given by its code, the beginning of its code (`G` or `P10`), or its name (`dangling_edge`).
A file without a drawing (G001, G002, G060) is always reported.

Exit status: 0 no errors · 1 errors; with --strict, warnings too · 2 usage error or unreadable file · 5 limit exceeded.";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Drawings: pid_graph JSON or an importable format; `-` or none reads standard input
    files: Vec<PathBuf>,

    /// Check only these rules, including rules that are off by default
    #[arg(long, value_name = "RULE,...", value_delimiter = ',')]
    rules: Vec<String>,

    /// Minimum severity of findings
    #[arg(long, value_enum, default_value_t)]
    severity: Severity,

    /// Exit with 1 for warnings too
    #[arg(long)]
    strict: bool,

    /// Output format of the findings
    #[arg(short, long, value_enum, default_value_t)]
    format: Format,

    #[command(flatten)]
    limits: LimitOptions,
}

#[derive(Clone, Copy, Default, ValueEnum)]
enum Format {
    /// Table, with totals on standard error
    #[default]
    Text,
    /// JSON array of objects
    Json,
}

/// Severity of a finding.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd, ValueEnum)]
enum Severity {
    /// Informational
    #[default]
    Info,
    /// Probably a mistake
    Warning,
    /// The drawing is unreliable
    Error,
}

impl Severity {
    const ALL: [Severity; 3] = [Severity::Info, Severity::Warning, Severity::Error];

    fn name(self) -> &'static str {
        ["info", "warning", "error"][self as usize]
    }

    fn from_name(name: &str) -> Severity {
        Severity::ALL.into_iter().find(|severity| severity.name() == name).unwrap_or_default()
    }
}

/// Maximum number of ids shown per finding.
const SHOWN_ID_LIMIT: usize = 4;

/// Printable finding.
struct Finding {
    severity: Severity,
    cells: Vec<String>,
    json: String,
}

/// Runs the subcommand.
pub fn run(options: &Options) -> Result {
    let files = input::files(&options.files);
    drawing::require_single_stdin(&files)?;
    let query = options.query()?;
    let mut found = Vec::new();
    let mut worst = Status::Done;
    for path in &files {
        match options.findings(&query, path) {
            Ok(findings) => found.push((input::name(path), findings)),
            // One invalid file does not hide the others.
            Err(failure) => {
                failure.report();
                worst = worst.max(failure.status());
            }
        }
    }
    output::ignore_closed_pipe(options.print(&found))?;
    let threshold = if options.strict { Severity::Warning } else { Severity::Error };
    let has_failed = found.iter().flat_map(|(_, findings)| findings).any(|finding| finding.severity >= threshold);
    Ok(if has_failed { worst.max(Status::Falsy) } else { worst })
}

impl Options {
    /// Compiles the validation query. Unknown rules are reported before any file is read.
    fn query(&self) -> Result<Query> {
        let rules: Vec<String> = self.rules.iter().map(|rule| json(Value::String(rule.trim()))).collect();
        let text = format!("validate({{rules: [{}], severity: \"{}\"}})", rules.join(", "), self.severity.name());
        Query::parse(&text).map_err(|error| match error.code() {
            Code::BadOption => Failure::Usage(format!("{}; without --rules, all rules are checked", error.message())),
            _ => Failure::Query(error, text),
        })
    }

    fn findings(&self, query: &Query, path: &Path) -> Result<Vec<Finding>> {
        let result = drawing::open(path).and_then(|graph| {
            self.limits.run(|limits| {
                let scratch = Scratch::new();
                let failure_of = |error| drawing::drawing_failure(error, path, query.source());
                let found = query.run(&graph, &scratch, limits).map_err(failure_of)?.value;
                Ok(items(found).map(|row| finding(row, path)).collect())
            })
        });
        match result {
            Err(Failure::Input(error, name)) => match missing_drawing_finding(&error, path)? {
                Some(finding) => Ok(vec![finding]),
                None => Err(Failure::Input(error, name)),
            },
            result => result,
        }
    }

    fn print(&self, found: &[(String, Vec<Finding>)]) -> Result<()> {
        match self.format {
            Format::Json => {
                let all = found.iter().flat_map(|(_, findings)| findings);
                let rows: Vec<&str> = all.map(|finding| finding.json.as_str()).collect();
                output::print_json(&format!("[{}]", rows.join(",")), JsonStyle::Indented)
            }
            Format::Text => print_table(found),
        }
    }
}

/// Converts a result row of the engine.
fn finding(row: Value<'_>, path: &Path) -> Finding {
    let text = |key: &str| table::cell(field(row, key));
    let severity = text("severity");
    Finding {
        severity: Severity::from_name(&severity),
        cells: vec![severity, text("code"), text("name"), text("message"), ids(field(row, "ids"))],
        json: with_file(&json(row), path),
    }
}

/// Formats the first ids of an array and the number of further ones.
fn ids(list: Value<'_>) -> String {
    let mut shown: Vec<String> = items(list).take(SHOWN_ID_LIMIT).map(table::cell).collect();
    match items(list).count() - shown.len() {
        0 => {}
        more => shown.push(format!("and {more} more")),
    }
    shown.join(", ")
}

/// Adds the file name as the first field of an object.
fn with_file(object: &str, path: &Path) -> String {
    let name = json(Value::String(&input::name(path)));
    format!("{{\"file\":{name},{}", object.trim_start_matches('{'))
}

/// Input errors that are findings: error code, rule code and rule name.
const MISSING_DRAWING_RULES: &[(Code, &str, &str)] = &[
    (Code::NotJson, "G001", "not_json"),
    (Code::NotUtf8, "G001", "not_json"),
    (Code::NoGraph, "G002", "no_nodes_array"),
    (Code::InputTooLarge, "G060", "limits_exceeded"),
    (Code::InputTooDeep, "G060", "limits_exceeded"),
];

fn missing_drawing_finding(error: &Error, path: &Path) -> Result<Option<Finding>> {
    let Some((_, code, name)) = MISSING_DRAWING_RULES.iter().find(|(reason, ..)| *reason == error.code()) else {
        return Ok(None);
    };
    let message = json(Value::String(error.message()));
    let row = format!(
        r#"{{"code":"{code}","name":"{name}","severity":"error","message":{message},"ids":[],"evidence":[],"certain":true}}"#
    );
    Ok(Some(finding(drawing::parse_result(row)?.root(), path)))
}

/// Prints the findings of all files, with totals per file on standard error.
fn print_table(found: &[(String, Vec<Finding>)]) -> Result<()> {
    let mut rows = Vec::new();
    for (name, findings) in found {
        let file = (found.len() > 1).then(|| table::escape_controls(name));
        rows.extend(findings.iter().map(|finding| file.iter().chain(&finding.cells).cloned().collect()));
    }
    let printed = output::print(&table::text(&rows));
    for (name, findings) in found {
        let count = |severity: Severity| findings.iter().filter(|finding| finding.severity == severity).count();
        let [notes, warnings, errors] = Severity::ALL.map(count);
        let counts = [(errors, "error"), (warnings, "warning"), (notes, "note")];
        let counts = counts.map(|(count, noun)| table::count(count, noun));
        failure::warn(&format!("{name}: {}\n", counts.join(", ")));
    }
    printed
}
