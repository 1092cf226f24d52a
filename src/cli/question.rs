//! What is asked: the options that say how a query is written, and the query compiled.

use clap::{Args, ValueEnum};
use pidq::{Dialect, Graph, Query, Value};

use super::failure::{Failure, Result};
use super::sorted::json;

/// How the query is written, and the values of its `$names`.
#[derive(Args)]
pub struct Writing {
    /// QUERY is in JSON format: `["size"]`
    #[arg(long)]
    json: bool,

    /// The language of the query
    #[arg(long, value_enum, default_value_t)]
    profile: Profile,

    #[command(flatten)]
    named: Named,
}

/// The values of the `$names` of a query.
#[derive(Args)]
pub struct Named {
    /// Make $NAME the text VALUE
    #[arg(long, num_args = 2, value_names = ["NAME", "VALUE"], allow_hyphen_values = true)]
    arg: Vec<String>,

    /// Make $NAME a JSON value
    #[arg(long, num_args = 2, value_names = ["NAME", "JSON"], allow_hyphen_values = true)]
    argjson: Vec<String>,
}

/// Which language.
#[derive(Clone, Copy, Default, ValueEnum)]
pub enum Profile {
    /// JSON Query 5.1.1 with pidq's extensions
    #[default]
    Pidq,
    /// JSON Query 5.1.1 and nothing else
    Jsonquery,
}

impl Profile {
    /// The language itself.
    pub fn dialect(self) -> Dialect {
        match self {
            Profile::Pidq => Dialect::standard(),
            Profile::Jsonquery => Dialect::json_query(),
        }
    }
}

impl Writing {
    /// Compiles `text`.
    pub fn compile(&self, text: &str) -> Result<Query> {
        let params = self.params()?;
        self.compile_with(text, &params).map_err(|error| Failure::Query(error, text.into()))
    }

    /// Compiles `text` with [`Writing::params`].
    pub fn compile_with(&self, text: &str, params: &str) -> pidq::Result<Query> {
        let dialect = self.profile.dialect();
        if self.json { dialect.compile_json_with(text, params) } else { dialect.parse_with(text, params) }
    }

    /// The values of the `$names` as a JSON object.
    pub fn params(&self) -> Result<String> {
        self.named.params()
    }
}

impl Named {
    /// The values of the `$names` as a JSON object.
    pub fn params(&self) -> Result<String> {
        let mut members = Vec::new();
        self.arg.chunks_exact(2).chain(self.argjson.chunks_exact(2)).try_for_each(|pair| check_name(&pair[0]))?;
        for pair in self.arg.chunks_exact(2) {
            members.push(member(&pair[0], &json(Value::String(&pair[1]))));
        }
        for pair in self.argjson.chunks_exact(2) {
            // Checked alone, so that one value cannot smuggle in other members.
            Graph::from_json(pair[1].as_str())
                .map_err(|error| Failure::Input(error, format!("--argjson {}", pair[0])))?;
            members.push(member(&pair[0], &pair[1]));
        }
        Ok(format!("{{{}}}", members.join(",")))
    }
}

/// A name that no query can say is a slip: `--arg '$kind' loop`, `--arg kind=loop`.
fn check_name(name: &str) -> Result<()> {
    let is_name = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let advice = match name.strip_prefix('$') {
        _ if is_name(name) => return Ok(()),
        Some(bare) if is_name(bare) => format!("without `$`, as in `--arg {bare} VALUE`"),
        _ => "in letters, digits and `_`, with the value as the next word: `--arg NAME VALUE`".into(),
    };
    Err(Failure::Usage(format!("`{name}` is no name of a parameter: it is written {advice}")))
}

fn member(name: &str, value: &str) -> String {
    format!("{}:{value}", json(Value::String(name)))
}
