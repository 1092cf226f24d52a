//! `pidq conformance-stdio`: the language behind a line protocol, for suites that compare implementations.
//!
//! One JSON object a line in, one a line out, in the same order:
//!
//! ```text
//! {"id": 1, "op": "parse", "text": "size()"}                  {"id": 1, "ok": ["size"]}
//! {"id": 2, "op": "eval", "text": "size()", "input": [7]}     {"id": 2, "ok": 1}
//! {"id": 3, "op": "stringify", "query": ["size"]}             {"id": 3, "ok": "size()"}
//! {"id": 4, "op": "eval", "text": "length()", "input": []}    {"id": 4, "error": {"stage": "compile", …}}
//! ```
//!
//! Requests are read with the engine's own reader, so that inputs reach it byte by byte.

use std::io::{self, BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use clap::Args;
use pidq::error::Stage;
use pidq::limits::MAX_DEPTH;
use pidq::{Dialect, Error, Graph, Limits, Object, Operator, Place, PrintOptions, Query, Value};

use super::failure::{Failure, Result, Status};
use super::question::Profile;
use super::sorted::json;

const EXAMPLES: &str = r#"Examples:
  echo '{"id": 1, "op": "eval", "text": "size()", "input": [7]}' | pidq conformance-stdio"#;

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// The language
    #[arg(long, value_enum, default_value_t = Profile::Jsonquery)]
    profile: Profile,
}

/// Runs the subcommand.
pub fn run(options: &Options) -> Result {
    let dialect = options.profile.dialect();
    let mut requests = io::stdin().lock();
    let mut answers = io::stdout().lock();
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = requests.read_until(b'\n', &mut line);
        if read.map_err(|error| Failure::Usage(format!("cannot read a request: {error}")))? == 0 {
            return Ok(Status::Done);
        }
        if !line.trim_ascii().is_empty() {
            answers.write_all(answer(&dialect, &line).as_bytes())?;
            answers.flush()?;
        }
    }
}

/// Why a request gets no result.
struct Refusal {
    stage: &'static str,
    name: &'static str,
    message: String,
}

impl Refusal {
    fn new(stage: &'static str, message: impl Into<String>) -> Refusal {
        Refusal { stage, name: "Error", message: message.into() }
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Refusal {
        let (stage, name) = match error.code().stage() {
            Stage::Parse => ("parse", "SyntaxError"),
            Stage::Compile => ("compile", "Error"),
            Stage::Eval | Stage::Limit | Stage::Input => ("eval", "Error"),
        };
        Refusal { stage, name, message: error.message().into() }
    }
}

/// JSON text, or why there is none.
type Answer = std::result::Result<String, Refusal>;

/// The line that answers a request, whatever it is.
fn answer(dialect: &Dialect, line: &[u8]) -> String {
    // A request has its own level around the input.
    let request = Graph::from_json_within(line, MAX_DEPTH + 2);
    let id = request.as_ref().ok().and_then(|request| request.root().as_object()?.get("id"));
    let answer = match &request {
        Ok(request) => catch_unwind(AssertUnwindSafe(|| serve(dialect, request.root())))
            .unwrap_or_else(|_| Err(Refusal::new("eval", "A defect in the engine"))),
        Err(error) => Err(Refusal::new("parse", error.to_string())),
    };
    let answer = match answer {
        Ok(ok) => format!("\"ok\":{}", one_line(ok)),
        Err(Refusal { stage, name, message }) => {
            let message = json(Value::String(&message));
            format!(r#""error":{{"stage":"{stage}","name":"{name}","message":{message}}}"#)
        }
    };
    format!("{{\"id\":{},{answer}}}\n", one_line(json(id.unwrap_or(Value::Null))))
}

/// A line break in JSON text is white space, or the text would not be JSON.
fn one_line(text: String) -> String {
    if text.contains(['\n', '\r']) { text.replace(['\n', '\r'], " ") } else { text }
}

fn serve(dialect: &Dialect, request: Value<'_>) -> Answer {
    let request = request.as_object().ok_or_else(|| Refusal::new("parse", "A request must be an object"))?;
    let options = request.get("options").and_then(Value::as_object);
    let dialect = with_operators(dialect, options)?;
    match request.get("op").and_then(Value::as_str) {
        Some("parse") => Ok(dialect.tree(text(request)?)?),
        Some("eval") => eval(&dialect, request),
        Some("stringify") => {
            let text = dialect.stringify(&json(member(request, "query")), &print_options(options))?;
            Ok(json(Value::String(&text)))
        }
        _ => Err(Refusal::new("parse", "`op` must be `parse`, `eval` or `stringify`")),
    }
}

fn eval(dialect: &Dialect, request: Object<'_>) -> Answer {
    let graph = Graph::from_json(json(member(request, "input")))?;
    Ok(compile(dialect, request)?.to_json(&graph, Limits::default())?)
}

fn compile(dialect: &Dialect, request: Object<'_>) -> std::result::Result<Query, Refusal> {
    match request.get("text") {
        Some(_) => Ok(dialect.parse(text(request)?)?),
        None => Ok(dialect.compile_json(&json(member(request, "query")))?),
    }
}

fn text(request: Object<'_>) -> std::result::Result<&str, Refusal> {
    request.get("text").and_then(Value::as_str).ok_or_else(|| Refusal::new("parse", "`text` must be a string"))
}

fn member<'a>(request: Object<'a>, name: &str) -> Value<'a> {
    request.get(name).unwrap_or(Value::Null)
}

fn print_options(options: Option<Object<'_>>) -> PrintOptions {
    let standard = PrintOptions::default();
    let Some(options) = options else { return standard };
    PrintOptions {
        indentation: options.get("indentation").and_then(Value::as_str).map_or(standard.indentation, String::from),
        max_line_length: options
            .get("maxLineLength")
            .and_then(Value::as_f64)
            .map_or(standard.max_line_length, |length| length as usize),
    }
}

fn with_operators(dialect: &Dialect, options: Option<Object<'_>>) -> std::result::Result<Dialect, Refusal> {
    let Some(rows) = options.and_then(|options| options.get("operators")) else { return Ok(dialect.clone()) };
    let rows = rows.as_array().ok_or_else(|| Refusal::new("parse", "Invalid custom operators"))?;
    let operators: Option<Vec<Operator>> = rows.iter().map(operator).collect();
    let operators = operators.ok_or_else(|| Refusal::new("parse", "Invalid custom operator"))?;
    dialect.clone().with_operators(&operators).map_err(|error| Refusal::new("parse", error.message()))
}

/// An operator, or nothing where a member is missing or of the wrong type.
fn operator(row: Value<'_>) -> Option<Operator> {
    let row = row.as_object()?;
    let text = |name: &str| row.get(name).and_then(Value::as_str).map(String::from);
    let is_set = |name: &str| matches!(row.get(name), Some(Value::Bool(true)));
    let place = text("at").map(Place::At);
    let place = place.or_else(|| text("before").map(Place::Before)).or_else(|| text("after").map(Place::After))?;
    Some(Operator {
        name: text("name")?,
        text: text("op")?,
        place,
        vararg: is_set("vararg"),
        left_associative: is_set("leftAssociative"),
    })
}
