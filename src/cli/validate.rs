//! `pidq validate`: what looks wrong on drawings, as a table or as JSON.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use pidq::error::Code;
use pidq::{Error, Query, Scratch, Value};

use super::budget::LimitOptions;
use super::drawing::{self, Shape, field, items};
use super::failure::{self, Failure, Result, Status};
use super::sorted::json;
use super::{input, table};

const EXAMPLES: &str = "\
Examples:
  pidq validate plant.json
  pidq validate --severity warning drawings/*.xml
  pidq validate --rules P113,P114,P115 plant.json       heuristics, off unless asked for
  pidq validate --format json plant.json | pidq query 'groupBy(.code) | mapValues(size())'

A rule is given by its code, the beginning of its code (`G` or `P10`), or its name (`dangling_edge`).
Whether a file has a drawing at all (G001, G002, G060) is always told.

Exit status: 0 no errors · 1 errors; with --strict, warnings too · 2 usage or files · 5 a limit.";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// The drawings: pid_graph JSON, or what can be imported; `-` or none is the standard input
    files: Vec<PathBuf>,

    /// Only these rules, also those that are off unless asked for
    #[arg(long, value_name = "RULE,...", value_delimiter = ',')]
    rules: Vec<String>,

    /// Only findings as bad as this, or worse
    #[arg(long, value_enum, default_value_t)]
    severity: Severity,

    /// Exit with 1 for warnings too
    #[arg(long)]
    strict: bool,

    /// How the findings are printed
    #[arg(short, long, value_enum, default_value_t)]
    format: Format,

    #[command(flatten)]
    limits: LimitOptions,
}

#[derive(Clone, Copy, Default, ValueEnum)]
enum Format {
    /// A table, and on the standard error how many there are
    #[default]
    Text,
    /// A list of objects
    Json,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd, ValueEnum)]
enum Severity {
    /// Worth a look
    #[default]
    Info,
    /// Probably a mistake
    Warning,
    /// The drawing cannot be relied on
    Error,
}

impl Severity {
    const ALL: [Severity; 3] = [Severity::Info, Severity::Warning, Severity::Error];

    fn word(self) -> &'static str {
        ["info", "warning", "error"][self as usize]
    }

    fn of(word: &str) -> Severity {
        Severity::ALL.into_iter().find(|severity| severity.word() == word).unwrap_or_default()
    }
}

/// How many ids of a finding the table shows.
const SHOWN_IDS: usize = 4;

/// Something that looks wrong, as it is printed.
struct Finding {
    severity: Severity,
    cells: Vec<String>,
    json: String,
}

/// Runs the subcommand.
pub fn run(options: &Options) -> Result {
    let files = input::files(&options.files);
    drawing::one_from_stdin(&files)?;
    let query = options.query()?;
    let mut found = Vec::new();
    let mut worst = Status::Done;
    for path in &files {
        match options.findings(&query, path) {
            Ok(findings) => found.push((input::name(path), findings)),
            // One bad file does not hide the others.
            Err(failure) => {
                failure.report();
                worst = worst.max(failure.status());
            }
        }
    }
    drawing::even_unread(options.print(&found))?;
    let fails = if options.strict { Severity::Warning } else { Severity::Error };
    let has_failed = found.iter().flat_map(|(_, findings)| findings).any(|finding| finding.severity >= fails);
    Ok(if has_failed { worst.max(Status::Falsy) } else { worst })
}

impl Options {
    /// The question. A rule that does not exist is told before any file is read.
    fn query(&self) -> Result<Query> {
        let rules: Vec<String> = self.rules.iter().map(|rule| json(Value::String(rule.trim()))).collect();
        let text = format!("validate({{rules: [{}], severity: \"{}\"}})", rules.join(", "), self.severity.word());
        Query::parse(&text).map_err(|error| match error.code() {
            Code::BadOption => Failure::Usage(format!("{}; without --rules all of them look", error.message())),
            _ => Failure::Query(error, text),
        })
    }

    fn findings(&self, query: &Query, path: &Path) -> Result<Vec<Finding>> {
        let asked = drawing::open(path).and_then(|graph| {
            self.limits.within(|limits| {
                let scratch = Scratch::new();
                let refused = |error| drawing::refused(error, path, query.source());
                let found = query.run(&graph, &scratch, limits).map_err(refused)?.value;
                Ok(items(found).map(|row| finding(row, path)).collect())
            })
        });
        match asked {
            Err(Failure::Input(error, name)) => match no_drawing(&error, path)? {
                Some(finding) => Ok(vec![finding]),
                None => Err(Failure::Input(error, name)),
            },
            asked => asked,
        }
    }

    fn print(&self, found: &[(String, Vec<Finding>)]) -> Result<()> {
        match self.format {
            Format::Json => {
                let all = found.iter().flat_map(|(_, findings)| findings);
                let rows: Vec<&str> = all.map(|finding| finding.json.as_str()).collect();
                drawing::print_json(&format!("[{}]", rows.join(",")), Shape::Indented)
            }
            Format::Text => print_table(found),
        }
    }
}

/// A row of the engine.
fn finding(row: Value<'_>, path: &Path) -> Finding {
    let text = |key: &str| table::cell(field(row, key));
    let severity = text("severity");
    Finding {
        severity: Severity::of(&severity),
        cells: vec![severity, text("code"), text("name"), text("message"), ids(field(row, "ids"))],
        json: with_file(&json(row), path),
    }
}

/// The first ids of a list, and how many more there are.
fn ids(list: Value<'_>) -> String {
    let mut shown: Vec<String> = items(list).take(SHOWN_IDS).map(table::cell).collect();
    match items(list).count() - shown.len() {
        0 => {}
        more => shown.push(format!("and {more} more")),
    }
    shown.join(", ")
}

/// An object with the name of its file in front.
fn with_file(object: &str, path: &Path) -> String {
    let name = json(Value::String(&input::name(path)));
    format!("{{\"file\":{name},{}", object.trim_start_matches('{'))
}

/// Why there is nothing to check: the code of the rule and its name. Such an error is a finding.
const NO_DRAWING: &[(Code, &str, &str)] = &[
    (Code::NotJson, "G001", "not_json"),
    (Code::NotUtf8, "G001", "not_json"),
    (Code::NoGraph, "G002", "no_nodes_array"),
    (Code::InputTooLarge, "G060", "limits_exceeded"),
    (Code::InputTooDeep, "G060", "limits_exceeded"),
];

fn no_drawing(error: &Error, path: &Path) -> Result<Option<Finding>> {
    let Some((_, code, name)) = NO_DRAWING.iter().find(|(reason, ..)| *reason == error.code()) else { return Ok(None) };
    let message = json(Value::String(error.message()));
    let row = format!(
        r#"{{"code":"{code}","name":"{name}","severity":"error","message":{message},"ids":[],"evidence":[],"certain":true}}"#
    );
    Ok(Some(finding(drawing::answer(row)?.root(), path)))
}

/// The findings of all files, and on the standard error how many each has.
fn print_table(found: &[(String, Vec<Finding>)]) -> Result<()> {
    let mut rows = Vec::new();
    for (name, findings) in found {
        let file = (found.len() > 1).then(|| table::clean(name));
        rows.extend(findings.iter().map(|finding| file.iter().chain(&finding.cells).cloned().collect()));
    }
    let printed = drawing::print(&table::text(&rows));
    for (name, findings) in found {
        let count = |severity: Severity| findings.iter().filter(|finding| finding.severity == severity).count();
        let [notes, warnings, errors] = Severity::ALL.map(count);
        let counts = [(errors, "error"), (warnings, "warning"), (notes, "note")];
        let counts = counts.map(|(count, noun)| table::count(count, noun));
        failure::warn(&format!("{name}: {}\n", counts.join(", ")));
    }
    printed
}
