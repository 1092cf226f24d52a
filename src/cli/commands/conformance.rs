//! Subcommand `pidq conformance-stdio`: line protocol for suites that compare implementations.
//!
//! One JSON object per line in, one per line out, in the same order:
//!
//! ```text
//! {"id": 1, "op": "parse", "text": "size()"}                  {"id": 1, "ok": ["size"]}
//! {"id": 2, "op": "eval", "text": "size()", "input": [7]}     {"id": 2, "ok": 1}
//! {"id": 3, "op": "stringify", "query": ["size"]}             {"id": 3, "ok": "size()"}
//! {"id": 4, "op": "eval", "text": "length()", "input": []}    {"id": 4, "error": {"stage": "compile", …}}
//! ```
//!
//! Requests are parsed by the engine, so that inputs reach it unchanged.

use std::io::{self, BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use clap::Args;
use pidq::error::Stage;
use pidq::limits::MAX_DOCUMENT_DEPTH;
use pidq::{Dialect, Error, Graph, Limits, Object, Operator, Precedence, PrintOptions, Query, Value};

use crate::cli::failure::{Failure, Result, Status};
use crate::cli::query_options::Profile;
use crate::cli::sorted_json::json;

const EXAMPLES: &str = r#"Examples:
  echo '{"id": 1, "op": "eval", "text": "size()", "input": [7]}' | pidq conformance-stdio"#;

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Query language
    #[arg(long, value_enum, default_value_t = Profile::Jsonquery)]
    profile: Profile,
}

/// Runs the subcommand.
pub fn run(options: &Options) -> Result {
    let dialect = options.profile.dialect();
    let mut requests = io::stdin().lock();
    let mut responses = io::stdout().lock();
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = requests.read_until(b'\n', &mut line);
        if read.map_err(|error| Failure::Usage(format!("cannot read a request: {error}")))? == 0 {
            return Ok(Status::Done);
        }
        if !line.trim_ascii().is_empty() {
            responses.write_all(respond(&dialect, &line).as_bytes())?;
            responses.flush()?;
        }
    }
}

/// Error of a request.
struct RequestError {
    stage: &'static str,
    name: &'static str,
    message: String,
}

impl RequestError {
    fn new(stage: &'static str, message: impl Into<String>) -> RequestError {
        RequestError { stage, name: "Error", message: message.into() }
    }
}

impl From<Error> for RequestError {
    fn from(error: Error) -> RequestError {
        let (stage, name) = match error.code().stage() {
            Stage::Parse => ("parse", "SyntaxError"),
            Stage::Compile => ("compile", "Error"),
            Stage::Eval | Stage::Limit | Stage::Input => ("eval", "Error"),
        };
        RequestError { stage, name, message: error.message().into() }
    }
}

/// Result as JSON text, or the error.
type RequestResult = std::result::Result<String, RequestError>;

/// Returns the response line of a request.
fn respond(dialect: &Dialect, line: &[u8]) -> String {
    // The request object adds a level around the input.
    let request = Graph::from_json_with_max_depth(line, MAX_DOCUMENT_DEPTH + 2);
    let id = request.as_ref().ok().and_then(|request| request.root().as_object()?.get("id"));
    let result = match &request {
        Ok(request) => catch_unwind(AssertUnwindSafe(|| serve(dialect, request.root())))
            .unwrap_or_else(|_| Err(RequestError::new("eval", "Internal error in the engine"))),
        Err(error) => Err(RequestError::new("parse", error.to_string())),
    };
    let result = match result {
        Ok(ok) => format!("\"ok\":{}", one_line(ok)),
        Err(RequestError { stage, name, message }) => {
            let message = json(Value::String(&message));
            format!(r#""error":{{"stage":"{stage}","name":"{name}","message":{message}}}"#)
        }
    };
    format!("{{\"id\":{},{result}}}\n", one_line(json(id.unwrap_or(Value::Null))))
}

/// Replaces line breaks, which in JSON text are white space, by spaces.
fn one_line(text: String) -> String {
    if text.contains(['\n', '\r']) { text.replace(['\n', '\r'], " ") } else { text }
}

fn serve(dialect: &Dialect, request: Value<'_>) -> RequestResult {
    let request = request.as_object().ok_or_else(|| RequestError::new("parse", "A request must be an object"))?;
    let options = request.get("options").and_then(Value::as_object);
    let dialect = with_operators(dialect, options)?;
    match request.get("op").and_then(Value::as_str) {
        Some("parse") => Ok(dialect.tree(text(request)?)?),
        Some("eval") => eval(&dialect, request),
        Some("stringify") => {
            let text = dialect.stringify(&json(field(request, "query")), &print_options(options))?;
            Ok(json(Value::String(&text)))
        }
        _ => Err(RequestError::new("parse", "`op` must be `parse`, `eval` or `stringify`")),
    }
}

fn eval(dialect: &Dialect, request: Object<'_>) -> RequestResult {
    let graph = Graph::from_json(json(field(request, "input")))?;
    Ok(compile(dialect, request)?.to_json(&graph, Limits::default())?)
}

fn compile(dialect: &Dialect, request: Object<'_>) -> std::result::Result<Query, RequestError> {
    match request.get("text") {
        Some(_) => Ok(dialect.parse(text(request)?)?),
        None => Ok(dialect.compile_json(&json(field(request, "query")))?),
    }
}

fn text(request: Object<'_>) -> std::result::Result<&str, RequestError> {
    request.get("text").and_then(Value::as_str).ok_or_else(|| RequestError::new("parse", "`text` must be a string"))
}

fn field<'a>(request: Object<'a>, name: &str) -> Value<'a> {
    request.get(name).unwrap_or(Value::Null)
}

fn print_options(options: Option<Object<'_>>) -> PrintOptions {
    let defaults = PrintOptions::default();
    let Some(options) = options else { return defaults };
    PrintOptions {
        indentation: options.get("indentation").and_then(Value::as_str).map_or(defaults.indentation, String::from),
        max_line_length: options
            .get("maxLineLength")
            .and_then(Value::as_f64)
            .map_or(defaults.max_line_length, |length| length as usize),
    }
}

fn with_operators(dialect: &Dialect, options: Option<Object<'_>>) -> std::result::Result<Dialect, RequestError> {
    let Some(rows) = options.and_then(|options| options.get("operators")) else { return Ok(dialect.clone()) };
    let rows = rows.as_array().ok_or_else(|| RequestError::new("parse", "Invalid custom operators"))?;
    let operators: Option<Vec<Operator>> = rows.iter().map(operator).collect();
    let operators = operators.ok_or_else(|| RequestError::new("parse", "Invalid custom operator"))?;
    dialect.clone().with_operators(&operators).map_err(|error| RequestError::new("parse", error.message()))
}

/// Parses an operator; `None` if a field is missing or has the wrong type.
fn operator(row: Value<'_>) -> Option<Operator> {
    let row = row.as_object()?;
    let text = |name: &str| row.get(name).and_then(Value::as_str).map(String::from);
    let is_set = |name: &str| matches!(row.get(name), Some(Value::Bool(true)));
    let precedence = text("at")
        .map(Precedence::At)
        .or_else(|| text("before").map(Precedence::Before))
        .or_else(|| text("after").map(Precedence::After))?;
    Some(Operator {
        name: text("name")?,
        text: text("op")?,
        precedence,
        vararg: is_set("vararg"),
        left_associative: is_set("leftAssociative"),
    })
}
