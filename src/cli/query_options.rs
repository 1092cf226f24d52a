//! Options of a query: format, dialect and parameters, and its compilation.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use pidq::{Dialect, Graph, Query, Value};

use super::documents::{self, Division, TableFormat};
use super::failure::{Failure, InputPlace, Result};
use super::input;
use super::sorted_json::json;

/// Options of a query.
#[derive(Args)]
pub struct QueryOptions {
    /// Read QUERY as JSON: `["size"]`
    #[arg(long)]
    json: bool,

    /// Query language
    #[arg(long, value_enum, default_value_t)]
    profile: Profile,

    #[command(flatten)]
    query_params: QueryParams,
}

/// Query parameters.
#[derive(Args)]
pub struct QueryParams {
    /// Set $NAME to the string VALUE
    #[arg(long, num_args = 2, value_names = ["NAME", "VALUE"], allow_hyphen_values = true)]
    arg: Vec<String>,

    /// Set $NAME to a JSON value
    #[arg(long, num_args = 2, value_names = ["NAME", "JSON"], allow_hyphen_values = true)]
    argjson: Vec<String>,

    /// Set $NAME to the list of the JSON documents in FILE, or of the rows of a `.csv` or `.tsv` file
    #[arg(long, num_args = 2, value_names = ["NAME", "FILE"])]
    slurpfile: Vec<String>,

    /// Set $NAME to the text of FILE
    #[arg(long, num_args = 2, value_names = ["NAME", "FILE"])]
    rawfile: Vec<String>,
}

/// Dialect of the query language.
#[derive(Clone, Copy, Default, ValueEnum)]
pub enum Profile {
    /// JSON Query 5.1.1 with pidq's extensions
    #[default]
    Pidq,
    /// JSON Query 5.1.1 without extensions
    Jsonquery,
}

impl Profile {
    /// Returns the dialect.
    pub fn dialect(self) -> Dialect {
        match self {
            Profile::Pidq => Dialect::standard(),
            Profile::Jsonquery => Dialect::json_query(),
        }
    }
}

impl QueryOptions {
    /// Compiles `text`.
    pub fn compile(&self, text: &str) -> Result<Query> {
        self.compile_with_positional(text, "[]")
    }

    /// Compiles `text`. `$ENV` has the environment variables; `$ARGS.positional` is a JSON list, and `$ARGS.named` has the
    /// parameters.
    pub fn compile_with_positional(&self, text: &str, positional: &str) -> Result<Query> {
        let named = self.query_params.fields()?;
        let mut fields = Vec::new();
        if text.contains("$ENV") {
            fields.push(field("ENV", &environment()));
        }
        if text.contains("$ARGS") {
            let all = named.iter().map(|(_, field)| field.as_str()).collect::<Vec<_>>().join(",");
            fields.push(field("ARGS", &format!("{{\"positional\":{positional},\"named\":{{{all}}}}}")));
        }
        // Last, so that a parameter of the same name takes precedence. One that may be read by `$ARGS.named` alone is not
        // passed, since it would be reported as not read.
        let is_passed = |name: &str| !text.contains("$ARGS") || text.contains(&format!("${name}"));
        fields.extend(named.into_iter().filter(|(name, _)| is_passed(name)).map(|(_, field)| field));
        let params = format!("{{{}}}", fields.join(","));
        self.compile_with(text, &params).map_err(|error| Failure::Query(error, text.into()))
    }

    /// Compiles `text` with [`QueryOptions::params`].
    pub fn compile_with(&self, text: &str, params: &str) -> pidq::Result<Query> {
        let dialect = self.profile.dialect();
        if self.json { dialect.compile_json_with(text, params) } else { dialect.parse_with(text, params) }
    }
}

impl QueryParams {
    /// Returns the parameters as a JSON object.
    #[cfg(feature = "server")]
    pub fn params(&self) -> Result<String> {
        let fields: Vec<String> = self.fields()?.into_iter().map(|(_, field)| field).collect();
        Ok(format!("{{{}}}", fields.join(",")))
    }

    /// Returns the name of each parameter, and the field of a JSON object with its value.
    fn fields(&self) -> Result<Vec<(String, String)>> {
        let mut fields = Vec::new();
        let lists = [&self.arg, &self.argjson, &self.slurpfile, &self.rawfile];
        lists.iter().flat_map(|list| list.chunks_exact(2)).try_for_each(|pair| check_name(&pair[0]))?;
        for pair in self.arg.chunks_exact(2) {
            fields.push((pair[0].clone(), field(&pair[0], &json(Value::String(&pair[1])))));
        }
        for pair in self.argjson.chunks_exact(2) {
            let value = json_argument(&pair[1], &format!("--argjson {}", pair[0]))?;
            fields.push((pair[0].clone(), field(&pair[0], &value)));
        }
        for pair in self.slurpfile.chunks_exact(2) {
            let list = documents::slurp(vec![PathBuf::from(&pair[1])], Division::ByName(TableFormat::default()))?;
            fields.push((pair[0].clone(), field(&pair[0], list.source())));
        }
        for pair in self.rawfile.chunks_exact(2) {
            let text = input::text(Path::new(&pair[1]))?;
            fields.push((pair[0].clone(), field(&pair[0], &json(Value::String(&text)))));
        }
        Ok(fields)
    }
}

/// Validates a parameter name; catches typos such as `--arg '$kind' loop` and `--arg kind=loop`.
pub fn check_name(name: &str) -> Result<()> {
    let is_name = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let advice = match name.strip_prefix('$') {
        _ if is_name(name) => return Ok(()),
        Some(bare) if is_name(bare) => format!("without `$`, as in `--arg {bare} VALUE`"),
        _ => "in letters, digits and `_`, with the value as the next word: `--arg NAME VALUE`".into(),
    };
    Err(Failure::Usage(format!("invalid parameter name `{name}`: write it {advice}")))
}

/// Returns a JSON value of the command line. It is parsed separately, so that it cannot inject other values.
pub fn json_argument(value: &str, option: &str) -> Result<String> {
    let place = || InputPlace { text: Some(value.into()), ..InputPlace::from(option.to_owned()) };
    Graph::from_json(value).map_err(|error| Failure::Input(error, place()))?;
    Ok(value.into())
}

/// Returns the environment variables as a JSON object, without those that are not UTF-8.
fn environment() -> String {
    let variables =
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let fields: Vec<String> = variables.map(|(name, value)| field(&name, &json(Value::String(&value)))).collect();
    format!("{{{}}}", fields.join(","))
}

fn field(name: &str, value: &str) -> String {
    format!("{}:{value}", json(Value::String(name)))
}
