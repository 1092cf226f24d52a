//! Options of a query: format, dialect and parameters, and its compilation.

use clap::{Args, ValueEnum};
use pidq::{Dialect, Graph, Query, Value};

use super::failure::{Failure, Result};
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
        let params = self.params()?;
        self.compile_with(text, &params).map_err(|error| Failure::Query(error, text.into()))
    }

    /// Compiles `text` with [`QueryOptions::params`].
    pub fn compile_with(&self, text: &str, params: &str) -> pidq::Result<Query> {
        let dialect = self.profile.dialect();
        if self.json { dialect.compile_json_with(text, params) } else { dialect.parse_with(text, params) }
    }

    /// Returns the parameters as a JSON object.
    pub fn params(&self) -> Result<String> {
        self.query_params.params()
    }
}

impl QueryParams {
    /// Returns the parameters as a JSON object.
    pub fn params(&self) -> Result<String> {
        let mut fields = Vec::new();
        self.arg.chunks_exact(2).chain(self.argjson.chunks_exact(2)).try_for_each(|pair| check_name(&pair[0]))?;
        for pair in self.arg.chunks_exact(2) {
            fields.push(field(&pair[0], &json(Value::String(&pair[1]))));
        }
        for pair in self.argjson.chunks_exact(2) {
            // Parsed separately, so that a value cannot inject other fields.
            Graph::from_json(pair[1].as_str())
                .map_err(|error| Failure::Input(error, format!("--argjson {}", pair[0])))?;
            fields.push(field(&pair[0], &pair[1]));
        }
        Ok(format!("{{{}}}", fields.join(",")))
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

fn field(name: &str, value: &str) -> String {
    format!("{}:{value}", json(Value::String(name)))
}
